//! The pipeline against a scripted host.
