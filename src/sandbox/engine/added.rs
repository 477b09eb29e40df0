//! Code that is added to the model's, and where it moved what stands behind it in its line.

use boa_engine::ast::Position;

/// Line and column, both from 1; columns count characters, as the engine does.
pub type Place = (u32, u32);

/// What one pass added, so that places in its outcome can be told in what it was given.
#[derive(Debug, Default)]
pub struct Added(Vec<Piece>);

#[derive(Debug)]
struct Piece {
    at: Place,
    length: u32,
}

/// Puts pieces into the code, each in front of the unit at its index, those of one index in the order given.
/// None of them holds a line break.
pub fn insert(code: &[u16], mut pieces: Vec<(usize, String)>) -> (Vec<u16>, Added) {
    pieces.sort_by_key(|(index, _)| *index);
    let mut out = Vec::with_capacity(code.len() + pieces.iter().map(|(_, piece)| piece.len()).sum::<usize>());
    let mut added = Vec::with_capacity(pieces.len());
    let (mut at, mut place) = (0, (1, 1));
    for (index, piece) in pieces {
        for unit in char::decode_utf16(code[at..index].iter().copied()) {
            place = if unit.is_ok_and(breaks) { (place.0 + 1, 1) } else { (place.0, place.1 + 1) };
        }
        out.extend_from_slice(&code[at..index]);
        out.extend(piece.encode_utf16());
        added.push(Piece { at: place, length: u32::try_from(piece.chars().count()).unwrap_or(0) });
        at = index;
    }
    out.extend_from_slice(&code[at..]);
    (out, Added(added))
}

/// A place as the engine's tree tells it.
pub fn place(at: Position) -> Place {
    (at.line_number(), at.column_number())
}

/// Whether the engine begins a line behind this character.
pub fn breaks(char: char) -> bool {
    matches!(char, '\n' | '\u{2028}' | '\u{2029}')
}

/// The index of a place in the code.
pub fn index_of(code: &[u16], (line, column): Place) -> Option<usize> {
    let is_break = |unit: &u16| char::from_u32(u32::from(*unit)).is_some_and(breaks);
    let start = match line {
        0 => return None,
        1 => 0,
        _ => code.iter().enumerate().filter(|(_, unit)| is_break(unit)).nth(line as usize - 2)?.0 + 1,
    };
    let length: usize = char::decode_utf16(code[start..].iter().copied())
        .take(column.checked_sub(1)? as usize)
        .map(|char| char.map_or(1, char::len_utf16))
        .sum();
    Some(start + length)
}

impl Added {
    /// Where a place of the outcome was before; what was added itself stands where it was put.
    pub fn before(&self, (line, column): Place) -> Place {
        let mut moved = 0;
        for piece in self.0.iter().filter(|piece| piece.at.0 == line) {
            let start = piece.at.1 + moved;
            if column < start {
                break;
            }
            if column < start + piece.length {
                return piece.at;
            }
            moved += piece.length;
        }
        (line, column - moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    #[test]
    fn places_are_told_as_they_were() {
        let code = units("a;\u{1F600}b\u{2028}c d");
        let (out, added) =
            insert(&code, vec![(9 - 2, "<2>".to_owned()), (2, "<1>".to_owned()), (4, "+".to_owned())]);
        assert_eq!(String::from_utf16(&out).unwrap(), "a;<1>\u{1F600}+b\u{2028}c<2> d");
        for (now, before) in [
            ((1, 2), (1, 2)),
            ((1, 3), (1, 3)),
            ((1, 5), (1, 3)),
            ((1, 6), (1, 3)),
            ((1, 7), (1, 4)),
            ((1, 8), (1, 4)),
            ((2, 1), (2, 1)),
            ((2, 3), (2, 2)),
            ((2, 5), (2, 2)),
            ((2, 6), (2, 3)),
            ((3, 9), (3, 9)),
        ] {
            assert_eq!(added.before(now), before, "{now:?}");
        }
    }

    #[test]
    fn an_index_is_found_by_its_place() {
        let code = units("a\n\u{1F600}b\r\nc");
        for (place, index) in [((1, 1), 0), ((2, 1), 2), ((2, 2), 4), ((3, 1), 7)] {
            assert_eq!(index_of(&code, place), Some(index), "{place:?}");
        }
        assert_eq!(index_of(&code, (9, 1)), None);
        assert_eq!(index_of(&code, (0, 1)), None);
        assert_eq!(index_of(&code, (1, 0)), None);
    }
}
