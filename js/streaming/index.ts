/**
 * `ferrule/streaming`: the channel through which a running tool reports progress and streams
 * content. The executor makes one for each call.
 *
 * @packageDocumentation
 */
export { createStreamingChannel, DEFAULT_MAX_BUFFER_BYTES } from './channel.js';
export type {
  StreamingAggregator,
  StreamingChannel,
  StreamingChannelOptions,
  StreamingEvent,
} from './channel.js';
