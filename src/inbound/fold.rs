//! The fold: what case-blind, space-blind matching sees of a text, one byte a unit.
//!
//! ASCII letters in lower case; every ECMAScript white space (line ends, NBSP, BOM, U+2028, …) a
//! blank; other ASCII as it is; everything else [`OPAQUE`]. Offsets in the fold are offsets in the
//! text. Case folding is ASCII only: neither the Kelvin sign nor the long s become letters.
//!
//! Nothing here makes a folded copy: a text of megabytes is folded where it is looked at. ASCII text
//! comes as bytes, any other as UTF-16; [`Unit`] lets one scanner read both.

/// What a unit beyond ASCII that is no white space becomes: neither word nor white space.
pub const OPAQUE: u8 = 0x80;

/// A unit of text: a byte of ASCII, or a UTF-16 unit.
pub trait Unit: Copy + Eq + Into<u16> + Send + Sync + 'static {
    /// The unit that stands for an ASCII character.
    fn of_ascii(byte: u8) -> Self;

    /// The unit's fold.
    fn fold(self) -> u8;

    /// Whether a unit is ASCII that neither hides nor escapes anything: most are.
    /// Without branches, so that compilers make vector code of loops over it.
    fn is_simple(self) -> bool;

    /// Whether a unit of ASCII stands for itself, to a reader and to the fold, before a next one.
    fn is_ordinary(self, next: Self) -> bool;

    /// The same, and true of most letters beyond ASCII as well.
    fn is_usual(self, next: Self) -> bool;

    /// A stretch of text as bytes with the same fold: itself, or made in `room`. Reading bytes right after
    /// they were copied would stall the processor.
    fn narrow<'a, const N: usize>(text: &'a [Self; N], room: &'a mut [u8; N]) -> &'a [u8; N];

    /// Where a character that is its own fold, and nobody else's, is next.
    fn find(text: &[Self], byte: u8) -> Option<usize>;
}

impl Unit for u8 {
    fn of_ascii(byte: u8) -> Self {
        byte
    }

    fn fold(self) -> u8 {
        fold_ascii(self)
    }

    #[allow(
        clippy::needless_bitwise_bool,
        reason = "without branches, so that compilers make vector code of it"
    )]
    fn is_simple(self) -> bool {
        ((self >= b' ') | is_space(self)) & (self < 0x7F) & (self != b'\\')
    }

    #[allow(
        clippy::needless_bitwise_bool,
        reason = "without branches, so that compilers make vector code of it"
    )]
    fn is_ordinary(self, next: Self) -> bool {
        let escapes = (self == b'\\') & ((next == b'u') | (next == b'f') | (next == b'b') | (next == b'\\'));
        ((self >= b' ') | is_space(self)) & (self < 0x7F) & !escapes
    }

    #[allow(
        clippy::needless_bitwise_bool,
        reason = "without branches, so that compilers make vector code of it"
    )]
    fn is_usual(self, next: Self) -> bool {
        self.is_ordinary(next)
    }

    fn narrow<'a, const N: usize>(text: &'a [Self; N], _room: &'a mut [u8; N]) -> &'a [u8; N] {
        text
    }

    fn find(text: &[Self], byte: u8) -> Option<usize> {
        memchr::memchr(byte, text)
    }
}

impl Unit for u16 {
    fn of_ascii(byte: u8) -> Self {
        Self::from(byte)
    }

    fn fold(self) -> u8 {
        match self {
            0..0x80 => fold_ascii(low_byte(self)),
            0xA0 | 0x1680 | 0x2000..=0x200A | 0x2028 | 0x2029 | 0x202F | 0x205F | 0x3000 | 0xFEFF => b' ',
            _ => OPAQUE,
        }
    }

    #[allow(
        clippy::needless_bitwise_bool,
        reason = "without branches, so that compilers make vector code of it"
    )]
    fn is_simple(self) -> bool {
        ((self >= 0x20) | (self.wrapping_sub(9) < 5)) & (self < 0x7F) & (self != 0x5C)
    }

    #[allow(
        clippy::needless_bitwise_bool,
        reason = "without branches, so that compilers make vector code of it"
    )]
    fn is_ordinary(self, next: Self) -> bool {
        let escapes = (self == 0x5C) & ((next == 0x75) | (next == 0x66) | (next == 0x62) | (next == 0x5C));
        ((self >= 0x20) | (self.wrapping_sub(9) < 5)) & (self < 0x7F) & !escapes
    }

    #[allow(
        clippy::needless_bitwise_bool,
        reason = "without branches, so that compilers make vector code of it"
    )]
    fn is_usual(self, next: Self) -> bool {
        // Latin, Greek to Arabic, dashes and quotes, symbols, kana, everything up to the surrogates,
        // full-width letters.
        self.is_ordinary(next)
            | ((self.wrapping_sub(0xAE) < 0x115F - 0xAE) & (self != 0x34F) & (self != 0x61C))
            | (self.wrapping_sub(0x2010) < 0x202A - 0x2010)
            | ((self.wrapping_sub(0x2070) < 0xD800 - 0x2070) & (self != 0x2800) & (self != 0x3164))
            | (self.wrapping_sub(0xFF00) < 0xFFA0 - 0xFF00)
    }

    fn narrow<'a, const N: usize>(text: &'a [Self; N], room: &'a mut [u8; N]) -> &'a [u8; N] {
        *room = if text.iter().fold(0, |all, unit| all | unit) < 0x80 {
            text.map(low_byte)
        } else {
            text.map(Self::fold)
        };
        room
    }

    fn find(text: &[Self], byte: u8) -> Option<usize> {
        text.iter().position(|unit| *unit == Self::from(byte))
    }
}

#[allow(clippy::cast_possible_truncation, reason = "callers pass ASCII")]
fn low_byte(unit: u16) -> u8 {
    unit as u8
}

/// Whether a byte of ASCII is white space. Without branches, so that compilers make vector code of
/// loops over it.
#[must_use]
pub fn is_space(byte: u8) -> bool {
    (byte == b' ') | (byte.wrapping_sub(9) < 5)
}

fn fold_ascii(byte: u8) -> u8 {
    if is_space(byte) { b' ' } else { byte.to_ascii_lowercase() }
}

/// Whether a folded byte belongs to a word: `[a-z0-9_]`.
#[must_use]
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> Vec<u8> {
        text.encode_utf16().map(Unit::fold).collect()
    }

    #[test]
    fn folds_case_and_space_only() {
        assert_eq!(
            folded("Ab Z[\t\u{b}\r\n\u{A0}\u{FEFF}\u{2028}é\u{212A}\u{17F}_"),
            b"ab z[       \x80\x80\x80_"
        );
        assert_eq!(folded("Q@`{\u{7f}\0 "), b"q@`{\x7f\0 ");
    }

    #[test]
    fn bytes_and_units_agree() {
        for byte in 0..0x80u8 {
            let unit = u16::from(byte);
            assert_eq!(byte.fold(), unit.fold());
            assert_eq!(is_space(byte), byte.fold() == b' ');
            for (text, rest) in [([unit, 0x7F], 0x7F), ([unit, 0x2028], b' ')] {
                assert_eq!(u16::narrow(&text, &mut [0; 2]).map(Unit::fold), [byte.fold(), rest]);
            }
        }
        assert_eq!((u8::find(b"a<", b'<'), u16::find(&[97, 60], b'<')), (Some(1), Some(1)));
    }
}
