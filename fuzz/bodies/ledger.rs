//! What the fuzz target of the taint ledger checks: takes any bytes and panics on a broken promise.
//! Shared by the libFuzzer target and by `tests/ledger_smoke.rs`.

use ferrule::dataflow::{
    Encodings, FLOOR, Ledger, Limits, MAX_TILES, Probe, Tiles, contains_pii, fold, tile_name,
};

const ALL: Encodings = Encodings { percent: true, base64: true, hex: true, json: true };

/// Splits at a byte that no input needs.
fn parts(data: &[u8]) -> Vec<Vec<u16>> {
    data.split(|&byte| byte == 0xFE)
        .map(|part| {
            let mut units: Vec<u16> = String::from_utf8_lossy(part).encode_utf16().collect();
            // Bytes that are no UTF-8 stand for lone surrogates.
            for unit in &mut units {
                if *unit == 0xFFFD {
                    *unit = 0xD83D;
                }
            }
            units
        })
        .collect()
}

/// The verdict as the spec words it, over what is tracked.
fn defined(spans: &[(u32, Vec<u16>)], min: usize, args: &[u16]) -> Vec<u32> {
    let args = fold(args).to_wide();
    let width = min.min(args.len());
    let mut kinds = Vec::new();
    for (kind, span) in spans {
        let hit =
            width >= FLOOR && span.windows(width).any(|run| args.windows(width).any(|other| run == other));
        if hit && !kinds.contains(kind) {
            kinds.push(*kind);
        }
    }
    kinds
}

/// The last part is probed against the others. The first two bytes choose minimum and budget.
pub fn ledger(data: &[u8]) {
    let [min, budget, data @ ..] = data else { return };
    let (min, budget) = (f64::from(*min % 40), f64::from(*budget) * 4.0);
    let Limits { min, budget } = Limits::new(Some(min), Some(budget));
    let mut parts = parts(data);
    let Some(args) = parts.pop() else { return };
    let mut ledger = Ledger::new(min, budget, Tiles::default(), Encodings::default());
    let mut decoding = Ledger::new(min, budget, Tiles::default(), ALL);
    assert_eq!(ledger.min(), min);
    let mut tracked: Vec<(u32, Vec<u16>)> = Vec::new();
    for (kind, part) in (0..).map(|at| at % 3).zip(&parts) {
        ledger.record(kind, part);
        decoding.record(kind, part);
        let mut folded = fold(part).to_wide();
        folded.truncate(budget);
        if folded.len() >= min {
            tracked.push((kind, folded));
        }
        while tracked.len() > 1 && tracked.iter().map(|(_, span)| span.len()).sum::<usize>() > budget {
            tracked.remove(0);
        }
        assert_eq!(ledger.tracked(), tracked.iter().map(|(_, span)| span.len()).sum::<usize>());
    }
    let found = ledger.inspect(&args);
    let expected = defined(&tracked, min, &args);
    // Further readings of JSON only add.
    assert!(expected.iter().all(|kind| found.kinds.contains(kind)), "missed {expected:?} in {found:?}");
    if !args.iter().any(|unit| [0x22, 0x5B, 0x7B].contains(unit)) {
        assert_eq!(found.kinds, expected);
    }
    let decoded = decoding.inspect(&args);
    assert!(found.kinds.iter().all(|kind| decoded.kinds.contains(kind)), "decoding lost {found:?}");
    // What is tracked and at least twice the minimum is found again after a resume.
    let (hashes, widths) = ledger.snapshot();
    assert!(hashes.len() <= MAX_TILES);
    let names: Vec<String> = hashes.iter().copied().map(tile_name).collect();
    let told: Vec<f64> =
        widths.iter().filter_map(|&width| u32::try_from(width).ok().map(f64::from)).collect();
    let tiles = Tiles::resume(names.iter().map(String::as_str), &told, min);
    let resumed = Ledger::new(min, budget, tiles, Encodings::default());
    assert_eq!(resumed.snapshot(), (hashes, widths));
    for (_, span) in &tracked {
        // Folding is not idempotent for every text, so only what folds to itself is copied.
        if span.len() >= 2 * min && fold(span).to_wide() == *span {
            assert_eq!(resumed.inspect(span), Probe { kinds: vec![], resumed: true });
        }
    }
    let _ = contains_pii(&String::from_utf16_lossy(&args));
}
