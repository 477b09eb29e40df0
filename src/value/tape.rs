//! JSON text from a tape: what a walk over a value has met, one code after the other.
//!
//! An engine that walks a value and writes its JSON at once looks at every unit of every text for what has to be
//! escaped, one by one. Here the walk only notes what there is: marks and small numbers on the tape, the texts
//! side by side in one long text. The writing, and the search for what has to be escaped, is done here, many bytes
//! at a time. The text is what `JSON.stringify` writes for the same value (ECMA-262, 25.5.2).
//!
//! A text that is all ASCII comes and goes as bytes, any other as UTF-16 ([`Unit`]).
//!
//! Invariant: a tape that does not fit its texts is an error, never a panic, and what was written before it is then
//! of no use.

use thiserror::Error;

/// Codes of the tape; those from [`FIRST_KEY`] on are keys by their numbers.
mod code {
    pub(super) const NULL: u32 = 0;
    pub(super) const TRUE: u32 = 1;
    pub(super) const FALSE: u32 = 2;
    pub(super) const OBJECT: u32 = 3;
    pub(super) const OBJECT_END: u32 = 4;
    pub(super) const LIST: u32 = 5;
    pub(super) const LIST_END: u32 = 6;
    /// The bits of an `i32` follow.
    pub(super) const INTEGER: u32 = 7;
    /// The next of the doubles, which is finite.
    pub(super) const DOUBLE: u32 = 8;
    /// A text; its length follows.
    pub(super) const TEXT: u32 = 9;
    /// A part of a text; its length follows. More parts come, and then [`TEXT`] with the last.
    pub(super) const PART: u32 = 10;
    /// A key that has no number; its length follows.
    pub(super) const KEY: u32 = 11;
}

/// Codes of keys begin here.
pub const FIRST_KEY: u32 = 16;

/// A byte of ASCII, or a UTF-16 unit.
pub trait Unit: Copy + From<u8> + Into<u16> {}
impl Unit for u8 {}
impl Unit for u16 {}

/// What was recorded since the last time.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a, U> {
    /// Codes, and the numbers behind some of them.
    pub tape: &'a [u32],
    /// The numbers that are no integers of 32 bits.
    pub doubles: &'a [f64],
    /// All texts, side by side. No pair of surrogates is cut in two by the end of a part.
    pub texts: &'a [U],
}

/// A tape that nobody could have recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the tape of a JSON text is damaged")]
pub struct Damaged;

/// Writes the text of one value, chunk by chunk.
#[derive(Debug)]
pub struct Writer<U> {
    /// Key texts as they are written, by their numbers.
    keys: Vec<Vec<U>>,
    /// Something stands before the next value or key that a comma has to part from it.
    follows: bool,
    /// The first part of a text was written.
    inside: bool,
}

impl<U> Default for Writer<U> {
    fn default() -> Self {
        Self { keys: Vec::new(), follows: false, inside: false }
    }
}

impl Writer<u8> {
    /// One that goes on where this one is, in UTF-16.
    #[must_use]
    pub fn widened(&self) -> Writer<u16> {
        let keys = self.keys.iter().map(|key| key.iter().copied().map(u16::from).collect());
        Writer { keys: keys.collect(), follows: self.follows, inside: self.inside }
    }
}

impl<U: Unit> Writer<U> {
    /// Gives a key the next number.
    pub fn add_key(&mut self, key: &[U]) {
        let mut text = Vec::with_capacity(key.len() + 4);
        add_key_text(key, &mut text);
        self.keys.push(text);
    }

    /// How many keys have a number.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// Takes the numbers back that were given since there were so many.
    pub fn forget_keys(&mut self, keys: usize) {
        self.keys.truncate(keys);
    }

    /// Adds what a chunk stands for.
    ///
    /// # Errors
    /// [`Damaged`].
    pub fn write(&mut self, chunk: Chunk<'_, U>, out: &mut Vec<U>) -> Result<(), Damaged> {
        let mut tape = chunk.tape.iter().copied();
        let mut doubles = chunk.doubles.iter().copied();
        let mut texts = chunk.texts;
        let mut text = |length: Option<u32>| {
            let (text, rest) = texts.split_at_checked(length.ok_or(Damaged)? as usize).ok_or(Damaged)?;
            texts = rest;
            Ok(text)
        };
        while let Some(code) = tape.next() {
            match code {
                code::OBJECT_END | code::LIST_END => {
                    add(if code == code::LIST_END { b"]" } else { b"}" }, out);
                    self.follows = true;
                }
                code::TEXT | code::PART => {
                    if !self.inside {
                        self.part(out);
                        add(b"\"", out);
                    }
                    escape(text(tape.next())?, out);
                    self.inside = code == code::PART;
                    if !self.inside {
                        add(b"\"", out);
                        self.follows = true;
                    }
                }
                code::KEY => {
                    self.part(out);
                    add_key_text(text(tape.next())?, out);
                    self.follows = false;
                }
                FIRST_KEY.. => {
                    self.part(out);
                    out.extend_from_slice(self.keys.get((code - FIRST_KEY) as usize).ok_or(Damaged)?);
                    self.follows = false;
                }
                code::OBJECT | code::LIST => {
                    self.part(out);
                    add(if code == code::LIST { b"[" } else { b"{" }, out);
                    self.follows = false;
                }
                _ => {
                    self.part(out);
                    match code {
                        code::NULL => add(b"null", out),
                        code::TRUE => add(b"true", out),
                        code::FALSE => add(b"false", out),
                        code::INTEGER => {
                            let number = tape.next().ok_or(Damaged)?.cast_signed();
                            add(itoa::Buffer::new().format(number).as_bytes(), out);
                        }
                        code::DOUBLE => {
                            let number = doubles.next().ok_or(Damaged)?;
                            add(ryu_js::Buffer::new().format(number).as_bytes(), out);
                        }
                        _ => return Err(Damaged),
                    }
                    self.follows = true;
                }
            }
        }
        Ok(())
    }

    fn part(&self, out: &mut Vec<U>) {
        if self.follows {
            add(b",", out);
        }
    }
}

/// Adds ASCII.
fn add<U: Unit>(text: &[u8], out: &mut Vec<U>) {
    out.extend(text.iter().copied().map(U::from));
}

fn add_key_text<U: Unit>(key: &[U], out: &mut Vec<U>) {
    add(b"\"", out);
    escape(key, out);
    add(b"\":", out);
}

/// Units that are looked at together.
const BLOCK: usize = 32;

/// Whether a unit is written otherwise, or may be: of the surrogates, those that are alone.
#[allow(clippy::needless_bitwise_bool, reason = "without branches, so that compilers make vector code of it")]
fn is_special(unit: u16) -> bool {
    (unit < 0x20) | (unit == 0x22) | (unit == 0x5C) | (unit & 0xF800 == 0xD800)
}

/// Adds the text with what JSON escapes escaped.
fn escape<U: Unit>(text: &[U], out: &mut Vec<U>) {
    out.reserve(text.len());
    // Where what was not added yet begins, and where the search goes on.
    let (mut from, mut at) = (0, 0);
    while at < text.len() {
        if let Some(block) = text.get(at..at + BLOCK)
            && !block.iter().fold(false, |any, unit| any | is_special((*unit).into()))
        {
            at += BLOCK;
            continue;
        }
        // A special unit is near: up to it, or to the end of the block, one by one.
        let end = text.len().min(at + BLOCK);
        at = (at..end).find(|at| is_special(text[*at].into())).unwrap_or(end);
        if at == end {
            continue;
        }
        let unit: u16 = text[at].into();
        if is_pair(unit, text.get(at + 1).map(|next| (*next).into())) {
            at += 2;
            continue;
        }
        out.extend_from_slice(&text[from..at]);
        add_escaped(unit, out);
        at += 1;
        from = at;
    }
    out.extend_from_slice(&text[from..]);
}

fn is_pair(unit: u16, next: Option<u16>) -> bool {
    unit & 0xFC00 == 0xD800 && next.is_some_and(|next| next & 0xFC00 == 0xDC00)
}

fn add_escaped<U: Unit>(unit: u16, out: &mut Vec<U>) {
    let short = match unit {
        0x22 => b'"',
        0x5C => b'\\',
        0x08 => b'b',
        0x09 => b't',
        0x0A => b'n',
        0x0C => b'f',
        0x0D => b'r',
        _ => {
            let digit = |shift: u16| b"0123456789abcdef"[usize::from(unit >> shift & 15)];
            return add(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)], out);
        }
    };
    add(&[b'\\', short], out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(keys: &[&str], chunks: &[Chunk<'_, u8>]) -> Result<String, Damaged> {
        let mut writer = Writer::default();
        let mut out = Vec::new();
        for key in keys {
            writer.add_key(key.as_bytes());
        }
        let mut wide = writer.widened();
        let mut out_wide = Vec::new();
        for chunk in chunks {
            writer.write(*chunk, &mut out)?;
            let Chunk { tape, doubles, texts } = *chunk;
            let texts: Vec<u16> = texts.iter().copied().map(u16::from).collect();
            wide.write(Chunk { tape, doubles, texts: &texts }, &mut out_wide)?;
        }
        let text = String::from_utf8(out).expect("ASCII");
        assert_eq!(text, String::from_utf16(&out_wide).expect("ASCII"));
        Ok(text)
    }

    #[test]
    fn every_code_in_one_value() {
        let tape = [
            5,
            3,
            16,
            7,
            0,
            17,
            1,
            4,
            8,
            7,
            (-5_i32).cast_unsigned(),
            0,
            2,
            9,
            2,
            3,
            4,
            5,
            6,
            3,
            11,
            3,
            10,
            1,
            9,
            2,
            16,
            9,
            0,
            4,
            6,
        ];
        let chunk = Chunk { tape: &tape, doubles: &[1e21], texts: b"hik\"yxyz" };
        let text = written(&["a", "b\n"], &[chunk]).expect("right");
        assert_eq!(text, r#"[{"a":0,"b\n":true},1e+21,-5,null,false,"hi",{},[],{"k\"y":"xyz","a":""}]"#);
    }

    #[test]
    fn texts_and_containers_go_on_in_the_next_chunk() {
        let first = Chunk { tape: &[5, 10, 2], doubles: &[], texts: b"ab" };
        let next = Chunk { tape: &[10, 1], doubles: &[], texts: b"\"" };
        let last = Chunk { tape: &[9, 1, 8, 6], doubles: &[0.1], texts: b"c" };
        assert_eq!(written(&[], &[first, next, last]).expect("right"), r#"["ab\"c",0.1]"#);
    }

    #[test]
    fn damage_is_an_error() {
        let cases: [(&[u32], &[f64], &[u8]); 8] = [
            (&[7], &[], b""),
            (&[8], &[], b""),
            (&[9], &[], b""),
            (&[9, 3], &[], b"ab"),
            (&[10, u32::MAX], &[], b"ab"),
            (&[11, 1], &[], b""),
            (&[12], &[], b""),
            (&[17], &[], b""),
        ];
        for (tape, doubles, texts) in cases {
            assert_eq!(written(&["a"], &[Chunk { tape, doubles, texts }]), Err(Damaged), "{tape:?}");
        }
    }

    fn add_quoted<U: Unit>(text: &[U], out: &mut Vec<U>) {
        add(b"\"", out);
        escape(text, out);
        add(b"\"", out);
    }

    /// Long stretches of nothing special between special things.
    fn text() -> impl Strategy<Value = String> {
        let some = prop_oneof![
            "[a-z]{0,70}",
            "[\\x00-\\x7f]{0,3}",
            "[\"\\\\]{1,2}",
            Just("\u{1F600}".to_owned()),
            Just("\u{e9}\u{2028}".to_owned()),
        ];
        proptest::collection::vec(some, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn texts_are_escaped_as_json_wants(text in text()) {
            let json = serde_json::to_string(&text).expect("a text");
            let mut wide = Vec::new();
            add_quoted(&text.encode_utf16().collect::<Vec<_>>(), &mut wide);
            prop_assert_eq!(String::from_utf16(&wide).expect("whole"), json.clone());
            if text.is_ascii() {
                let mut bytes = Vec::new();
                add_quoted(text.as_bytes(), &mut bytes);
                prop_assert_eq!(String::from_utf8(bytes).expect("ASCII"), json);
            }
        }

        #[test]
        fn surrogates_that_are_alone_are_escaped(units in proptest::collection::vec(prop_oneof![0xD7FE_u16..0xE002, Just(97)], 0..80)) {
            let mut out = Vec::new();
            escape(&units, &mut out);
            let expected: String = char::decode_utf16(units)
                .map(|unit| unit.map_or_else(|alone| format!("\\u{:04x}", alone.unpaired_surrogate()), String::from))
                .collect();
            prop_assert_eq!(String::from_utf16(&out).expect("whole"), expected);
        }

        #[test]
        fn no_tape_panics(tape in proptest::collection::vec(0_u32..24, 0..60), doubles in proptest::collection::vec(-1e9..1e9, 0..4)) {
            let chunk = Chunk { tape: &tape, doubles: &doubles, texts: b"some text to take from" };
            let _ = written(&["a", "b"], &[chunk, chunk]);
        }
    }
}
