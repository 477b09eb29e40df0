//! What survives of tracked text when a run is suspended: hashes of tiles, never text.
//!
//! A tile is a run of as many units as the ledger's minimum; a span is cut into tiles that do not
//! overlap. After a resume, any run of twice the minimum less one holds one whole tile.

use super::units::{Unit, Units, with_units};
use rustc_hash::FxHashSet;

/// How many tile hashes a snapshot holds at most.
pub const MAX_TILES: usize = 8192;

/// FNV-1a, 32 bits, over whole UTF-16 units.
#[must_use]
pub fn fnv1a<U: Unit>(units: &[U]) -> u32 {
    units.iter().fold(0x811C_9DC5, |hash, &unit| (hash ^ u32::from(unit.into())).wrapping_mul(0x0100_0193))
}

/// The hashes of the tiles of spans, each once, in order, at most [`MAX_TILES`].
#[must_use]
pub fn tile_hashes<'a>(spans: impl Iterator<Item = &'a Units>, width: usize) -> Vec<u32> {
    let mut seen = FxHashSet::default();
    let mut hashes = Vec::new();
    for span in spans {
        with_units!(span, units => for tile in units.chunks_exact(width) {
            if hashes.len() == MAX_TILES {
                return hashes;
            }
            let hash = fnv1a(tile);
            if seen.insert(hash) {
                hashes.push(hash);
            }
        });
    }
    hashes
}

/// Tiles a snapshot brought back.
#[derive(Debug, Default)]
pub struct Tiles {
    hashes: FxHashSet<u32>,
    /// How long a tile may be; more than one when the snapshot does not tell for sure.
    widths: Vec<usize>,
}

impl Tiles {
    /// Tiles of the given hashes and possible lengths.
    #[must_use]
    pub fn new(hashes: impl IntoIterator<Item = u32>, widths: impl IntoIterator<Item = usize>) -> Self {
        Self { hashes: hashes.into_iter().collect(), widths: widths.into_iter().filter(|&w| w > 0).collect() }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Whether a run of `text` has the hash of a tile.
    #[must_use]
    pub fn match_any(&self, text: &Units) -> bool {
        !self.hashes.is_empty()
            && self.widths.iter().any(|&width| {
                with_units!(text, units => units.windows(width).any(|run| self.hashes.contains(&fnv1a(run))))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value() {
        assert_eq!(format!("{:08x}", fnv1a(b"abcdefgh")), "76daaa8d");
        let wide: Vec<u16> = "abcdefgh".encode_utf16().collect();
        assert_eq!(fnv1a(&wide), 0x76DA_AA8D);
    }

    #[test]
    fn tiles_do_not_overlap_and_drop_the_rest() {
        let span = Units::Narrow(b"abcdefghabcdefgh1234567".to_vec());
        assert_eq!(tile_hashes([&span].into_iter(), 8), [0x76DA_AA8D]);
        let other = Units::Narrow(b"abcdefgh1234567890".to_vec());
        assert_eq!(tile_hashes([&other].into_iter(), 8), [0x76DA_AA8D, fnv1a(b"12345678")]);
    }

    #[test]
    fn the_number_of_tiles_is_bounded() {
        let text: Vec<u8> = (0..20_000_u32).flat_map(|n| format!("{n:08}").into_bytes()).collect();
        assert_eq!(tile_hashes([&Units::Narrow(text)].into_iter(), 8).len(), MAX_TILES);
    }

    #[test]
    fn resumed_tiles_are_found_at_any_offset() {
        let tiles = Tiles::new([0x76DA_AA8D], [8]);
        assert!(tiles.match_any(&Units::Narrow(b"xxxabcdefghyyy".to_vec())));
        assert!(!tiles.match_any(&Units::Narrow(b"xxxabcdefgyyy".to_vec())));
        assert!(!tiles.match_any(&Units::Narrow(b"abc".to_vec())));
    }
}
