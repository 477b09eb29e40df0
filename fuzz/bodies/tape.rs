//! What the fuzz target of the JSON writer checks: it takes any bytes and panics on a broken promise. Shared by
//! the libFuzzer target and by `tests/fuzz_smoke_tape.rs`.

use ferrule::value::tape::{Chunk, Damaged, FIRST_KEY, Unit, Writer};
use serde_json::Value;

/// Keys with a number; few, so that both ways are taken.
const NUMBERED: usize = 3;
/// Units of a part, few as well.
const PART: usize = 5;

/// A walk of a value, as JavaScript records it, cut into chunks that are written one by one.
struct Walk<U> {
    writer: Writer<U>,
    keys: Vec<String>,
    tape: Vec<u32>,
    doubles: Vec<f64>,
    texts: Vec<U>,
    units: fn(&str) -> Vec<U>,
    out: Vec<U>,
    /// Codes of a chunk.
    most: usize,
}

impl<U: Unit> Walk<U> {
    fn flush(&mut self) {
        let Self { writer, tape, doubles, texts, out, .. } = self;
        writer.write(Chunk { tape, doubles, texts }, out).expect("a tape that was recorded");
        tape.clear();
        doubles.clear();
        texts.clear();
    }

    fn code(&mut self, codes: &[u32]) {
        self.tape.extend(codes);
        if self.tape.len() >= self.most {
            self.flush();
        }
    }

    fn text(&mut self, code: u32, text: &str) {
        let units = (self.units)(text);
        let mut rest = &units[..];
        while code == 9 && rest.len() > PART {
            let last: u16 = rest[PART - 1].into();
            let part = if last & 0xFC00 == 0xD800 { PART - 1 } else { PART };
            self.texts.extend(&rest[..part]);
            self.code(&[10, u32::try_from(part).expect("small")]);
            rest = &rest[part..];
        }
        self.texts.extend(rest);
        self.code(&[code, u32::try_from(rest.len()).expect("small")]);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.code(&[0]),
            Value::Bool(true) => self.code(&[1]),
            Value::Bool(false) => self.code(&[2]),
            Value::Number(number) => {
                if let Some(number) = number.as_i64().and_then(|number| i32::try_from(number).ok()) {
                    self.code(&[7, number.cast_unsigned()]);
                } else {
                    self.doubles.push(number.as_f64().expect("a double"));
                    self.code(&[8]);
                }
            }
            Value::String(text) => self.text(9, text),
            Value::Array(items) => {
                self.code(&[5]);
                for item in items {
                    self.value(item);
                }
                self.code(&[6]);
            }
            Value::Object(fields) => {
                self.code(&[3]);
                for (key, value) in fields {
                    match self.keys.iter().position(|known| known == key) {
                        Some(at) => self.code(&[FIRST_KEY + u32::try_from(at).expect("small")]),
                        None if self.keys.len() < NUMBERED => {
                            self.keys.push(key.clone());
                            self.writer.add_key(&(self.units)(key));
                            self.code(&[FIRST_KEY + u32::try_from(self.keys.len() - 1).expect("small")]);
                        }
                        None => self.text(11, key),
                    }
                    self.value(value);
                }
                self.code(&[4]);
            }
        }
    }
}

fn written<U: Unit>(value: &Value, most: usize, units: fn(&str) -> Vec<U>) -> Vec<U> {
    let (keys, tape, doubles, texts, out) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut walk = Walk { writer: Writer::default(), keys, tape, doubles, texts, units, out, most };
    walk.value(value);
    walk.flush();
    walk.out
}

/// What doubles cannot tell apart.
fn in_doubles(value: Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        Value::Array(items) => items.into_iter().map(in_doubles).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, in_doubles(value))).collect(),
        other => other,
    }
}

/// The text of a recorded value is JSON of that value, and no tape whatever panics.
pub fn json_tape(data: &[u8]) {
    let most = usize::from(data.first().copied().unwrap_or(0)) % 7 + 1;
    if let Ok(value) = serde_json::from_slice::<Value>(data) {
        let text =
            String::from_utf16(&written(&value, most, |text| text.encode_utf16().collect())).expect("whole");
        let again: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(in_doubles(again), in_doubles(value.clone()));
        if text.is_ascii() {
            assert_eq!(written(&value, most, |text| text.as_bytes().to_vec()), text.as_bytes());
        }
    }
    let tape: Vec<u32> = data.iter().map(|byte| u32::from(*byte) % 20).collect();
    let mut writer = Writer::default();
    writer.add_key(b"key");
    let _: Result<(), Damaged> =
        writer.write(Chunk { tape: &tape, doubles: &[0.5], texts: data }, &mut Vec::new());
}
