//! The text of an artifact, handed to the file piece by piece.
//!
//! UTF-16 is turned into bytes on the way, so that no second copy of a long text is ever held. And a
//! file system that keeps a single large write in large pages may have to compact memory to find them:
//! one write of 16 MB was seen to take ten times as long as sixty-four of 256 KB.

use crate::value::cut::prefix_end;
use crate::value::wtf8;
use std::borrow::Cow;
use std::io::{self, Write};

/// Bytes, or UTF-16 units, of one piece.
const PIECE: usize = 256 * 1024;

/// A text.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// The bytes as they shall be in the file.
    Bytes(&'a [u8]),
    /// UTF-16, which the file shall have as WTF-8.
    Utf16(&'a [u16]),
}

impl<'a> Content<'a> {
    /// How many bytes or units the text has.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Content::Bytes(bytes) => bytes.len(),
            Content::Utf16(units) => units.len(),
        }
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The file's bytes in order. Joined, they are what converting the whole text would give.
    pub fn pieces(self) -> impl Iterator<Item = Cow<'a, [u8]>> {
        let mut rest = self;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            Some(match &mut rest {
                Content::Bytes(bytes) => {
                    let (piece, after) = bytes.split_at(PIECE.min(bytes.len()));
                    *bytes = after;
                    Cow::Borrowed(piece)
                }
                Content::Utf16(units) => {
                    let (piece, after) = units.split_at(prefix_end(units, PIECE));
                    *units = after;
                    Cow::Owned(wtf8::from_utf16(piece))
                }
            })
        })
    }

    /// Writes all of it; returns how many bytes that were.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(self, mut to: impl Write) -> io::Result<u64> {
        let mut bytes = 0;
        for piece in self.pieces() {
            to.write_all(&piece)?;
            bytes += piece.len() as u64;
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_whole() {
        let text = format!("a{}", "🦊é".repeat(PIECE));
        let units: Vec<u16> = text.encode_utf16().chain([0xD83D]).collect();
        let whole = wtf8::from_utf16(&units);
        for content in [Content::Bytes(&whole), Content::Utf16(&units)] {
            let pieces: Vec<_> = content.pieces().collect();
            assert!(pieces.len() > 2);
            assert!(pieces.concat() == whole);
            let mut file = Vec::new();
            assert_eq!(content.write_to(&mut file).expect("written"), whole.len() as u64);
            assert!(file == whole);
        }
        assert!(Content::Bytes(b"").is_empty() && Content::Utf16(&[]).pieces().next().is_none());
    }
}
