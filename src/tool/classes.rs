//! The closed sets of words a tool is described with (spec 01 section 2.1).
//!
//! Each is an enum with the exact words JavaScript uses: [`as_str`](TrustClass::as_str) gives the
//! word, `parse` reads it and answers `None` for anything else, so that a typo never becomes a
//! default in silence.

use std::fmt;

/// Declares an enum whose variants are words, with `ALL`, `as_str`, `parse` and `Display`.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every member, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word JavaScript uses.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Reads the word; `None` when it is not one of the set.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// What running a tool does to the world.
    SideEffectClass {
        /// Same input, same output, nothing touched.
        Pure = "pure",
        /// Looks at the world, changes nothing.
        ReadOnly = "read-only",
        /// Changes something the app owns.
        SideEffecting = "side-effecting",
        /// Changes or reads something outside the app that others change too.
        ExternalStateful = "external-stateful",
    }
}

impl SideEffectClass {
    /// Whether a repeated call could do harm, so that an idempotency key is expected and data flow
    /// guards look at the arguments.
    #[must_use]
    pub const fn is_writer(self) -> bool {
        matches!(self, Self::SideEffecting | Self::ExternalStateful)
    }
}

words! {
    /// How far a tool's output is trusted; follows from where the tool came from.
    TrustClass {
        /// Ships with the app framework.
        FirstPartyBuiltIn = "first-party-built-in",
        /// Declared in the app's own code.
        FirstPartyUserDefined = "first-party-user-defined",
        /// From a skill the user trusts.
        SkillTrusted = "skill-trusted",
        /// From any other skill.
        SkillUntrusted = "skill-untrusted",
        /// From an MCP server.
        McpDerived = "mcp-derived",
        /// Text from the open web.
        WebSearch = "web-search",
        /// Text that arrived on a messaging channel. No tool source maps to it.
        ChannelInbound = "channel-inbound",
    }
}

words! {
    /// What is done to text a tool returns before the model sees it.
    InboundPolicy {
        /// Nothing.
        PassThrough = "pass-through",
        /// Report hits, leave the text.
        DetectAndFlag = "detect-and-flag",
        /// Remove hits.
        DetectAndStrip = "detect-and-strip",
        /// Put the text into an envelope.
        DetectAndWrap = "detect-and-wrap",
        /// Remove hits and put the rest into an envelope.
        DetectAndStripAndWrap = "detect-and-strip-and-wrap",
    }
}

words! {
    /// How a result over its cap is shortened.
    TruncationStrategy {
        /// Keep both ends.
        Middle = "middle",
        /// Keep the end.
        Tail = "tail",
        /// Write the whole to a file, keep a preview.
        SpillToFile = "spill-to-file",
        /// Hand it to a summariser.
        Summarize = "summarize",
    }
}

words! {
    /// Where a tool asks to run.
    SandboxPolicy {
        /// In the process.
        None = "none",
        /// In a worker.
        Sandboxed = "sandboxed",
        /// In a separate isolate or process.
        Isolated = "isolated",
        /// In a container.
        Docker = "docker",
    }
}

words! {
    /// How much a tool has to do with the agent's memory.
    MemoryGuardTier {
        /// Nothing.
        Pure = "pure",
        /// Has side effects, none of them on memory.
        SideEffectingNoMemory = "side-effecting-no-memory",
        /// Writes memory.
        MemoryAware = "memory-aware",
        /// Not known.
        Unknown = "unknown",
        /// Not to be trusted near memory.
        Untrusted = "untrusted",
    }
}

words! {
    /// How confidential a value is, least first.
    Sensitivity {
        /// Anybody may see it.
        Public = "public",
        /// For the organisation.
        Internal = "internal",
        /// For nobody but the tool that needs it.
        Secret = "secret",
    }
}

words! {
    /// Why a tool call failed.
    ToolErrorKind {
        /// Somebody said no.
        ApprovalDenied = "approval_denied",
        /// The sandbox stopped it.
        SandboxViolation = "sandbox_violation",
        /// It took too long.
        Timeout = "timeout",
        /// The arguments did not fit the input schema.
        InvalidInput = "invalid_input",
        /// The output did not fit the output schema.
        InvalidOutput = "invalid_output",
        /// The tool threw.
        ExecutionFailed = "execution_failed",
        /// There is no such tool.
        UnknownTool = "unknown_tool",
        /// The run was cancelled.
        Aborted = "aborted",
        /// The result carried an injection and the tool fails closed.
        InboundSanitizationBlocked = "inbound_sanitization_blocked",
        /// The data flow policy refused the arguments.
        DataflowPolicyBlocked = "dataflow_policy_blocked",
        /// The capability policy refused the call.
        CapabilityBlocked = "capability_blocked",
        /// The tool or its service asked for a pause.
        RateLimited = "rate_limited",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec 01 section 2.1: the members, exactly and in order.
    #[test]
    fn words_are_those_of_the_specification() {
        let words = |all: &[&str]| all.join(" ");
        assert_eq!(
            words(&SideEffectClass::ALL.iter().map(|c| c.as_str()).collect::<Vec<_>>()),
            "pure read-only side-effecting external-stateful"
        );
        assert_eq!(
            words(&TrustClass::ALL.iter().map(|c| c.as_str()).collect::<Vec<_>>()),
            "first-party-built-in first-party-user-defined skill-trusted skill-untrusted mcp-derived \
             web-search channel-inbound"
        );
        assert_eq!(
            words(&InboundPolicy::ALL.iter().map(|c| c.as_str()).collect::<Vec<_>>()),
            "pass-through detect-and-flag detect-and-strip detect-and-wrap detect-and-strip-and-wrap"
        );
        assert_eq!(
            words(&TruncationStrategy::ALL.iter().map(|c| c.as_str()).collect::<Vec<_>>()),
            "middle tail spill-to-file summarize"
        );
        assert_eq!(
            words(&ToolErrorKind::ALL.iter().map(|c| c.as_str()).collect::<Vec<_>>()),
            "approval_denied sandbox_violation timeout invalid_input invalid_output execution_failed \
             unknown_tool aborted inbound_sanitization_blocked dataflow_policy_blocked \
             capability_blocked rate_limited"
        );
    }

    #[test]
    fn parse_is_the_inverse_of_as_str_and_refuses_the_rest() {
        for &class in TrustClass::ALL {
            assert_eq!(TrustClass::parse(class.as_str()), Some(class));
        }
        for word in ["", "Pure", "pure ", "read_only", "toString"] {
            assert_eq!(SideEffectClass::parse(word), None, "{word:?}");
        }
        assert_eq!(SandboxPolicy::parse("docker").map(|p| p.to_string()).as_deref(), Some("docker"));
    }

    #[test]
    fn writers_are_the_two_classes_that_change_something() {
        let writers: Vec<_> = SideEffectClass::ALL.iter().filter(|c| c.is_writer()).collect();
        assert_eq!(writers, [&SideEffectClass::SideEffecting, &SideEffectClass::ExternalStateful]);
    }
}
