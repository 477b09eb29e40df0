//! Door of `guard`.
