//! Door of `result`.
