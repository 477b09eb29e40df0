//! Folded text: UTF-16 units, stored one byte each while all of them fit.
//!
//! Invariant: text is `Narrow` exactly when every unit is at most U+00FF, so a `Wide` needle can
//! never be part of a `Narrow` text.

/// A unit of either width.
pub trait Unit: Copy + Into<u16> {
    /// Up to the first eight units as two numbers, the same for either width: units that fit go into
    /// the first, one byte each, with the second 0; otherwise four to each. Missing units count as 0.
    fn pack(units: &[Self]) -> [u64; 2];
}

impl Unit for u8 {
    fn pack(units: &[Self]) -> [u64; 2] {
        if let Some(whole) = units.first_chunk::<8>() {
            return [u64::from_le_bytes(*whole), 0];
        }
        let mut block = [0; 8];
        block[..units.len()].copy_from_slice(units);
        [u64::from_le_bytes(block), 0]
    }
}

impl Unit for u16 {
    fn pack(units: &[Self]) -> [u64; 2] {
        let units = &units[..units.len().min(8)];
        let number = |units: &[u16], bits: u32| {
            units.iter().rev().fold(0, |number, &unit| number << bits | u64::from(unit))
        };
        if units.iter().all(|&unit| unit <= 0xFF) {
            return [number(units, 8), 0];
        }
        let (low, high) = units.split_at(units.len().min(4));
        [number(low, 16), number(high, 16)]
    }
}

/// Folded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Units {
    /// Every unit is at most U+00FF.
    Narrow(Vec<u8>),
    /// At least one unit is above.
    Wide(Vec<u16>),
}

/// Runs `$body` with `$slice` bound to the units of `$units`, whatever their width.
macro_rules! with_units {
    ($units:expr, $slice:ident => $body:expr) => {
        match $units {
            $crate::dataflow::units::Units::Narrow($slice) => $body,
            $crate::dataflow::units::Units::Wide($slice) => $body,
        }
    };
}
pub(super) use with_units;

impl Units {
    /// Picks the width.
    #[must_use]
    pub fn from_wide(units: Vec<u16>) -> Self {
        match units.iter().map(|&unit| u8::try_from(unit)).collect() {
            Ok(narrow) => Self::Narrow(narrow),
            Err(_) => Self::Wide(units),
        }
    }

    /// Length in UTF-16 units.
    #[must_use]
    pub fn len(&self) -> usize {
        with_units!(self, units => units.len())
    }

    /// Whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first `length` units at most; gives back the memory of the rest.
    #[must_use]
    pub fn cut(self, length: usize) -> Self {
        match self {
            Self::Narrow(mut units) => {
                units.truncate(length);
                units.shrink_to_fit();
                Self::Narrow(units)
            }
            Self::Wide(mut units) => {
                units.truncate(length);
                Self::from_wide(units)
            }
        }
    }

    /// All units, two bytes each.
    #[must_use]
    pub fn to_wide(&self) -> Vec<u16> {
        match self {
            Self::Narrow(units) => units.iter().map(|&unit| u16::from(unit)).collect(),
            Self::Wide(units) => units.clone(),
        }
    }

    /// Whether `needle` is contained.
    #[must_use]
    pub fn contains(&self, needle: &Self) -> bool {
        match (self, needle) {
            (Self::Narrow(text), Self::Narrow(needle)) => memchr::memmem::find(text, needle).is_some(),
            (Self::Narrow(_), Self::Wide(_)) => false,
            (Self::Wide(text), needle) => find_wide(text, &needle.to_wide()),
        }
    }
}

/// Looks for the needle's rarest-looking unit first: the last one, then compares.
fn find_wide(text: &[u16], needle: &[u16]) -> bool {
    let Some((&last, rest)) = needle.split_last() else { return true };
    text.len() >= needle.len()
        && text[rest.len()..]
            .iter()
            .enumerate()
            .any(|(at, &unit)| unit == last && text[at..at + rest.len()] == *rest)
}

/// How many units two texts have in common from their starts on, up to `limit`.
#[must_use]
pub fn common_prefix<A: Unit, B: Unit>(a: &[A], b: &[B], limit: usize) -> usize {
    a.iter().zip(b).take(limit).take_while(|&(&a, &b)| a.into() == b.into()).count()
}

/// How many units two texts have in common from their ends on, up to `limit`.
#[must_use]
pub fn common_suffix<A: Unit, B: Unit>(a: &[A], b: &[B], limit: usize) -> usize {
    a.iter().rev().zip(b.iter().rev()).take(limit).take_while(|&(&a, &b)| a.into() == b.into()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Units {
        Units::from_wide(text.encode_utf16().collect())
    }

    #[test]
    fn the_width_follows_the_largest_unit() {
        assert!(matches!(units("caf\u{E9}"), Units::Narrow(_)));
        assert!(matches!(units("\u{3B1}bc"), Units::Wide(_)));
        assert!(matches!(units("abc\u{3B1}").cut(3), Units::Narrow(_)));
    }

    #[test]
    fn contains_in_all_widths() {
        for (text, needle, expected) in [
            ("abcdef", "cde", true),
            ("abcdef", "ced", false),
            ("abcdef", "\u{3B1}", false),
            ("ab\u{3B1}def", "def", true),
            ("ab\u{3B1}def", "b\u{3B1}d", true),
            ("ab\u{3B1}def", "abd", false),
            // Bytes of units must not be mistaken for units.
            ("\u{6161}\u{6162}", "\u{6161}\u{6162}\u{6161}", false),
            ("\u{4100}\u{0041}", "\u{0000}", false),
            ("abc", "abcd", false),
        ] {
            assert_eq!(units(text).contains(&units(needle)), expected, "{text:?} {needle:?}");
        }
    }

    #[test]
    fn packing_does_not_depend_on_the_width() {
        for text in ["", "a", "abcdef", "abcdefgh", "abcdefghij"] {
            let wide: Vec<u16> = text.encode_utf16().collect();
            assert_eq!(u8::pack(text.as_bytes()), u16::pack(&wide), "{text}");
        }
        assert_ne!(u8::pack(b"abcdefgh"), u8::pack(b"abcdefgi"));
        let units = |text: &str| u16::pack(&text.encode_utf16().collect::<Vec<_>>());
        assert_ne!(units("abcd\u{3b1}fgh"), units("abcd\u{3b1}fgi"));
    }

    #[test]
    fn common_ends() {
        assert_eq!(common_prefix(b"abcx", b"abcy", 9), 3);
        assert_eq!(common_prefix(b"abcx", b"abcy", 2), 2);
        assert_eq!(common_suffix(b"xabc", &[0x79_u16, 0x62, 0x63], 9), 2);
    }
}
