//! Door of `sandbox`.
