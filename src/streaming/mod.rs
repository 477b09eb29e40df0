//! The per-call channel and its aggregation buffer.
