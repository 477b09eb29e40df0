//! The flow policy: may data go into this sink (spec 04, section 2.4)?
//!
//! A policy is read once, when it is made. Only sinks are judged: tools that change something, and the
//! assistant's own words. What a decision tells is metadata, never a piece of the data.
//!
//! Names are UTF-16: they may hold lone surrogates, and a tool is declassified by its exact name only.

use crate::tool::SideEffectClass;
use rustc_hash::FxHashSet;

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

impl Mode {
    /// Reads the word. A word that is none stops flows: a typing error must not switch a guard off.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word {
            "off" => Self::Off,
            "shadow" => Self::Shadow,
            _ => Self::Enforce,
        }
    }
}

/// Where data is about to go.
#[derive(Debug, Clone, Copy)]
pub struct Sink<'a> {
    /// The tool, or whoever speaks.
    pub name: &'a [u16],
    /// The word for what running the tool does to the world.
    pub side_effect_class: &'a str,
    /// The assistant's own words, which leave whatever the class.
    pub assistant_output: bool,
}

impl Sink<'_> {
    /// Whether data that goes in there gets out.
    #[must_use]
    pub fn is_one(&self) -> bool {
        self.assistant_output
            || SideEffectClass::parse(self.side_effect_class).is_some_and(SideEffectClass::is_writer)
    }
}

/// What is known about the run when a call is about to run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Taint {
    /// The arguments hold a run of untrusted text.
    pub verbatim: bool,
    /// Untrusted text was seen in this run.
    pub untrusted_seen: bool,
    /// Sensitive data was seen in this run.
    pub sensitive_seen: bool,
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

impl Flow {
    /// The word JavaScript uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UntrustedToSink => "untrusted-to-sink",
            Self::DerivedUntrustedToSink => "derived-untrusted-to-sink",
            Self::LethalTrifecta => "lethal-trifecta",
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::UntrustedToSink => "its arguments carry untrusted text word for word",
            Self::DerivedUntrustedToSink => {
                "untrusted text was read before it and its arguments may derive from that"
            }
            Self::LethalTrifecta => "both untrusted text and sensitive data were read before it",
        }
    }

    /// What a decision says about it. `sources`: the kinds the text came from, joined; `None` when no
    /// kind is known.
    #[must_use]
    pub fn reason(self, sink: Sink<'_>, sources: Option<&[u16]>) -> Vec<u16> {
        let mut text: Vec<u16> = Vec::new();
        let mut push = |piece: &str| text.extend(piece.encode_utf16());
        push(self.as_str());
        push(": ");
        if sink.assistant_output {
            push("assistant output");
        } else {
            push(sink.side_effect_class);
            push(" sink");
        }
        push(" '");
        text.extend(sink.name);
        let mut push = |piece: &str| text.extend(piece.encode_utf16());
        push("' was reached and ");
        push(self.meaning());
        push(" (sources: ");
        match sources {
            Some(kinds) => text.extend(kinds),
            None => push("untrusted"),
        }
        text.push(u16::from(b')'));
        text
    }
}

/// A policy.
#[derive(Debug)]
pub struct FlowPolicy {
    mode: Mode,
    strict: bool,
    guard_trifecta: bool,
    declassified: FxHashSet<Vec<u16>>,
}

impl FlowPolicy {
    /// A policy: `strict` taints every sink once untrusted text was seen, `guard_trifecta` once sensitive
    /// data was seen, too; sinks named in `declassified` are reported and never stopped.
    pub fn new(
        mode: Mode,
        strict: bool,
        guard_trifecta: bool,
        declassified: impl IntoIterator<Item = Vec<u16>>,
    ) -> Self {
        Self { mode, strict, guard_trifecta, declassified: declassified.into_iter().collect() }
    }

    /// Decides; `None` allows. The first flow that applies counts: a verbatim copy, then strict
    /// derivation, then the trifecta.
    #[must_use]
    pub fn evaluate(&self, sink: Sink<'_>, taint: Taint) -> Option<(Action, Flow)> {
        if self.mode == Mode::Off || !sink.is_one() {
            return None;
        }
        let flow = if taint.verbatim {
            Flow::UntrustedToSink
        } else if self.strict && taint.untrusted_seen {
            Flow::DerivedUntrustedToSink
        } else if self.guard_trifecta && taint.untrusted_seen && taint.sensitive_seen {
            Flow::LethalTrifecta
        } else {
            return None;
        };
        let action = if self.declassified.contains(sink.name) {
            Action::Declassify
        } else if self.mode == Mode::Shadow {
            Action::Flag
        } else {
            Action::Block
        };
        Some((action, flow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    #[test]
    fn the_whole_table() {
        let (send, other) = (utf16("send"), utf16("other"));
        for bits in 0..64_u8 {
            let bit = |n: u8| bits >> n & 1 == 1;
            let taint = Taint { verbatim: bit(0), untrusted_seen: bit(1), sensitive_seen: bit(2) };
            let (strict, guard_trifecta, declassified) = (bit(3), bit(4), bit(5));
            let flow = if bit(0) {
                Some(Flow::UntrustedToSink)
            } else if bit(1) && strict {
                Some(Flow::DerivedUntrustedToSink)
            } else if bit(1) && bit(2) && guard_trifecta {
                Some(Flow::LethalTrifecta)
            } else {
                None
            };
            for (mode, plain) in
                [(Mode::Off, None), (Mode::Shadow, Some(Action::Flag)), (Mode::Enforce, Some(Action::Block))]
            {
                let names = if declassified { vec![send.clone()] } else { vec![other.clone()] };
                let policy = FlowPolicy::new(mode, strict, guard_trifecta, names);
                for (class, assistant_output, is_sink) in [
                    ("pure", false, false),
                    ("read-only", false, false),
                    ("no word", false, false),
                    ("side-effecting", false, true),
                    ("external-stateful", false, true),
                    ("pure", true, true),
                ] {
                    let sink = Sink { name: &send, side_effect_class: class, assistant_output };
                    let action = if declassified { plain.map(|_| Action::Declassify) } else { plain };
                    let expected = if is_sink { action.zip(flow) } else { None };
                    assert_eq!(policy.evaluate(sink, taint), expected, "{bits:06b} {mode:?} {class}");
                }
            }
        }
    }

    #[test]
    fn an_unknown_mode_stops() {
        let modes = ["off", "shadow", "enforce", "loud", "", "Off"].map(Mode::parse);
        assert_eq!(
            modes,
            [Mode::Off, Mode::Shadow, Mode::Enforce, Mode::Enforce, Mode::Enforce, Mode::Enforce]
        );
    }

    #[test]
    fn reasons_name_flow_sink_and_sources() {
        let name = utf16("send");
        let sink = Sink { name: &name, side_effect_class: "external-stateful", assistant_output: false };
        let say = |flow: Flow, sink, sources: Option<&str>| {
            String::from_utf16_lossy(&flow.reason(sink, sources.map(utf16).as_deref()))
        };
        assert_eq!(
            say(Flow::UntrustedToSink, sink, Some("web-search, mcp")),
            "untrusted-to-sink: external-stateful sink 'send' was reached and its arguments carry untrusted \
             text word for word (sources: web-search, mcp)"
        );
        let spoken = Sink { assistant_output: true, ..sink };
        assert_eq!(
            say(Flow::LethalTrifecta, spoken, None),
            "lethal-trifecta: assistant output 'send' was reached and both untrusted text and sensitive data \
             were read before it (sources: untrusted)"
        );
        let derived = say(Flow::DerivedUntrustedToSink, sink, Some("x"));
        assert!(derived.starts_with("derived-untrusted-to-sink: ") && derived.contains("may derive"));
    }

    #[test]
    fn lone_surrogates_do_not_declassify_each_other() {
        let policy = FlowPolicy::new(Mode::Enforce, false, true, [vec![0xD800]]);
        let taint = Taint { verbatim: true, ..Taint::default() };
        let action = |name: &[u16]| {
            let sink = Sink { name, side_effect_class: "side-effecting", assistant_output: false };
            policy.evaluate(sink, taint).map(|(action, _)| action)
        };
        assert_eq!(action(&[0xD800]), Some(Action::Declassify));
        assert_eq!(action(&[0xD801]), Some(Action::Block));
    }
}
