//! Door of `schema`.
