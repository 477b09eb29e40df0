//! Door of `outbound`.
