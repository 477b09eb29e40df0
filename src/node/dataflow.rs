//! Door of `dataflow`: the ledger as a class, the decision as bits, the search for personal data.

use crate::dataflow::{self, Action, Encodings, Facts, Flow, Mode, Tiles};
use napi::Env;
use napi::bindgen_prelude::{ObjectFinalize, Utf16String};
use napi_derive::napi;

/// Tracked text of one run. Kinds are numbers that the caller keeps names for.
#[napi(custom_finalize)]
pub struct NativeLedger {
    ledger: dataflow::Ledger,
    /// What the collector was told this object holds, in bytes.
    reported: i64,
}

#[napi]
impl NativeLedger {
    /// `encodings`: bit 0 percent, 1 base64, 2 hex, 3 JSON.
    #[napi(constructor, catch_unwind)]
    pub fn new(min: f64, budget: f64, tiles: Vec<u32>, tile_widths: Vec<u32>, encodings: u32) -> Self {
        let bit = |n: u32| encodings >> n & 1 == 1;
        let encodings = Encodings { percent: bit(0), base64: bit(1), hex: bit(2), json: bit(3) };
        let tiles = Tiles::new(tiles, tile_widths.into_iter().map(|width| width as usize));
        Self { ledger: dataflow::Ledger::new(to_size(min), to_size(budget), tiles, encodings), reported: 0 }
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
    pub fn tile_hashes(&self) -> Vec<u32> {
        self.ledger.tile_hashes()
    }
}

impl ObjectFinalize for NativeLedger {
    fn finalize(self, env: Env) -> napi::Result<()> {
        env.adjust_external_memory(-self.reported).map(|_| ())
    }
}

/// Whole, not negative; what is too large becomes the largest.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is meant")]
fn to_size(number: f64) -> usize {
    number as usize
}

/// Bits of `facts`: 0 sink, 1 verbatim, 2 untrusted seen, 3 sensitive seen, 4 strict, 5 trifecta
/// guarded, 6 declassified. `mode`: 0 off, 1 shadow, else enforce. The answer is 0 for allow, else
/// the action (1 flag, 2 declassify, 3 block) and, in the bits from 2 on, the flow (1 untrusted,
/// 2 derived, 3 trifecta).
#[napi(catch_unwind)]
pub fn flow_decision(mode: u32, facts: u32) -> u32 {
    let mode = match mode {
        0 => Mode::Off,
        1 => Mode::Shadow,
        _ => Mode::Enforce,
    };
    let bit = |n: u32| facts >> n & 1 == 1;
    let facts = Facts {
        sink: bit(0),
        verbatim: bit(1),
        untrusted_seen: bit(2),
        sensitive_seen: bit(3),
        strict: bit(4),
        guard_trifecta: bit(5),
        declassified: bit(6),
    };
    dataflow::decide(mode, facts).map_or(0, |(action, flow)| {
        let action = match action {
            Action::Flag => 1,
            Action::Declassify => 2,
            Action::Block => 3,
        };
        let flow = match flow {
            Flow::UntrustedToSink => 1,
            Flow::DerivedUntrustedToSink => 2,
            Flow::LethalTrifecta => 3,
        };
        flow << 2 | action
    })
}

/// Lone surrogates count as any other character that is not in a pattern.
#[napi(catch_unwind)]
pub fn contains_pii(text: String) -> bool {
    dataflow::contains_pii(&text)
}
