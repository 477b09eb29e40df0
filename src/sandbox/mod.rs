//! Sandbox tiers, their resolver, and the process sandbox.
//!
//! Code that a model wrote runs in another process, `ferrule-sandbox`, which holds the ECMAScript
//! engine and nothing else. `wire` is what the two sides say to each other, whatever engine sits
//! behind it; `host` starts the process and asks it for runs; `engine` (feature `engine`, linked into
//! the binary only) evaluates the script; `jail` (same feature) is the process itself: the zygote,
//! the fork, the limits. The host believes nothing the other side says. `policy` decides which tier a
//! call gets; `docker` (feature `docker`) is the container tier.

#[cfg(feature = "docker")]
pub mod docker;
#[cfg(feature = "engine")]
pub mod engine;
#[cfg(unix)]
pub mod host;
#[cfg(feature = "engine")]
pub mod jail;
pub mod policy;
pub mod wire;
