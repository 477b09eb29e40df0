//! Sandbox tiers, their resolver, and the process sandbox.
