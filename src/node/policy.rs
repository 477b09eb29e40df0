//! Door of `policy`.
