//! What a resolved tool is: the closed sets of words, its source, and the defaults that follow.
//!
//! Pure data and total functions; the registry and the executor agree on a tool through this room.

mod classes;
mod defaults;
mod source;

pub use classes::{
    InboundPolicy, MemoryGuardTier, SandboxPolicy, Sensitivity, SideEffectClass, ToolErrorKind,
    TruncationStrategy, TrustClass,
};
pub use defaults::{DEFAULT_MAX_RESULT_TOKENS, MAX_NAME_LENGTH};
pub use source::ToolSource;
