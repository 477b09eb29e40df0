//! Safe file names for ids that come from a model or a caller (spec 03 section 1.4).
//!
//! An id of `[A-Za-z0-9._-]` stays as it is, so that artifacts are where the documents say. Every
//! other id becomes `~`, a readable rest, and a digest of the whole id. The two kinds cannot meet,
//! `~` being outside the plain alphabet. Invariants, tested: a segment is never empty, `.`, `..`, a
//! device name, longer than [`MAX`], nor does an artifact ever have the name of a sidecar.

use crate::value::wtf8;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// What a sidecar's name ends in.
pub const SIDECAR_SUFFIX: &str = ".meta.json";

/// The longest plain id kept as it is: leaves room for extension and sidecar suffix in 255 bytes.
pub const MAX: usize = 200;

/// The longest extension kept.
const MAX_EXTENSION: usize = 16;

const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// The path segment that stands for an id.
#[must_use]
pub fn segment(id: &[u16]) -> String {
    let plain: Option<String> = id.iter().map(|unit| plain_char(*unit)).collect();
    match plain {
        Some(plain) if is_safe(&plain) => plain,
        _ => encoded(id),
    }
}

/// The file name of an artifact: the id's segment and the extension, which becomes `txt` unless it
/// is a short alphanumeric word.
#[must_use]
pub fn artifact(id: &[u16], extension: &str) -> String {
    let good = !extension.is_empty()
        && extension.len() <= MAX_EXTENSION
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    format!("{}.{}", segment(id), if good { extension } else { "txt" })
}

/// The name of an artifact's sidecar.
#[must_use]
pub fn sidecar(artifact: &str) -> String {
    format!("{artifact}{SIDECAR_SUFFIX}")
}

/// Whether a file name is one that only sidecars have, on any file system.
#[must_use]
pub fn is_sidecar(name: &str) -> bool {
    let bytes = name.as_bytes();
    let suffix = SIDECAR_SUFFIX.as_bytes();
    bytes.len() >= suffix.len() && bytes[bytes.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
}

fn plain_char(unit: u16) -> Option<char> {
    char::from_u32(u32::from(unit)).filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

fn is_safe(plain: &str) -> bool {
    let lower = plain.to_ascii_lowercase();
    let stem = lower.split('.').next().unwrap_or_default();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let device =
        DEVICES.contains(&stem) || port.is_some_and(|n| n.len() == 1 && n.as_bytes()[0].is_ascii_digit());
    // `x.meta` with the extension `json` would be the sidecar of `x`; a temporary file of the writer
    // starts with a dot of its own.
    !plain.is_empty()
        && plain.len() <= MAX
        && !plain.ends_with('.')
        && !lower.as_bytes().ends_with(b".meta")
        && !is_sidecar(plain)
        && !plain.starts_with(TEMPORARY_PREFIX)
        && !device
}

/// What the writer's unfinished files start with.
pub const TEMPORARY_PREFIX: &str = ".ferrule-";

fn encoded(id: &[u16]) -> String {
    let mut name = String::from("~");
    name.extend(id.iter().filter_map(|unit| plain_char(*unit)).filter(|c| *c != '.').take(32));
    name.push('-');
    // Units, not text: ids that differ in a lone surrogate must differ here.
    for byte in Sha256::digest(wtf8::from_utf16(id)).iter().take(16) {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    #[test]
    fn ordinary_ids_stay() {
        for id in ["run-a", "c1", "call_abc.123", "..a", "-", "a..b", "com10", "console"] {
            assert_eq!(segment(&units(id)), id);
        }
        assert_eq!(artifact(&units("c1"), "json"), "c1.json");
        assert_eq!(artifact(&units("c1"), "../x"), "c1.txt");
        assert_eq!(artifact(&units("c1"), "meta.json"), "c1.txt");
    }

    #[test]
    fn hostile_ids_are_encoded() {
        let long = "x".repeat(300);
        for id in [
            "../../etc/x",
            "a/b",
            "a\\b",
            "CON",
            "nul.txt",
            "COM1",
            "",
            ".",
            "..",
            "c1.txt.meta",
            "c1.META",
            "c1.txt.meta.json",
            "a\0b",
            "a b",
            "ünï",
            "~x",
            "a.",
            ".ferrule-1",
            &long,
        ] {
            let name = segment(&units(id));
            assert!(name.starts_with('~') && name.len() < 80, "{id:?} became {name}");
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"~_-".contains(&b)), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_two_ids_share_a_file_and_none_is_a_sidecar(
            ids in proptest::collection::vec("[a-c./\\\\]{0,3}(\\.meta)?(\\.json)?(\\.txt)?", 2..40),
            extension in prop::sample::select(vec!["json", "txt", "meta"])
        ) {
            let mut owners: HashMap<String, &str> = HashMap::new();
            let sidecars: Vec<String> = ids.iter().map(|id| sidecar(&artifact(&units(id), extension))).collect();
            for id in &ids {
                let name = artifact(&units(id), extension);
                prop_assert!(!is_sidecar(&name) && !sidecars.contains(&name));
                prop_assert!(name.len() + SIDECAR_SUFFIX.len() <= 255);
                prop_assert_eq!(*owners.entry(name).or_insert(id), id.as_str());
            }
        }
    }
}
