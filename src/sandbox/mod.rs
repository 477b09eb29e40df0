//! Sandbox tiers, their resolver, and the process sandbox.

#[cfg(feature = "docker")]
pub mod docker;
pub mod policy;
