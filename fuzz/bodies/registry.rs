//! What the fuzz targets of search and canonical JSON check: each takes any bytes and panics on a
//! broken promise. Shared by the libFuzzer targets and by `tests/fuzz_smoke_registry.rs`.
#![allow(dead_code, reason = "every target uses one")]

use ferrule::registry::{Bm25, NameScan};
use ferrule::value::canonical_json;
use serde_json::Value;

/// After any changes the index and the scan answer as if built from scratch.
pub fn search_index(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut documents: Vec<(u32, &str)> = Vec::new();
    let (mut index, mut scan) = (Bm25::default(), NameScan::default());
    for part in text.split(['\n', '/']) {
        let Some(first) = part.bytes().next() else { continue };
        let key = u32::from(first % 8);
        if part.len() % 4 == 0 {
            index.remove(key);
            scan.remove(key);
            documents.retain(|(known, _)| *known != key);
        } else {
            index.add(key, key, part);
            scan.add(key, [part]);
            documents.push((key, part));
        }
    }
    let query = text.get(..text.len().min(40)).unwrap_or("the query");
    let (mut fresh, mut fresh_scan) = (Bm25::default(), NameScan::default());
    documents.sort_by_key(|(key, _)| *key);
    for (key, part) in &documents {
        fresh.add(*key, *key, part);
        fresh_scan.add(*key, [*part]);
    }
    let found = index.query(query, 5.0);
    assert_eq!(found, fresh.query(query, 5.0), "the index drifted");
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score), "not sorted");
    assert!(found.iter().all(|hit| hit.score > 0.0 && hit.score <= 1.0), "a score outside 0 to 1");
    let needle = query.split_whitespace().next().unwrap_or("x");
    assert_eq!(scan.find(needle, &[1], 3), fresh_scan.find(needle, &[1], 3), "the scan drifted");
}

/// Canonical JSON is JSON of the same value, and canonical.
pub fn canonical(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let text = canonical_json(&value);
    let again: Value = serde_json::from_str(&text).expect("canonical JSON is JSON");
    assert_eq!(canonical_json(&again), text, "not a fixed point");
}
