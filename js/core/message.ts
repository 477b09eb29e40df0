import type { ToolCall } from './types.js';

interface Causal {
  readonly causalityChain?: ReadonlyArray<string>;
}
/** Text of a message. */
export interface TextContent extends Causal {
  /** Always `text`. */
  readonly type: 'text';
  /** The text. */
  readonly text: string;
}
/** A picture, as bytes or by reference. */
export interface ImageContent extends Causal {
  /** Always `image`. */
  readonly type: 'image';
  /** Its bytes, or where it is. */
  readonly image: Uint8Array | URL;
  /** MIME type. Absent: the provider finds out. */
  readonly mimeType?: string;
}
/** Sound, as bytes or by reference. */
export interface AudioContent extends Causal {
  /** Always `audio`. */
  readonly type: 'audio';
  /** Its bytes, or where it is. */
  readonly audio: Uint8Array | URL;
  /** MIME type. Absent: the provider finds out. */
  readonly mimeType?: string;
}
/** A file, as bytes or by reference. */
export interface FileContent extends Causal {
  /** Always `file`. */
  readonly type: 'file';
  /** Its bytes, or where it is. */
  readonly file: Uint8Array | URL;
  /** MIME type. */
  readonly mimeType: string;
  /** Name to show for it. */
  readonly filename?: string;
}
/** Reasoning text of a model, with what its provider needs to take it back. */
export interface ReasoningContent extends Causal {
  /** Always `reasoning`. */
  readonly type: 'reasoning';
  /** The reasoning. */
  readonly text: string;
  /** What the provider wants back with it, unchanged. */
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
