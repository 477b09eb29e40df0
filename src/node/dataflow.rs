//! Door of `dataflow`: labels, the ledger and the flow policy as classes, the search for personal data.

use super::text::JsText;
use crate::dataflow::{self, Action, Encodings, Flow, FlowPolicy, Label, Limits, Mode, Sink, Taint, Tiles};
use napi::Env;
use napi::bindgen_prelude::{ObjectFinalize, Utf16String};
use napi_derive::napi;

/// What a snapshot holds of tracked text. No lengths: the default.
#[napi(object)]
pub struct NativeTiles {
    pub hashes: Vec<String>,
    pub lengths: Vec<u32>,
}

/// Tracked text of one run. Kinds are numbers that the caller keeps names for.
#[napi(custom_finalize)]
pub struct NativeLedger {
    ledger: dataflow::Ledger,
    /// What the collector was told this object holds, in bytes.
    reported: i64,
}

#[napi]
impl NativeLedger {
    /// `tiles`: the hashes of a snapshot, separated by blanks; `tile_lengths`: the lengths it tells.
    /// `encodings`: bit 0 percent, 1 base64, 2 hex, 3 JSON.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        min: Option<f64>,
        budget: Option<f64>,
        tiles: String,
        tile_lengths: Vec<f64>,
        encodings: u32,
    ) -> Self {
        let bit = |n: u32| encodings >> n & 1 == 1;
        let encodings = Encodings { percent: bit(0), base64: bit(1), hex: bit(2), json: bit(3) };
        let Limits { min, budget } = Limits::new(min, budget);
        let tiles = Tiles::resume(tiles.split(' '), &tile_lengths, min);
        Self { ledger: dataflow::Ledger::new(min, budget, tiles, encodings), reported: 0 }
    }

    #[napi(catch_unwind)]
    pub fn record(&mut self, env: Env, kind: u32, text: Utf16String) -> napi::Result<()> {
        self.ledger.record(kind, &text);
        let bytes = i64::try_from(self.ledger.bytes()).unwrap_or(i64::MAX);
        // Told in steps: the collector counts in megabytes.
        if bytes.abs_diff(self.reported) >= 64 * 1024 {
            env.adjust_external_memory(bytes - self.reported)?;
            self.reported = bytes;
        }
        Ok(())
    }

    /// Null: nothing matched. An empty list: a tile from before a resume did.
    #[napi(catch_unwind)]
    pub fn inspect(&self, text: Utf16String) -> Option<Vec<u32>> {
        let probe = self.ledger.inspect(&text);
        (probe.resumed || !probe.kinds.is_empty()).then_some(probe.kinds)
    }

    #[napi(catch_unwind)]
    pub fn snapshot(&self) -> NativeTiles {
        let (hashes, lengths) = self.ledger.snapshot();
        NativeTiles {
            hashes: hashes.into_iter().map(dataflow::tile_name).collect(),
            lengths: lengths.into_iter().filter_map(|length| u32::try_from(length).ok()).collect(),
        }
    }
}

impl ObjectFinalize for NativeLedger {
    fn finalize(self, env: Env) -> napi::Result<()> {
        env.adjust_external_memory(-self.reported).map(|_| ())
    }
}

#[napi(catch_unwind)]
pub fn is_untrusted_trust_class(trust_class: String) -> bool {
    dataflow::is_untrusted(&trust_class)
}

/// Bit 0: untrusted. Bit 1: sensitive.
#[napi(catch_unwind)]
pub fn taint_label(trust_class: String, sensitivity: Option<String>, tiers: Vec<String>) -> u32 {
    let label = Label::derive(&trust_class, sensitivity.as_deref(), tiers.iter().map(String::as_str));
    u32::from(label.untrusted) | u32::from(label.sensitive) << 1
}

const FLOWS: [Flow; 3] = [Flow::UntrustedToSink, Flow::DerivedUntrustedToSink, Flow::LethalTrifecta];

/// A flow policy. A sink is told by its name, its side effect class, and whether it is the assistant's
/// own words.
#[napi]
pub struct NativeFlowPolicy(FlowPolicy);

#[napi]
impl NativeFlowPolicy {
    #[napi(constructor, catch_unwind)]
    pub fn new(mode: String, strict: bool, guard_trifecta: bool, declassified: Vec<Utf16String>) -> Self {
        let declassified = declassified.into_iter().map(|name| name.to_vec());
        Self(FlowPolicy::new(Mode::parse(&mode), strict, guard_trifecta, declassified))
    }

    /// Bits of `taint`: 0 verbatim, 1 untrusted seen, 2 sensitive seen. The answer is 0 for allow, else
    /// the action (1 flag, 2 declassify, 3 block) and, in the bits from 2 on, the flow (0 untrusted,
    /// 1 derived, 2 trifecta).
    #[napi(catch_unwind)]
    pub fn evaluate(&self, name: Utf16String, effects: String, assistant_output: bool, taint: u32) -> u32 {
        let bit = |n: u32| taint >> n & 1 == 1;
        let taint = Taint { verbatim: bit(0), untrusted_seen: bit(1), sensitive_seen: bit(2) };
        self.0.evaluate(Sink { name: &name, side_effect_class: &effects, assistant_output }, taint).map_or(
            0,
            |(action, flow)| {
                let action = match action {
                    Action::Flag => 1,
                    Action::Declassify => 2,
                    Action::Block => 3,
                };
                (flow as u32) << 2 | action
            },
        )
    }
}

/// What a decision about a flow (by number, as in [`NativeFlowPolicy::evaluate`]) says.
#[napi(catch_unwind)]
pub fn flow_reason(
    flow: u32,
    name: Utf16String,
    effects: String,
    assistant_output: bool,
    sources: Option<Utf16String>,
) -> JsText {
    let flow = FLOWS.get(flow as usize).copied().unwrap_or(Flow::UntrustedToSink);
    let sink = Sink { name: &name, side_effect_class: &effects, assistant_output };
    flow.reason(sink, sources.as_deref()).into()
}

/// Lone surrogates count as any other character that is not in a pattern.
#[napi(catch_unwind)]
pub fn contains_pii(text: String) -> bool {
    dataflow::contains_pii(&text)
}
