//! The flow policy: may data go into this sink (spec 04, section 2.4)?
//!
//! A pure function of a handful of facts; the wording of the reason belongs to the face.

/// How strictly flows are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nothing is looked at.
    Off,
    /// Flows are reported, never stopped.
    Shadow,
    /// Flows are stopped. An unknown mode counts as this one.
    Enforce,
}

/// What is known when a call is about to run.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "a record of independent facts")]
pub struct Facts {
    /// The tool writes, or the text is the assistant's answer.
    pub sink: bool,
    /// The arguments hold a run of untrusted text.
    pub verbatim: bool,
    /// Untrusted text was seen in this run.
    pub untrusted_seen: bool,
    /// Sensitive data was seen in this run.
    pub sensitive_seen: bool,
    /// Untrusted text alone is enough.
    pub strict: bool,
    /// Untrusted and sensitive data together are enough.
    pub guard_trifecta: bool,
    /// This sink may receive such data.
    pub declassified: bool,
}

/// The kind of flow found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// A copy of untrusted text goes out.
    UntrustedToSink,
    /// Something goes out after untrusted text was seen, under strict derivation.
    DerivedUntrustedToSink,
    /// Something goes out after both untrusted text and sensitive data were seen.
    LethalTrifecta,
}

/// What to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Report.
    Flag,
    /// Let pass on the operator's word, and report.
    Declassify,
    /// Stop.
    Block,
}

/// Decides; `None` allows.
#[must_use]
pub fn decide(mode: Mode, facts: Facts) -> Option<(Action, Flow)> {
    if mode == Mode::Off || !facts.sink {
        return None;
    }
    let flow = if facts.verbatim {
        Flow::UntrustedToSink
    } else if facts.strict && facts.untrusted_seen {
        Flow::DerivedUntrustedToSink
    } else if facts.guard_trifecta && facts.untrusted_seen && facts.sensitive_seen {
        Flow::LethalTrifecta
    } else {
        return None;
    };
    let action = if facts.declassified {
        Action::Declassify
    } else if mode == Mode::Shadow {
        Action::Flag
    } else {
        Action::Block
    };
    Some((action, flow))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(bits: u8) -> Facts {
        let bit = |n: u8| bits >> n & 1 == 1;
        Facts {
            sink: bit(0),
            verbatim: bit(1),
            untrusted_seen: bit(2),
            sensitive_seen: bit(3),
            strict: bit(4),
            guard_trifecta: bit(5),
            declassified: bit(6),
        }
    }

    #[test]
    fn the_whole_table() {
        for bits in 0..128 {
            let f = facts(bits);
            assert_eq!(decide(Mode::Off, f), None);
            let flow = match f {
                Facts { sink: false, .. } => None,
                Facts { verbatim: true, .. } => Some(Flow::UntrustedToSink),
                Facts { untrusted_seen: true, strict: true, .. } => Some(Flow::DerivedUntrustedToSink),
                Facts { untrusted_seen: true, sensitive_seen: true, guard_trifecta: true, .. } => {
                    Some(Flow::LethalTrifecta)
                }
                _ => None,
            };
            for (mode, plain) in [(Mode::Shadow, Action::Flag), (Mode::Enforce, Action::Block)] {
                let action = if f.declassified { Action::Declassify } else { plain };
                assert_eq!(decide(mode, f), flow.map(|flow| (action, flow)), "{bits:07b}");
            }
        }
    }
}
