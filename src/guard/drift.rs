//! What became of memory between two snapshots.
//!
//! A digest is a list of regions and the hashes of what they held. Regions and hashes are UTF-16, compared
//! unit by unit: a digest may come back from wherever the app kept it.

use rustc_hash::{FxHashMap, FxHashSet};

/// Regions and hashes, in the order they were read.
pub type Digest<'a> = [(&'a [u16], &'a [u16])];

/// How two digests differ, as places in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drift {
    /// Places in the later digest of regions whose hash is another one than before: a mismatch.
    pub changed: Vec<usize>,
    /// Places in the later digest of regions that were not there before. Told, but no mismatch.
    pub added: Vec<usize>,
    /// Places in the earlier digest of regions that are gone. Told, but no mismatch.
    pub vanished: Vec<usize>,
}

/// Compares. A region that an earlier digest names twice had the hash it was given last; what came or
/// went is told once.
#[must_use]
pub fn drift(before: &Digest<'_>, after: &Digest<'_>) -> Drift {
    let known: FxHashMap<_, _> = before.iter().copied().collect();
    let mut drift = Drift::default();
    let mut now = FxHashSet::default();
    for (at, &(region, hash)) in after.iter().enumerate() {
        let is_first = now.insert(region);
        match known.get(region) {
            Some(&earlier) if earlier != hash => drift.changed.push(at),
            None if is_first => drift.added.push(at),
            Some(_) | None => {}
        }
    }
    let mut told = FxHashSet::default();
    let gone =
        before.iter().enumerate().filter(|(_, (region, _))| !now.contains(region) && told.insert(*region));
    drift.vanished = gone.map(|(at, _)| at).collect();
    drift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(before: &[(&str, &str)], after: &[(&str, &str)]) -> Drift {
        let owned = |digest: &[(&str, &str)]| -> Vec<(Vec<u16>, Vec<u16>)> {
            let utf16 = |text: &str| text.encode_utf16().collect();
            digest.iter().map(|(region, hash)| (utf16(region), utf16(hash))).collect()
        };
        let (before, after) = (owned(before), owned(after));
        let lend = |digest: &'static [(Vec<u16>, Vec<u16>)]| -> Vec<(&'static [u16], &'static [u16])> {
            digest.iter().map(|(region, hash)| (region.as_slice(), hash.as_slice())).collect()
        };
        drift(&lend(before.leak()), &lend(after.leak()))
    }

    #[test]
    fn changed_added_and_vanished() {
        assert_eq!(of(&[("a", "1")], &[("a", "1")]), Drift::default());
        assert_eq!(
            of(&[("a", "1"), ("b", "2"), ("c", "3")], &[("a", "x"), ("b", "2"), ("d", "4")]),
            Drift { changed: vec![0], added: vec![2], vanished: vec![2] }
        );
        assert_eq!(of(&[], &[("a", "1")]), Drift { added: vec![0], ..Drift::default() });
        assert_eq!(of(&[("a", "1")], &[]), Drift { vanished: vec![0], ..Drift::default() });
    }

    #[test]
    fn regions_named_twice() {
        assert_eq!(of(&[("a", "1"), ("a", "2")], &[("a", "2"), ("a", "1")]).changed, [1]);
        assert_eq!(of(&[("a", "1"), ("a", "2")], &[]).vanished, [0]);
        assert_eq!(of(&[], &[("a", "1"), ("a", "2")]).added, [0]);
    }

    proptest! {
        #[test]
        fn nothing_drifts_from_itself_and_any_change_is_told(
            hashes in proptest::collection::vec("[0-9a-f]{8}", 1..8),
            at in 0_usize..8,
        ) {
            let regions: Vec<String> = (0..hashes.len()).map(|n| format!("r{n}")).collect();
            let digest: Vec<_> = regions.iter().map(String::as_str).zip(hashes.iter().map(String::as_str)).collect();
            prop_assert_eq!(of(&digest, &digest), Drift::default());
            let mut other = digest.clone();
            let at = at % other.len();
            other[at].1 = "changed!";
            prop_assert_eq!(of(&digest, &other), Drift { changed: vec![at], ..Drift::default() });
        }
    }
}
