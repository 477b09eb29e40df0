//! Door of `streaming`.
