//! What the engine noted about where an error came from.
//!
//! Its public `stack` names a place only where the instruction at fault has one of its own, and gives the
//! start of the enclosing function or nothing everywhere else. The note behind it knows more: how far the
//! function had come, and the places of the instructions before and after. The engine shows it to nobody
//! but its `Debug` form, which is what is read here; should that form change (the engine's version is
//! pinned, and the tests of this room would tell), errors are told without such a place.

use super::Place;
use crate::sandbox::engine::source;
use regex::Regex;
use std::fmt::Debug;
use std::sync::LazyLock;

/// A function of the script that was at work.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    /// The instruction it had come to.
    pub at: u32,
    /// From which instruction on which place holds, in order; `None` where none does.
    pub places: Vec<(u32, Option<Place>)>,
}

static FRAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"Bytecode \{ pc: (\d+), [^\[]*entries: \[([^\]]*)\], path: Path\("([^"]*)"\)"#)
        .expect("a valid pattern")
});
static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"Entry \{ pc: (\d+), position: (?:None|Some\(Position \{ line_number: (\d+), column_number: (\d+) \}\)) \}")
        .expect("a valid pattern")
});

/// The functions of the script that led to an error, the innermost first.
pub fn frames(note: &impl Debug) -> Vec<Frame> {
    read(&format!("{note:?}"))
}

fn read(text: &str) -> Vec<Frame> {
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    let mut frames: Vec<Frame> = FRAME
        .captures_iter(text)
        .filter(|frame| &frame[3] == source::PATH)
        .map(|frame| Frame {
            at: number(&frame[1]),
            places: ENTRY
                .captures_iter(&frame[2])
                .map(|entry| {
                    let place = entry.get(2).zip(entry.get(3));
                    (
                        number(&entry[1]),
                        place.map(|(line, column)| (number(line.as_str()), number(column.as_str()))),
                    )
                })
                .collect(),
        })
        .collect();
    frames.reverse();
    frames
}
