import type { ToolCall } from './types.js';

interface Causal {
  readonly causalityChain?: ReadonlyArray<string>;
}
/** Text of a message. */
export interface TextContent extends Causal {
  readonly type: 'text';
  readonly text: string;
}
/** A picture, as bytes or by reference. */
export interface ImageContent extends Causal {
  readonly type: 'image';
  readonly image: Uint8Array | URL;
  readonly mimeType?: string;
}
/** Sound, as bytes or by reference. */
export interface AudioContent extends Causal {
  readonly type: 'audio';
  readonly audio: Uint8Array | URL;
  readonly mimeType?: string;
}
/** A file, as bytes or by reference. */
export interface FileContent extends Causal {
  readonly type: 'file';
  readonly file: Uint8Array | URL;
  readonly mimeType: string;
  readonly filename?: string;
}
/** Reasoning text of a model, with what its provider needs to take it back. */
export interface ReasoningContent extends Causal {
  readonly type: 'reasoning';
  readonly text: string;
  readonly meta?: {
    readonly provider?: string;
    readonly signature?: string;
    readonly data?: string;
    readonly [extra: string]: unknown;
  };
}
/** One part of a message. */
export type MessageContent = TextContent | ImageContent | AudioContent | FileContent | ReasoningContent;

/** One message of a conversation. */
export type Message =
  | { readonly role: 'system'; readonly content: string }
  | {
      readonly role: 'user';
      readonly content: string | ReadonlyArray<MessageContent>;
      readonly userId?: string;
    }
  | {
      readonly role: 'assistant';
      readonly content: string | ReadonlyArray<MessageContent>;
      readonly toolCalls?: ReadonlyArray<ToolCall>;
      readonly agentId?: string;
    }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly content: string | ReadonlyArray<MessageContent>;
    };
