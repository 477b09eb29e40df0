//! Door of `registry`.
