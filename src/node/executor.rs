//! Door of `executor`.
