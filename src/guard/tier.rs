//! Which way of watching a tier gets.

use crate::tool::MemoryGuardTier;

/// A way of watching memory around a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Nothing is watched.
    None,
    /// What the tool did is compared with what it may do.
    ApiBoundary,
    /// Regions are hashed before and after; changes are reported.
    AuditOnly,
    /// The same, within a budget, and a change is a mismatch.
    StrictFull,
}

impl Variant {
    /// The way of a tier.
    #[must_use]
    pub const fn of(tier: MemoryGuardTier) -> Self {
        match tier {
            MemoryGuardTier::Pure | MemoryGuardTier::SideEffectingNoMemory => Self::None,
            MemoryGuardTier::MemoryAware => Self::ApiBoundary,
            MemoryGuardTier::Unknown => Self::AuditOnly,
            MemoryGuardTier::Untrusted => Self::StrictFull,
        }
    }

    /// The word JavaScript uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "NO_GUARD",
            Self::ApiBoundary => "API_BOUNDARY_GUARD",
            Self::AuditOnly => "AUDIT_ONLY_GUARD",
            Self::StrictFull => "STRICT_FULL_GUARD",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tier_has_its_way() {
        let words: Vec<_> = MemoryGuardTier::ALL.iter().map(|&tier| Variant::of(tier).as_str()).collect();
        assert_eq!(
            words,
            ["NO_GUARD", "NO_GUARD", "API_BOUNDARY_GUARD", "AUDIT_ONLY_GUARD", "STRICT_FULL_GUARD"]
        );
    }
}
