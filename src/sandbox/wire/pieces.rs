//! Cuts JSON text from a script into pieces that the host reads one at a time.
//!
//! Making JavaScript values of a long text in one go would keep the event loop of the host busy, so it
//! goes on between the pieces. A piece is a run of neighbouring items of one container, small enough to
//! be parsed at once; containers larger than that are opened and closed by steps of their own. The same
//! pass counts depth and parts, so that nothing is made of a text that is over a limit.
//!
//! This finds where to cut and checks what lies between the pieces. The pieces themselves are checked by
//! the parser that reads them: brackets pair up inside each, so none can reach out of its place.

/// What a text may be.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Deepest nesting.
    pub depth: usize,
    /// Parts: values, and three more for a key.
    pub parts: usize,
    /// Cost of a piece: its parts, and one for every [`BYTES_PER_COST`] bytes.
    pub piece: usize,
}

/// Bytes that cost as much as a part.
pub const BYTES_PER_COST: usize = 32;

/// Why a text is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CutError {
    /// Over [`Limits::depth`].
    #[error("nested too deeply")]
    TooDeep,
    /// Over [`Limits::parts`].
    #[error("too many parts")]
    TooMany,
    /// No JSON.
    #[error("not JSON")]
    Malformed,
}

/// Step: parse the text between brackets of the open container and add what it gives.
pub const RUN: u32 = 0;
/// Step: open an array in the open container. In an object the text is its key and colon.
pub const ARRAY: u32 = 1;
/// Step: open an object, likewise.
pub const OBJECT: u32 = 2;
/// Step: close the open container.
pub const CLOSE: u32 = 3;

/// A container the scan is in.
struct Frame {
    object: bool,
    /// A step has opened it.
    opened: bool,
    /// Where its bracket is.
    bracket: usize,
    /// The first item that no step covers, and how many complete ones follow.
    from: usize,
    items: usize,
    /// Where the current item begins.
    item: usize,
    /// Where the current item ended, when it was a container with steps of its own.
    closed: Option<usize>,
}

struct Cutter<'a> {
    text: &'a [u8],
    stack: Vec<Frame>,
    steps: Vec<u32>,
    /// Where the value ended, when steps made it.
    end: Option<usize>,
    parts: usize,
    /// Parts and place of the last cut.
    cut: (usize, usize),
}

/// The steps that make the value: triples of step, start and end of its text. None when the text is one
/// piece.
///
/// # Errors
/// [`CutError`] when it is over a limit, or when it is seen that it is no JSON.
pub fn cut(text: &[u8], limits: Limits) -> Result<Vec<u32>, CutError> {
    let mut cutter = Cutter { text, stack: Vec::new(), steps: Vec::new(), end: None, parts: 1, cut: (0, 0) };
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => at = cutter.end_of_string(at)?,
            b'[' | b'{' => cutter.open(at, byte == b'{', limits.depth)?,
            b']' | b'}' => cutter.close(at, byte == b'}')?,
            b':' => cutter.parts += 3,
            b',' => {
                cutter.parts += 1;
                cutter.comma(at, limits.piece)?;
            }
            _ => {}
        }
        if cutter.parts > limits.parts {
            return Err(CutError::TooMany);
        }
        at += 1;
    }
    match cutter.end {
        Some(end) if cutter.stack.is_empty() && cutter.blank(end, text.len()) => Ok(cutter.steps),
        None if cutter.steps.is_empty() => Ok(Vec::new()),
        _ => Err(CutError::Malformed),
    }
}

impl Cutter<'_> {
    fn blank(&self, from: usize, to: usize) -> bool {
        self.text[from..to].iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
    }

    /// Where the string that begins at `at` has its closing quote.
    fn end_of_string(&self, at: usize) -> Result<usize, CutError> {
        let mut at = at + 1;
        loop {
            match self.text.get(at) {
                None => return Err(CutError::Malformed),
                Some(b'"') => return Ok(at),
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
            }
        }
    }

    fn open(&mut self, at: usize, object: bool, depth: usize) -> Result<(), CutError> {
        if self.stack.len() >= depth {
            return Err(CutError::TooDeep);
        }
        if !matches!(self.text.get(at + 1), Some(b']' | b'}')) {
            self.parts += 1;
        }
        let item = at + 1;
        self.stack.push(Frame {
            object,
            opened: false,
            bracket: at,
            from: item,
            items: 0,
            item,
            closed: None,
        });
        Ok(())
    }

    fn comma(&mut self, at: usize, piece: usize) -> Result<(), CutError> {
        let frame = self.stack.last_mut().ok_or(CutError::Malformed)?;
        frame.item = at + 1;
        if let Some(closed) = frame.closed.take() {
            (frame.from, frame.items) = (at + 1, 0);
            if !self.blank(closed, at) {
                return Err(CutError::Malformed);
            }
        } else {
            frame.items += 1;
        }
        if self.parts - self.cut.0 + (at - self.cut.1) / BYTES_PER_COST >= piece {
            self.cut = (self.parts, at);
            self.flush()?;
        }
        Ok(())
    }

    /// Steps for everything seen so far: what is open is opened, what is complete becomes a run.
    fn flush(&mut self) -> Result<(), CutError> {
        let mut outer: Option<(bool, usize)> = None;
        for index in 0..self.stack.len() {
            let frame = &self.stack[index];
            let (object, bracket, opened) = (frame.object, frame.bracket, frame.opened);
            if !opened {
                let (keyed, item) = outer.unwrap_or((false, 0));
                if !keyed && !self.blank(item, bracket) {
                    return Err(CutError::Malformed);
                }
                self.step(if object { OBJECT } else { ARRAY }, item, bracket);
            }
            let frame = &mut self.stack[index];
            frame.opened = true;
            outer = Some((object, frame.item));
            let (from, to) = (frame.from, frame.item);
            if std::mem::take(&mut frame.items) > 0 {
                frame.from = to;
                self.step(RUN, from, to - 1);
            }
        }
        Ok(())
    }

    fn close(&mut self, at: usize, object: bool) -> Result<(), CutError> {
        let frame = self.stack.pop().filter(|frame| frame.object == object).ok_or(CutError::Malformed)?;
        if !frame.opened {
            return Ok(());
        }
        match frame.closed {
            Some(closed) if !self.blank(closed, at) => return Err(CutError::Malformed),
            Some(_) => {}
            // A comma came before it.
            None if self.blank(frame.from, at) => return Err(CutError::Malformed),
            None => self.step(RUN, frame.from, at),
        }
        self.step(CLOSE, at, at);
        match self.stack.last_mut() {
            Some(outer) => outer.closed = Some(at + 1),
            None => self.end = Some(at + 1),
        }
        Ok(())
    }

    fn step(&mut self, step: u32, from: usize, to: usize) {
        // Frames, and so texts, are far below 4 GiB.
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.steps.extend([step, place(from), place(to)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::wire::Json;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits { depth: 100, parts: 1000, piece: 4 };

    /// Reads a text the way the host does.
    fn read(text: &str, limits: Limits) -> Result<Json, CutError> {
        let parse = |text: &str| Json::parse(text.as_bytes()).map_err(|_| CutError::Malformed);
        let steps = cut(text.as_bytes(), limits)?;
        if steps.is_empty() {
            return parse(text);
        }
        let mut open: Vec<Json> = Vec::new();
        let mut keys = Vec::new();
        for step in steps.chunks(3) {
            let part = &text[step[1] as usize..step[2] as usize];
            match step[0] {
                RUN => {
                    let object = matches!(open.last(), Some(Json::Obj(_)));
                    let run = parse(&if object { format!("{{{part}}}") } else { format!("[{part}]") })?;
                    match (open.last_mut(), run) {
                        (Some(Json::Arr(items)), Json::Arr(more)) if !more.is_empty() => items.extend(more),
                        (Some(Json::Obj(entries)), Json::Obj(more)) if !more.is_empty() => {
                            entries.extend(more);
                        }
                        _ => return Err(CutError::Malformed),
                    }
                }
                CLOSE => {
                    let done = open.pop().unwrap();
                    let key = keys.pop().unwrap();
                    match (open.last_mut(), key) {
                        (Some(Json::Arr(items)), None) => items.push(done),
                        (Some(Json::Obj(entries)), Some(key)) => entries.push((key, done)),
                        (None, None) => return Ok(done),
                        _ => panic!("steps that do not fit"),
                    }
                }
                opened => {
                    keys.push(match open.last() {
                        Some(Json::Obj(_)) => match parse(&format!("{{{part}0}}"))? {
                            Json::Obj(mut entries) if entries.len() == 1 => {
                                entries.pop().map(|entry| entry.0)
                            }
                            _ => return Err(CutError::Malformed),
                        },
                        _ => None,
                    });
                    open.push(if opened == ARRAY { Json::Arr(Vec::new()) } else { Json::Obj(Vec::new()) });
                }
            }
        }
        panic!("steps without an end")
    }

    fn any_json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just("-0.5".to_owned()),
            Just("[]".to_owned()),
            Just(" {} ".to_owned()),
            Just(r#""a\"],[\\""#.to_owned()),
        ];
        leaf.prop_recursive(6, 200, 12, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..12)
                    .prop_map(|items| format!("[{}]", items.join(", "))),
                prop::collection::vec(inner, 0..12).prop_map(|items| {
                    let pairs: Vec<_> =
                        items.iter().enumerate().map(|(at, item)| format!("\"k{at}\" :{item}")).collect();
                    format!("{{ {} }}", pairs.join(","))
                }),
            ]
        })
    }

    #[test]
    fn long_texts_are_cut_and_short_ones_are_not() {
        assert_eq!(cut(b"[1,2]", LIMITS), Ok(vec![]));
        let steps = cut(b"[1,2,3,[4,5,6,7,8],9]", LIMITS).unwrap();
        let first = [[ARRAY, 0, 0], [RUN, 1, 4], [RUN, 5, 6], [ARRAY, 7, 7], [RUN, 8, 11]];
        let then = [[RUN, 12, 17], [CLOSE, 17, 17], [RUN, 19, 20], [CLOSE, 20, 20]];
        assert_eq!(steps, [first.as_flattened(), then.as_flattened()].concat());
    }

    #[test]
    fn limits_are_kept() {
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert_eq!(cut(deep(100).as_bytes(), LIMITS), Ok(vec![]));
        assert_eq!(cut(deep(101).as_bytes(), LIMITS), Err(CutError::TooDeep));
        let wide = |items: usize| format!("[{}]", vec!["0"; items].join(","));
        assert!(cut(wide(999).as_bytes(), LIMITS).is_ok());
        assert_eq!(cut(wide(1000).as_bytes(), LIMITS), Err(CutError::TooMany));
        let keys = |keys: usize| format!("{{{}}}", vec!["\"a\":0"; keys].join(","));
        assert!(cut(keys(249).as_bytes(), LIMITS).is_ok());
        assert_eq!(cut(keys(250).as_bytes(), LIMITS), Err(CutError::TooMany));
    }

    #[test]
    fn what_is_no_json_stays_none() {
        for text in [
            "[1,2,3,4,5,]",
            "[1,2,3,4,,5]",
            "[,1,2,3,4,5]",
            "[1,2,3,4,5}",
            "[1,2,3,4,5",
            "[1,2,3,4,5]]",
            "[1,2,3,4,5] 6",
            "[1,2,3,4,5],6",
            "1,2,3,4,5,6",
            "[1,2,3,4,x[5,6,7,8,9]]",
            "[1,2,3,4,[5,6,7,8,9]x]",
            "[1,2,3,4,[5,6,7,8,9]x,1]",
            r#"{"a":1,"b":2,"c":[1,2,3,4,5],}"#,
            r#"{"a":1,"b":2,c:[1,2,3,4,5]}"#,
            r#"{"a":1,"b":2,"c":"d":[1,2,3,4,5]}"#,
            r#"{"a":1,"b":2,[1,2,3,4,5]}"#,
            r#"[1,2,3,4,"5]"#,
            r#"{"a":1,"b":2,"c"[1,2,3,4,5]}"#,
            "[[1,2,3,4,5],[6,7,8,9,]]",
        ] {
            assert_eq!(read(text, LIMITS), Err(CutError::Malformed), "{text}");
        }
    }

    proptest! {
        #[test]
        fn pieces_give_the_value_of_the_whole(text in any_json(), piece in 1_usize..40) {
            let limits = Limits { depth: 100, parts: 100_000, piece };
            prop_assert_eq!(read(&text, limits).unwrap(), Json::parse(text.as_bytes()).unwrap());
        }

        #[test]
        fn a_change_is_read_as_the_whole_would_be(text in any_json(), at: prop::sample::Index, byte in prop::sample::select(b"[]{},:\"\\ 1".to_vec()), piece in 1_usize..10) {
            let mut bytes = text.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let text = String::from_utf8(bytes).unwrap();
            let limits = Limits { depth: 100, parts: 100_000, piece };
            prop_assert_eq!(read(&text, limits).ok(), Json::parse(text.as_bytes()).ok());
        }
    }
}
