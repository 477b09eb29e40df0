//! What survives of tracked text when a run is suspended: hashes of tiles, never text.
//!
//! A tile is a run of as many units as the ledger's minimum; a span is cut into tiles that do not
//! overlap. After a resume, any run of twice the minimum less one holds one whole tile.

use super::ledger::{CEILING, DEFAULT_MIN, FLOOR};
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

/// A tile's hash, as a snapshot has it: eight lower-case hex digits.
#[must_use]
pub fn tile_name(hash: u32) -> String {
    format!("{hash:08x}")
}

fn tile_hash(name: &str) -> Option<u32> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (name.len() == 8 && name.bytes().all(is_digit)).then(|| u32::from_str_radix(name, 16).ok()).flatten()
}

/// Tiles a snapshot brought back.
#[derive(Debug, Default)]
pub struct Tiles {
    hashes: FxHashSet<u32>,
    /// The same, in the order of the snapshot.
    order: Vec<u32>,
    /// How long a tile may be; more than one when the snapshot does not tell for sure.
    widths: Vec<usize>,
}

impl Tiles {
    /// Tiles of the given hashes and possible lengths.
    #[must_use]
    pub fn new(hashes: impl IntoIterator<Item = u32>, widths: impl IntoIterator<Item = usize>) -> Self {
        let mut tiles = Self::default();
        for hash in hashes {
            if tiles.hashes.insert(hash) {
                tiles.order.push(hash);
            }
        }
        if !tiles.order.is_empty() {
            for width in widths {
                if width > 0 && !tiles.widths.contains(&width) {
                    tiles.widths.push(width);
                }
            }
        }
        tiles
    }

    /// Tiles as a snapshot has them. A snapshot that does not tell how long they are was made with the
    /// default minimum, or by somebody else with the minimum of this ledger, `min`. What is no hash and no
    /// length is left out.
    pub fn resume<'a>(names: impl IntoIterator<Item = &'a str>, told: &[f64], min: usize) -> Self {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
        let told: Vec<usize> = told
            .iter()
            .filter(|width| width.fract() == 0.0)
            .map(|&width| width as usize)
            .filter(|width| (FLOOR..=CEILING).contains(width))
            .collect();
        let widths = if told.is_empty() { vec![min, DEFAULT_MIN] } else { told };
        Self::new(names.into_iter().filter_map(tile_hash), widths)
    }

    /// The hashes, each once, in the order of the snapshot.
    #[must_use]
    pub fn hashes(&self) -> &[u32] {
        &self.order
    }

    /// How long a tile may be; nothing when there are none.
    #[must_use]
    pub fn widths(&self) -> &[usize] {
        &self.widths
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
    fn names_and_lengths_of_a_snapshot() {
        let names = ["76daaa8d", "0000000f", "76daaa8d", "76DAAA8D", "+6daaa8d", "76daaa8", "", "not a hash"];
        let tiles = Tiles::resume(names, &[30.0, 8.0, 30.0, 7.0, 8.5, f64::NAN, f64::INFINITY, -20.0], 12);
        assert_eq!(tiles.hashes(), [0x76DA_AA8D, 0xF]);
        assert_eq!(tiles.widths(), [30, 8]);
        assert_eq!(tile_name(0xF), "0000000f");
        assert_eq!(Tiles::resume(["76daaa8d"], &[], 12).widths(), [12, DEFAULT_MIN]);
        assert_eq!(Tiles::resume(["76daaa8d"], &[1.0], DEFAULT_MIN).widths(), [DEFAULT_MIN]);
        let none = Tiles::resume(["nothing"], &[30.0], 12);
        assert!(none.is_empty() && none.widths().is_empty());
    }

    #[test]
    fn resumed_tiles_are_found_at_any_offset() {
        let tiles = Tiles::new([0x76DA_AA8D], [8]);
        assert!(tiles.match_any(&Units::Narrow(b"xxxabcdefghyyy".to_vec())));
        assert!(!tiles.match_any(&Units::Narrow(b"xxxabcdefgyyy".to_vec())));
        assert!(!tiles.match_any(&Units::Narrow(b"abc".to_vec())));
    }
}
