//! Door of `code_mode`.
