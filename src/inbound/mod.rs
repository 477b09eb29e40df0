//! The imperative-pattern catalogue, its scanner, and the untrusted-content envelope.
