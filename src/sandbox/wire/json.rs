//! JSON text to a tree, as JavaScript means it.
//!
//! A parser of our own because the strings are JavaScript's: `JSON.stringify` writes lone surrogates
//! as `\ud800`, which UTF-8 parsers refuse, and numbers such as `-0` must stay what they are.
//! Nesting is limited, so that neither parsing nor dropping a tree can exhaust the stack.

/// Deepest nesting that crosses between host and script, in either direction.
pub const MAX_DEPTH: usize = 1000;

/// Text in the narrower of JavaScript's two representations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// Every unit is below 256.
    Latin1(Vec<u8>),
    /// UTF-16, possibly with lone surrogates.
    Wide(Vec<u16>),
}

impl Text {
    fn from_units(units: Vec<u16>) -> Self {
        if units.iter().all(|&unit| unit < 256) {
            Self::Latin1(units.into_iter().map(|unit| u8::try_from(unit).unwrap_or(b'?')).collect())
        } else {
            Self::Wide(units)
        }
    }

    /// As UTF-8, lone surrogates replaced.
    #[must_use]
    pub fn to_utf8(&self) -> String {
        match self {
            Self::Latin1(bytes) => bytes.iter().map(|&byte| char::from(byte)).collect(),
            Self::Wide(units) => String::from_utf16_lossy(units),
        }
    }
}

/// A JSON value; objects keep order and repeated keys.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number, `-0` included.
    Num(f64),
    /// A string.
    Str(Text),
    /// An array.
    Arr(Vec<Json>),
    /// An object.
    Obj(Vec<(Text, Json)>),
}

/// Why a text is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The text is malformed at this byte.
    #[error("malformed JSON at byte {0}")]
    Malformed(usize),
    /// Deeper than [`MAX_DEPTH`].
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

impl Json {
    /// Parses a text.
    ///
    /// # Errors
    /// [`JsonError`] when the text is not JSON or too deep.
    pub fn parse(text: &[u8]) -> Result<Self, JsonError> {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(0)?;
        parser.space();
        if parser.at == text.len() { Ok(value) } else { Err(parser.malformed()) }
    }

    /// The value under a key of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Self::Obj(entries) => entries
                .iter()
                .find(|(name, _)| matches!(name, Text::Latin1(bytes) if bytes == key.as_bytes()))
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// A number, when it is one.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Num(number) => Some(*number),
            _ => None,
        }
    }

    /// A text, when it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&Text> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn malformed(&self) -> JsonError {
        JsonError::Malformed(self.at)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.malformed())
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, JsonError> {
        if self.text[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.malformed())
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.space();
        match self.peek() {
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'"') => Ok(Json::Str(self.string()?)),
            Some(b'[' | b'{') if depth >= MAX_DEPTH => Err(JsonError::TooDeep),
            Some(b'[') => self.array(depth),
            Some(b'{') => self.object(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.malformed()),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Arr(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::Arr(items));
                }
                _ => return Err(self.malformed()),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut entries = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Obj(entries));
        }
        loop {
            self.space();
            let key = self.string()?;
            self.space();
            self.expect(b':')?;
            entries.push((key, self.value(depth + 1)?));
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Json::Obj(entries));
                }
                _ => return Err(self.malformed()),
            }
        }
    }

    fn number(&mut self) -> Result<Json, JsonError> {
        let from = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        std::str::from_utf8(&self.text[from..self.at])
            .ok()
            .and_then(|digits| digits.parse().ok())
            .map(Json::Num)
            .ok_or(JsonError::Malformed(from))
    }

    fn string(&mut self) -> Result<Text, JsonError> {
        self.expect(b'"')?;
        let from = self.at;
        let stop = memchr::memchr2(b'"', b'\\', &self.text[from..]).ok_or(JsonError::Malformed(from))? + from;
        if self.text[stop] == b'"' && self.text[from..stop].is_ascii() {
            self.at = stop + 1;
            return Ok(Text::Latin1(self.text[from..stop].to_vec()));
        }
        self.long_string()
    }

    /// A string with escapes or characters beyond ASCII; `at` is behind the opening quote.
    fn long_string(&mut self) -> Result<Text, JsonError> {
        let mut units = Vec::new();
        loop {
            let from = self.at;
            let stop =
                memchr::memchr2(b'"', b'\\', &self.text[from..]).ok_or(JsonError::Malformed(from))? + from;
            let piece =
                std::str::from_utf8(&self.text[from..stop]).map_err(|_| JsonError::Malformed(from))?;
            units.extend(piece.encode_utf16());
            self.at = stop + 1;
            if self.text[stop] == b'"' {
                return Ok(Text::from_units(units));
            }
            let escape = self.peek().ok_or(JsonError::Malformed(stop))?;
            self.at += 1;
            units.push(match escape {
                b'b' => 8,
                b'f' => 12,
                b'n' => 10,
                b'r' => 13,
                b't' => 9,
                b'"' | b'\\' | b'/' => u16::from(escape),
                b'u' => self.hex()?,
                _ => return Err(JsonError::Malformed(stop)),
            });
        }
    }

    fn hex(&mut self) -> Result<u16, JsonError> {
        let digits = self.text.get(self.at..self.at + 4).ok_or(JsonError::Malformed(self.at))?;
        let unit = digits
            .iter()
            .try_fold(0_u32, |unit, &digit| char::from(digit).to_digit(16).map(|value| unit * 16 + value));
        let unit = unit.and_then(|unit| u16::try_from(unit).ok()).ok_or(JsonError::Malformed(self.at))?;
        self.at += 4;
        Ok(unit)
    }
}

/// Appends a JSON string of UTF-16 units; lone surrogates become escapes, so the result is UTF-8.
pub fn push_units(out: &mut Vec<u8>, units: impl Iterator<Item = u16>) {
    out.push(b'"');
    for decoded in char::decode_utf16(units) {
        match decoded {
            Ok(plain @ ('"' | '\\')) => out.extend_from_slice(&[b'\\', plain as u8]),
            Ok('\n') => out.extend_from_slice(b"\\n"),
            Ok(control) if u32::from(control) < 0x20 => escape(out, control as u16),
            Ok(other) => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(lone) => escape(out, lone.unpaired_surrogate()),
        }
    }
    out.push(b'"');
}

/// Appends a JSON string of Latin-1 bytes.
pub fn push_latin1(out: &mut Vec<u8>, bytes: &[u8]) {
    let simple = |byte: &u8| (0x20..0x80).contains(byte) && *byte != b'"' && *byte != b'\\';
    if bytes.iter().all(simple) {
        out.push(b'"');
        out.extend_from_slice(bytes);
        out.push(b'"');
    } else {
        push_units(out, bytes.iter().map(|&byte| u16::from(byte)));
    }
}

fn escape(out: &mut Vec<u8>, unit: u16) {
    out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
}

/// Appends a finite number so that `JSON.parse` gives back the very same one.
pub fn push_number(out: &mut Vec<u8>, number: f64) {
    let text = if number.abs() < 1e15 && number.fract() == 0.0 {
        format!("{number:.0}")
    } else {
        format!("{number:e}")
    };
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn latin(text: &str) -> Json {
        Json::Str(Text::Latin1(text.as_bytes().to_vec()))
    }

    #[test]
    fn javascripts_own_texts_are_read() {
        assert_eq!(
            Json::parse(b" [1, -0 ,1e3] ").unwrap(),
            Json::Arr(vec![Json::Num(1.0), Json::Num(-0.0), Json::Num(1000.0)])
        );
        assert_eq!(Json::parse(br#""a\u00e9\n""#).unwrap(), Json::Str(Text::Latin1(vec![b'a', 0xe9, 10])));
        assert_eq!(
            Json::parse(br#""\ud800x""#).unwrap(),
            Json::Str(Text::Wide(vec![0xd800, u16::from(b'x')]))
        );
        let object = Json::parse(br#"{"b":1,"__proto__":{"x":null},"1":true}"#).unwrap();
        let Json::Obj(entries) = &object else { panic!("an object") };
        assert_eq!(entries.iter().map(|(key, _)| key.to_utf8()).collect::<Vec<_>>(), ["b", "__proto__", "1"]);
        assert_eq!(object.get("b").and_then(Json::as_f64), Some(1.0));
        assert_eq!(Json::parse(br#""plain""#).unwrap(), latin("plain"));
    }

    #[test]
    fn malformed_and_deep_texts_are_refused() {
        for text in
            ["", "[", "[1,]", "{\"a\"}", "\"\\x\"", "\"\\u12\"", "nul", "1 2", "--1", "\"open", "{a:1}", "+1"]
        {
            assert!(Json::parse(text.as_bytes()).is_err(), "{text}");
        }
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(Json::parse(deep(MAX_DEPTH).as_bytes()).is_ok());
        assert_eq!(Json::parse(deep(MAX_DEPTH + 1).as_bytes()), Err(JsonError::TooDeep));
    }

    proptest! {
        #[test]
        fn texts_of_any_units_survive(units in proptest::collection::vec(any::<u16>(), 0..40)) {
            let mut out = Vec::new();
            push_units(&mut out, units.iter().copied());
            let Json::Str(text) = Json::parse(&out).unwrap() else { panic!("a string") };
            let back = match text {
                Text::Latin1(bytes) => bytes.into_iter().map(u16::from).collect(),
                Text::Wide(wide) => wide,
            };
            prop_assert_eq!(back, units);
        }

        #[test]
        fn numbers_survive(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite());
            let mut out = Vec::new();
            push_number(&mut out, number);
            let Json::Num(back) = Json::parse(&out).unwrap() else { panic!("a number") };
            prop_assert_eq!(back.to_bits(), number.to_bits());
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Json::parse(&bytes);
        }
    }
}
