//! The fold: one byte a UTF-16 unit, ready for case-blind, space-blind matching.
//!
//! ASCII letters in lower case; every ECMAScript white space (line ends, NBSP, BOM, U+2028, …) a
//! blank; other ASCII as it is; everything else [`OPAQUE`]. Offsets in the fold are offsets in the
//! text. Case folding is ASCII only: neither the Kelvin sign nor the long s become letters.

/// What a unit beyond ASCII that is no white space becomes: neither word nor white space.
pub const OPAQUE: u8 = 0x80;

const BLOCK: usize = 64;

/// A text's fold, and whether it is ASCII throughout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// One byte a unit.
    pub bytes: Vec<u8>,
    /// No unit of the text is beyond ASCII.
    pub ascii: bool,
}

/// Folds a text known to be ASCII, one byte a unit.
#[must_use]
pub fn fold_bytes(text: &[u8]) -> Fold {
    Fold { bytes: text.iter().map(|byte| fold_ascii(u16::from(*byte))).collect(), ascii: true }
}

/// Folds a text. One pass.
#[must_use]
pub fn fold(units: &[u16]) -> Fold {
    let mut bytes = vec![0; units.len()];
    let mut ascii = true;
    for (out, block) in bytes.chunks_mut(BLOCK).zip(units.chunks(BLOCK)) {
        if block.iter().fold(0, |all, unit| all | unit) < 0x80 {
            // Without branches, so that the compiler makes vector code of it.
            for (to, unit) in out.iter_mut().zip(block) {
                *to = fold_ascii(*unit);
            }
        } else {
            ascii = false;
            for (to, unit) in out.iter_mut().zip(block) {
                *to = fold_unit(*unit);
            }
        }
    }
    Fold { bytes, ascii }
}

#[allow(clippy::cast_possible_truncation, reason = "callers pass ASCII")]
fn fold_ascii(unit: u16) -> u8 {
    let byte = unit as u8;
    let upper = byte.wrapping_sub(b'A') < 26;
    let space = byte.wrapping_sub(9) < 5;
    let lowered = byte | (u8::from(upper) << 5);
    if space { b' ' } else { lowered }
}

fn fold_unit(unit: u16) -> u8 {
    match unit {
        0..0x80 => fold_ascii(unit),
        0xA0 | 0x1680 | 0x2000..=0x200A | 0x2028 | 0x2029 | 0x202F | 0x205F | 0x3000 | 0xFEFF => b' ',
        _ => OPAQUE,
    }
}

/// Whether a folded byte belongs to a word: `[a-z0-9_]`.
#[must_use]
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_case_and_space_only() {
        let text: Vec<u16> =
            "Ab Z[\t\u{b}\r\n\u{A0}\u{FEFF}\u{2028}é\u{212A}\u{17F}_".encode_utf16().collect();
        assert_eq!(fold(&text).bytes, b"ab z[       \x80\x80\x80_");
        assert!(!fold(&text).ascii);
        let long: Vec<u16> = "Q@`{\u{7f}\0 ".repeat(40).encode_utf16().collect();
        assert_eq!(fold(&long).bytes, b"q@`{\x7f\0 ".repeat(40));
        assert!(fold(&long).ascii);
        let bytes: Vec<u8> = (0..0x80).collect();
        let units: Vec<u16> = (0..0x80).collect();
        assert_eq!(fold_bytes(&bytes), fold(&units));
    }
}
