//! The pipeline of one tool call and the batch scheduler, against a `Host` trait.
