//! Telling tool protocol from prose in what a model writes (spec 03, section 4): the splitter for text
//! that is wrapped in envelopes already.
//!
//! The patterns of the room are JavaScript expressions, since apps use them as such.

/// A piece of a text: where it ends, and whether it is an envelope with its delimiters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// In units of the text; the piece begins where the one before it ends.
    pub end: usize,
    /// An envelope, from its opener to the first closer after it.
    pub wrapped: bool,
}

/// Splits a text at its envelopes; the pieces joined give the text. An opener without a closer begins a
/// plain piece that reaches to the end; a closer alone is plain; so is everything when a delimiter is
/// empty, which would be found everywhere and never move on. An empty text has no pieces.
#[must_use]
pub fn split(text: &[u16], open: &[u16], close: &[u16]) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut at = 0;
    let mut piece = |end: usize, wrapped: bool, at: &mut usize| {
        if end > *at {
            segments.push(Segment { end, wrapped });
            *at = end;
        }
    };
    if !open.is_empty() && !close.is_empty() {
        while let Some(start) = find(text, open, at) {
            piece(start, false, &mut at);
            let Some(end) = find(text, close, start + open.len()) else { break };
            piece(end + close.len(), true, &mut at);
        }
    }
    piece(text.len(), false, &mut at);
    segments
}

/// The first place from `from` on.
fn find(text: &[u16], needle: &[u16], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += text.get(at..)?.iter().position(|unit| needle.first() == Some(unit))?;
        if text[at..].starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces(text: &str, open: &str, close: &str) -> Vec<(bool, String)> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let delimiter = |text: &str| text.encode_utf16().collect::<Vec<_>>();
        let mut at = 0;
        split(&units, &delimiter(open), &delimiter(close))
            .into_iter()
            .map(|Segment { end, wrapped }| {
                let piece = String::from_utf16_lossy(&units[at..end]);
                at = end;
                (wrapped, piece)
            })
            .collect()
    }

    #[test]
    fn envelopes() {
        for (text, expected) in [
            ("", vec![]),
            ("plain", vec!["plain"]),
            ("a[[b]]c", vec!["a", "+[[b]]", "c"]),
            ("[[a]][[b]]", vec!["+[[a]]", "+[[b]]"]),
            ("a[[b", vec!["a", "[[b"]),
            ("a]]b", vec!["a]]b"]),
            ("[[a[[b]]c]]", vec!["+[[a[[b]]", "c]]"]),
            ("[[]]", vec!["+[[]]"]),
        ] {
            let found: Vec<_> = pieces(text, "[[", "]]")
                .into_iter()
                .map(|(wrapped, piece)| if wrapped { format!("+{piece}") } else { piece })
                .collect();
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(pieces("abc", "", "]"), [(false, "abc".to_owned())]);
        assert_eq!(pieces("abc", "[", ""), [(false, "abc".to_owned())]);
    }

    proptest! {
        #[test]
        fn the_pieces_joined_give_the_text(text in "[\\[\\]x é]{0,30}") {
            let joined: String = pieces(&text, "[[", "]]").into_iter().map(|(_, piece)| piece).collect();
            prop_assert_eq!(joined, text);
        }

        #[test]
        fn every_envelope_ends_with_the_first_closer(text in "[\\[\\]x]{0,30}") {
            for (wrapped, piece) in pieces(&text, "[[", "]]") {
                if wrapped {
                    prop_assert!(piece.starts_with("[[") && piece.ends_with("]]"));
                    prop_assert_eq!(piece[2..].find("]]"), Some(piece.len() - 4));
                }
            }
        }
    }
}
