//! A source as what is to become of each of its characters: kept, blanked, replaced by one mark.
//!
//! Whatever is decided, line breaks stay and a character stays one character, so that every token that
//! is kept keeps its line and column. Only what is added moves the rest of its line, and is told.

use crate::sandbox::engine::added::{self, Added};
use oxc_ast::ast::Comment;
use oxc_span::Span;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Code,
    Comment,
    Blank,
    /// This one instead.
    Put(char),
}

/// Characters that can go on with a statement which ended at the line break before them.
const GOES_ON: [char; 8] = ['(', '[', '`', '+', '-', '*', '/', '<'];

/// The decisions, by byte of the text.
pub(super) struct Sheet<'s> {
    text: &'s str,
    marks: Vec<Mark>,
    added: Vec<(usize, String)>,
    /// Where a semicolon goes when what follows the second place would go on with the statement before.
    ends: Vec<(usize, usize)>,
    changed: bool,
}

impl<'s> Sheet<'s> {
    pub(super) fn new(text: &'s str, comments: &[Comment]) -> Self {
        let mut marks = vec![Mark::Code; text.len()];
        for comment in comments {
            marks[range(comment.span.start, comment.span.end)].fill(Mark::Comment);
        }
        Self { text, marks, added: Vec::new(), ends: Vec::new(), changed: false }
    }

    pub(super) fn blank(&mut self, from: u32, to: u32) {
        if from < to {
            self.marks[range(from, to)].fill(Mark::Blank);
            self.changed = true;
        }
    }

    /// Replaces the character that starts at `at`.
    pub(super) fn put(&mut self, at: u32, mark: char) {
        self.marks[at as usize] = Mark::Put(mark);
        self.changed = true;
    }

    /// Replaces the character that ends at `end`.
    pub(super) fn put_last(&mut self, end: u32, mark: char) {
        let last = self.last(end);
        self.put(last, mark);
    }

    /// Adds code in front of the character at `at`.
    pub(super) fn add(&mut self, at: u32, code: String) {
        self.added.push((at as usize, code));
    }

    /// Sees to it that what ends at `from` does not go on behind it: by a semicolon at `at`, if need be.
    pub(super) fn end(&mut self, at: u32, from: u32) {
        self.ends.push((at as usize, from as usize));
    }

    /// Where the character begins that ends at `end`.
    pub(super) fn last(&self, end: u32) -> u32 {
        let length = self.text[..end as usize].chars().next_back().map_or(0, char::len_utf8);
        end - u32::try_from(length).unwrap_or(0)
    }

    /// Whether the last character of a span is gone.
    pub(super) fn trails_off(&self, span: Span) -> bool {
        span.start < span.end && self.marks[self.last(span.end) as usize] == Mark::Blank
    }

    /// Whether there is a line break in between.
    pub(super) fn breaks(&self, from: u32, to: u32) -> bool {
        from < to && self.text[range(from, to)].contains(is_break)
    }

    /// The text from there on.
    pub(super) fn rest(&self, from: u32) -> &'s str {
        &self.text[from as usize..]
    }

    /// The first character from there on that is neither space nor comment nor blanked.
    pub(super) fn next(&self, from: u32) -> Option<(u32, char)> {
        self.text[from as usize..].char_indices().find_map(|(offset, char)| {
            let at = from as usize + offset;
            let shown = match self.marks[at] {
                Mark::Code if !char.is_whitespace() && char != '\u{feff}' => char,
                Mark::Put(mark) => mark,
                _ => return None,
            };
            Some((u32::try_from(at).ok()?, shown))
        })
    }

    /// Behind the next `char` of the code.
    pub(super) fn behind(&self, from: u32, char: u8) -> Option<u32> {
        let bytes = &self.text.as_bytes()[from as usize..];
        let found = bytes
            .iter()
            .zip(&self.marks[from as usize..])
            .position(|(&byte, &mark)| byte == char && mark == Mark::Code)?;
        Some(from + u32::try_from(found).ok()? + 1)
    }

    /// The words of the code in between.
    pub(super) fn words(&self, from: u32, to: u32) -> Vec<(Span, &'s str)> {
        let part = |at: usize| {
            let byte = self.text.as_bytes()[at];
            self.marks[at] == Mark::Code && (byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$')
        };
        let mut found = Vec::new();
        let mut at = from as usize;
        while at < to as usize {
            let end = (at..to as usize).find(|&at| !part(at)).unwrap_or(to as usize);
            if end > at
                && let (Ok(start), Ok(stop)) = (u32::try_from(at), u32::try_from(end))
            {
                found.push((Span::new(start, stop), &self.text[at..end]));
            }
            at = end.max(at + 1);
        }
        found
    }

    /// The units of the source with everything done, and what that added; `None` when there was nothing to
    /// do. The units may hold halves of characters, for which the text has a stand-in each.
    pub(super) fn finish(mut self, units: &[u16]) -> Option<(Vec<u16>, Added)> {
        for (at, from) in std::mem::take(&mut self.ends) {
            let next = u32::try_from(from).ok().and_then(|from| self.next(from));
            if next.is_some_and(|(_, char)| GOES_ON.contains(&char)) {
                self.marks[at] = Mark::Put(';');
            }
        }
        if !self.changed {
            return None;
        }
        self.added.sort_by_key(|&(at, _)| at);
        let mut added = self.added.into_iter().peekable();
        let mut placed = Vec::new();
        let mut out = Vec::with_capacity(units.len());
        let mut unit = 0;
        for (at, char) in self.text.char_indices() {
            while let Some((_, code)) = added.next_if(|&(place, _)| place <= at) {
                placed.push((out.len(), code));
            }
            let end = unit + char.len_utf16();
            match self.marks[at] {
                Mark::Code | Mark::Comment => out.extend_from_slice(&units[unit..end]),
                Mark::Blank if is_break(char) => out.extend_from_slice(&units[unit..end]),
                Mark::Blank => out.push(u16::from(b' ')),
                Mark::Put(mark) => out.extend(mark.encode_utf16(&mut [0; 2]).iter()),
            }
            unit = end;
        }
        placed.extend(added.map(|(_, code)| (out.len(), code)));
        Some(added::insert(&out, placed))
    }
}

fn range(from: u32, to: u32) -> std::ops::Range<usize> {
    from as usize..to as usize
}

/// Whether JavaScript counts a new line after it.
fn is_break(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}
