//! Frames: kinds, headers, batches of calls and answers.

use std::time::Duration;

/// Bytes before the payload of every frame.
pub const HEADER: usize = 5;

/// Bytes before the value of every answer.
const ANSWER: usize = 10;

/// Host to script: what to run, JSON of [`super::Start`]. Sent once, first.
pub const START: u8 = 1;
/// Host to script: settled tool calls, see [`Answers`].
pub const ANSWERS: u8 = 2;

/// Script to host: tool calls, see [`push_call`].
pub const CALLS: u8 = 16;
/// Script to host: console lines, see [`push_line`].
pub const CONSOLE: u8 = 17;
/// Script to host, final: a [`Format`] byte and the value the script returned.
pub const RESULT: u8 = 18;
/// Script to host, final: JSON `{kind, name, message}` of what went wrong.
pub const FAILURE: u8 = 19;
/// Script to host, final: `process.exit` was called; the code as i32 LE.
pub const EXIT: u8 = 20;
/// Script to host: nothing is left that could settle the script; empty. Sent at most once.
pub const IDLE: u8 = 21;
/// Script to host, final: the process refused to run anything; UTF-8 text says why.
pub const REFUSED: u8 = 22;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Format {
    /// JSON text that says the value exactly.
    Json = 0,
    /// JSON text of the table form: `[root, node, node, …]`, for cycles, `Map`, `undefined` and so on.
    Table = 1,
    /// `undefined`; no bytes follow.
    Undefined = 2,
    /// No value: UTF-8 text that says why there is none.
    Refused = 3,
}

impl Format {
    /// The format a byte stands for.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0 => Self::Json,
            1 => Self::Table,
            2 => Self::Undefined,
            3 => Self::Refused,
            _ => return None,
        })
    }
}

/// What waiting for the host yielded.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    /// A frame: its kind and payload.
    Frame(u8, Vec<u8>),
    /// The time given ran out first.
    Timeout,
    /// The host is gone or spoke nonsense.
    Closed,
}

/// The script's end of the line.
pub trait Port {
    /// Sends one frame. A host that is gone is noticed by the next [`Port::receive`].
    fn send(&mut self, kind: u8, payload: &[u8]);
    /// Waits for a frame, for ever when `wait` is `None`.
    fn receive(&mut self, wait: Option<Duration>) -> Received;
    /// Ends the process, once the host has closed its end. Returns only where there is no process to end
    /// (tests).
    fn exit(&mut self, code: i32);
    /// Bytes the process may still allocate.
    fn room(&self) -> usize {
        usize::MAX
    }
}

/// The header of a frame.
///
/// # Panics
/// Never for payloads under 4 GiB, which every caller has capped long before.
#[must_use]
pub fn header(kind: u8, length: usize) -> [u8; HEADER] {
    let length = u32::try_from(length).expect("frames are capped far below 4 GiB").to_le_bytes();
    [length[0], length[1], length[2], length[3], kind]
}

fn push_u32(out: &mut Vec<u8>, value: usize) {
    out.extend_from_slice(&u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes());
}

/// Appends one call to a [`CALLS`] payload: `[id u32][tool u32][format u8][length u32][bytes]`.
/// `tool` is the index in the list of names the host sent.
pub fn push_call(out: &mut Vec<u8>, id: u32, tool: u32, format: Format, bytes: &[u8]) {
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&tool.to_le_bytes());
    out.push(format as u8);
    push_u32(out, bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends one line to a [`CONSOLE`] payload: `[level u8][length u32][UTF-8]`.
pub fn push_line(out: &mut Vec<u8>, level: u8, text: &str) {
    out.push(level);
    push_u32(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

/// A whole [`ANSWERS`] frame with the one answer that call `id` gave a value, whose JSON text is `json`.
///
/// # Panics
/// Never for texts under 4 GiB, which every caller has capped long before.
#[must_use]
pub fn answer_frame(id: u32, json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER + ANSWER + json.len());
    out.extend_from_slice(&header(ANSWERS, ANSWER + json.len()));
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&[1, Format::Json as u8]);
    push_u32(&mut out, json.len());
    out.extend_from_slice(json);
    out
}

/// One settled call.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The id the call was sent with.
    pub id: u32,
    /// Whether it was fulfilled. A rejection carries its message as UTF-8 under [`Format::Refused`].
    pub ok: bool,
    /// How `bytes` is written.
    pub format: Format,
    /// The value.
    pub bytes: &'a [u8],
}

/// Reads an [`ANSWERS`] payload: repeated `[id u32][ok u8][format u8][length u32][bytes]`. Ends early
/// at the first malformed entry.
#[derive(Debug)]
pub struct Answers<'a>(&'a [u8]);

impl<'a> Answers<'a> {
    /// Over a payload.
    #[must_use]
    pub fn new(payload: &'a [u8]) -> Self {
        Self(payload)
    }
}

impl<'a> Iterator for Answers<'a> {
    type Item = Answer<'a>;

    fn next(&mut self) -> Option<Answer<'a>> {
        let (head, rest) = self.0.split_at_checked(ANSWER)?;
        let id = u32::from_le_bytes(head[..4].try_into().ok()?);
        let length = u32::from_le_bytes(head[6..].try_into().ok()?) as usize;
        let (bytes, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(Answer { id, ok: head[4] == 1, format: Format::from_byte(head[5])?, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn answers_are_read_back() {
        let mut payload = Vec::new();
        for (id, ok, text) in [(1_u32, 1_u8, "5"), (7, 0, "no")] {
            payload.extend_from_slice(&id.to_le_bytes());
            payload.extend_from_slice(&[ok, if ok == 1 { 0 } else { 3 }]);
            payload.extend_from_slice(&u32::try_from(text.len()).unwrap().to_le_bytes());
            payload.extend_from_slice(text.as_bytes());
        }
        let all: Vec<_> = Answers::new(&payload).collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0], Answer { id: 1, ok: true, format: Format::Json, bytes: b"5" });
        assert_eq!(all[1], Answer { id: 7, ok: false, format: Format::Refused, bytes: b"no" });
    }

    #[test]
    fn a_frame_of_one_answer_is_read_back() {
        let frame = answer_frame(0x0102_0304, br#"{"i":1}"#);
        let (head, payload) = frame.split_at(HEADER);
        assert_eq!(head, header(ANSWERS, payload.len()));
        let all: Vec<_> = Answers::new(payload).collect();
        let bytes = &br#"{"i":1}"#[..];
        assert_eq!(all, [Answer { id: 0x0102_0304, ok: true, format: Format::Json, bytes }]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let total: usize = Answers::new(&bytes).map(|answer| answer.bytes.len() + 10).sum();
            prop_assert!(total <= bytes.len());
        }
    }
}
