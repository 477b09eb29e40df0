//! Door of `inbound`.
