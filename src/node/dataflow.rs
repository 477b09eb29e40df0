//! Door of `dataflow`.
