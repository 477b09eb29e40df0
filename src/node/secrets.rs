//! Door of `secrets`.
