import type { Sensitivity, ToolTrustClass } from '../core/index.js';

/** The scheme of handles to spilled results. */
export const SPILL_HANDLE_SCHEME = 'graphorin-spill:';

/** What a {@link SpillWriter} is asked to store. Optional keys are absent when unknown. */
export interface SpillWriteRequest {
  /** Id of the run. */
  readonly runId: string;
  /** Id of the call, as the model gave it. */
  readonly toolCallId: string;
  /** `json` or `txt`, without a dot. */
  readonly extension: string;
  /** The whole text, neither sanitised nor cut. */
  readonly body: string;
  /** How confidential the tool is. */
  readonly sensitivityTier?: Sensitivity;
  /** How far the tool that produced it is trusted. */
  readonly producerTrustClass?: ToolTrustClass;
  /** Where the tool that produced it came from. */
  readonly producerSource?: unknown;
  /** Whether the text holds imperative patterns; absent when the scan did not finish. */
  readonly imperativePatternsPresent?: boolean;
}

/** Stores results that are too long for the model. Any object of this shape will do. */
export interface SpillWriter {
  /** Handles are made of paths relative to this folder. */
  readonly artifactRoot: string;
  /** Resolves with the path (below `artifactRoot`) and the size in bytes. */
  write(request: SpillWriteRequest): Promise<{ readonly path: string; readonly bytes: number }>;
  /** Removes what a run wrote. */
  clear?(runId: string): Promise<void>;
  /** Removes what is older than so many milliseconds; resolves with the number of folders. */
  sweep?(ttlMs: number): Promise<number>;
}

/** Where an artifact keeps its taint. */
export function sidecarPathFor(artifactPath: string): string {
  return `${artifactPath}.meta.json`;
}
