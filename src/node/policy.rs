//! Door of `policy`: nothing crosses, see `crate::policy`.
