//! The ten imperative patterns as data (spec 03 section 3.1).
//!
//! A pattern is a list of alternatives, an alternative a list of [`Step`]s over the fold of a text. The same
//! patterns exist as JavaScript expressions in `js/inbound/catalogue.ts`; a differential test keeps
//! the two alike. No step backtracks more than one word, so matching at one place is bounded.

use super::fold::{Unit, is_word};

/// What the built-in patterns are replaced with.
pub const MASK: &str = "[REDACTED:imperative-pattern]";

/// How many patterns there are.
pub const COUNT: usize = 10;

/// The ids, in catalogue order.
pub const NAMES: [&str; COUNT] = [
    "ignore-previous-instructions",
    "forget-instructions",
    "override-instructions",
    "system-prompt-leak",
    "role-reassignment",
    "developer-mode",
    "jailbreak-marker",
    "tool-call-injection",
    "role-tag-injection",
    "untrusted-content-delimiter-injection",
];

/// One step of an alternative.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// One of these texts, tried in order; the first after which a word ends wins.
    Word(&'static [&'static str]),
    /// One of these texts, with no boundary asked for.
    Text(&'static [&'static str]),
    /// White space, at least one unit.
    Space,
    /// White space, if any.
    Gap,
    /// A word and the white space after it, if both are there.
    Maybe(&'static str),
    /// A text, if it is there.
    MaybeText(&'static str),
    /// A change between word and no word.
    Boundary,
    /// Everything up to and including the next `>`.
    ToClosingAngle,
}

use Step::{Boundary, Gap, Maybe, MaybeText, Space, Text, ToClosingAngle, Word};

const NOUNS: Step = Word(&["instructions", "instruction", "prompts", "prompt", "directives", "directive"]);

/// The alternatives of each pattern.
pub const PATTERNS: [&[&[Step]]; COUNT] = [
    &[&[
        Word(&["ignore", "disregard", "forget"]),
        Space,
        Maybe("all"),
        Maybe("the"),
        Word(&["previous", "prior", "above", "earlier", "preceding", "original"]),
        Space,
        Word(&[
            "instructions",
            "instruction",
            "prompts",
            "prompt",
            "messages",
            "message",
            "directives",
            "directive",
            "rules",
            "rule",
        ]),
    ]],
    &[
        &[
            Word(&["forget", "erase", "clear", "wipe"]),
            Space,
            Word(&["everything", "all"]),
            Space,
            Word(&["above", "before", "previous"]),
        ],
        &[
            Word(&["forget", "erase", "clear", "wipe"]),
            Space,
            Word(&["everything", "all"]),
            Space,
            Word(&["i"]),
            Space,
            Word(&["told", "said"]),
        ],
    ],
    &[
        &[
            Word(&["override", "replace"]),
            Space,
            Maybe("the"),
            Maybe("system"),
            Word(&["prompt", "instructions", "instruction", "directives", "directive"]),
        ],
        // Longest first without a boundary: the white space before the last part is optional.
        &[
            Word(&["new"]),
            Space,
            Text(&["instructions", "instruction", "prompts", "prompt", "directives", "directive"]),
            Gap,
            Text(&[":", "follow", "are"]),
            Boundary,
        ],
        &[Word(&["updated"]), Space, NOUNS],
    ],
    &[
        &[LEAK_VERB, Space, LEAK_OWNER, Space, Word(&["configuration"])],
        &[
            LEAK_VERB,
            Space,
            LEAK_OWNER,
            Space,
            Word(&["system"]),
            Space,
            Word(&["prompt", "message", "instructions", "instruction"]),
        ],
        &[
            LEAK_VERB,
            Space,
            LEAK_OWNER,
            Space,
            Word(&["hidden"]),
            Space,
            Word(&["instructions", "instruction"]),
        ],
        &[
            LEAK_VERB,
            Space,
            LEAK_OWNER,
            Space,
            Word(&["initial"]),
            Space,
            Word(&["prompt", "instructions", "instruction"]),
        ],
    ],
    &[
        &[Word(&["you"]), Space, Word(&["are"]), Space, Word(&["now"]), Space, ARTICLE],
        &[
            Word(&["you"]),
            Space,
            Word(&["are"]),
            Space,
            Word(&["no"]),
            Space,
            Word(&["longer"]),
            Space,
            ARTICLE,
        ],
        &[Word(&["pretend"]), Space, Word(&["to"]), Space, Word(&["be"])],
        &[Word(&["pretend"]), Space, Word(&["you"]), Space, Word(&["are"])],
        &[Word(&["act"]), Space, Word(&["as"]), Space, ARTICLE],
        &[Word(&["act"]), Space, Word(&["as"]), Space, Word(&["if"]), Space, Word(&["you"])],
    ],
    &[&[
        Word(&["enter", "enable", "activate"]),
        Space,
        Word(&["developer", "admin", "debug", "unrestricted", "god", "root"]),
        Space,
        Word(&["mode"]),
    ]],
    &[&[Word(&["jailbroken", "jailbroke"]), Space, Word(&["mode", "response", "model", "assistant"])]],
    &[&[Text(&["<"]), Word(&["tool_use", "function_call", "invoke", "tool_call"]), ToClosingAngle]],
    &[&[Text(&["<|im_start|>", "<|system|>", "<|assistant|>", "<|user|>", "<|im_end|>"])]],
    &[&[Text(&["<<<"]), Gap, MaybeText("/"), Gap, Text(&["untrusted_content"])]],
];

const LEAK_VERB: Step = Word(&["reveal", "print", "show", "output", "repeat", "expose", "disclose"]);
const LEAK_OWNER: Step = Word(&["your", "the"]);
const ARTICLE: Step = Word(&["a", "an", "the"]);

/// The first words of the patterns that begin with a word, and which patterns those are. White space
/// follows each of them, which in the fold is a blank.
pub const FIRST_WORDS: [(&str, &[usize]); 25] = [
    ("ignore", &[0]),
    ("disregard", &[0]),
    ("forget", &[0, 1]),
    ("erase", &[1]),
    ("clear", &[1]),
    ("wipe", &[1]),
    ("override", &[2]),
    ("replace", &[2]),
    ("new", &[2]),
    ("updated", &[2]),
    ("reveal", &[3]),
    ("print", &[3]),
    ("show", &[3]),
    ("output", &[3]),
    ("repeat", &[3]),
    ("expose", &[3]),
    ("disclose", &[3]),
    ("you", &[4]),
    ("pretend", &[4]),
    ("act", &[4]),
    ("enter", &[5]),
    ("enable", &[5]),
    ("activate", &[5]),
    ("jailbroken", &[6]),
    ("jailbroke", &[6]),
];

/// The patterns that begin with `<` and what follows it.
#[must_use]
pub fn tag_patterns(next: u8) -> &'static [usize] {
    match next {
        b't' | b'f' | b'i' => &[7],
        b'|' => &[8],
        b'<' => &[9],
        _ => &[],
    }
}

#[derive(Debug, Default, Clone, Copy)]
enum Known {
    #[default]
    Nothing,
    At(usize),
    NoneLeft,
}

/// Where the next `>` is, remembered between tries so that many unclosed tags stay linear.
#[derive(Debug, Default)]
pub struct NextAngle {
    known: Known,
}

impl NextAngle {
    /// The next one at or after a place, which must not come before those asked for earlier.
    pub fn from<U: Unit>(&mut self, text: &[U], at: usize) -> Option<usize> {
        match self.known {
            Known::NoneLeft => None,
            Known::At(found) if found >= at => Some(found),
            _ => {
                let found = U::find(&text[at..], b'>').map(|offset| at + offset);
                self.known = found.map_or(Known::NoneLeft, Known::At);
                found
            }
        }
    }
}

/// Where a match of a pattern that starts at `at` ends, if there is one.
pub fn match_at<U: Unit>(pattern: usize, text: &[U], at: usize, angle: &mut NextAngle) -> Option<usize> {
    if is_word_at(text, at) && !may_start_word(text, at) {
        return None;
    }
    PATTERNS[pattern].iter().find_map(|steps| run(steps, text, at, angle))
}

fn run<U: Unit>(steps: &[Step], text: &[U], start: usize, angle: &mut NextAngle) -> Option<usize> {
    let mut at = start;
    for step in steps {
        at = match step {
            Word(words) => after_word(words, text, at)?,
            Text(texts) => at + starts_with(texts, text, at)?,
            Space => Some(skip_space(text, at)).filter(|end| *end > at)?,
            Gap => skip_space(text, at),
            Maybe(word) => after_word(&[word], text, at)
                .map(|end| (end, skip_space(text, end)))
                .filter(|(end, next)| next > end)
                .map_or(at, |(_, next)| next),
            MaybeText(known) => at + starts_with(&[known], text, at).unwrap_or(0),
            Boundary => Some(at).filter(|at| boundary(text, *at))?,
            ToClosingAngle => angle.from(text, at)? + 1,
        };
    }
    Some(at)
}

/// Whether a known text is at a place; unit by unit, since most tries fail at the first.
fn is_at<U: Unit>(known: &str, text: &[U], at: usize) -> bool {
    let rest = &text[at..];
    rest.len() >= known.len() && rest.iter().zip(known.as_bytes()).all(|(a, b)| a.fold() == *b)
}

fn starts_with<U: Unit>(texts: &[&str], text: &[U], at: usize) -> Option<usize> {
    texts.iter().find(|known| is_at(known, text, at)).map(|known| known.len())
}

fn after_word<U: Unit>(words: &[&str], text: &[U], at: usize) -> Option<usize> {
    words
        .iter()
        .filter(|word| is_at(word, text, at))
        .map(|word| at + word.len())
        .find(|end| !is_word_at(text, *end))
}

/// Where the white space that may be at a place ends.
pub fn skip_space<U: Unit>(text: &[U], mut at: usize) -> usize {
    while let Some(length) = blank_at(text, at) {
        at += length;
    }
    at
}

/// How long the blank at a place is, if there is one: a unit of white space, or a line break or tab as
/// JSON spells it. Results that are no text are scanned as JSON.
pub fn blank_at<U: Unit>(text: &[U], at: usize) -> Option<usize> {
    match text.get(at)?.fold() {
        b' ' => Some(1),
        b'\\' if matches!(text.get(at + 1)?.fold(), b'n' | b'r' | b't') => Some(2),
        _ => None,
    }
}

/// Whether a word at a place begins there: also behind a line break as JSON spells it.
pub fn may_start_word<U: Unit>(text: &[U], at: usize) -> bool {
    if at == 0 || !is_word(text[at - 1].fold()) {
        return true;
    }
    at >= 2 && blank_at(text, at - 2) == Some(2)
}

fn is_word_at<U: Unit>(text: &[U], at: usize) -> bool {
    text.get(at).is_some_and(|unit| is_word(unit.fold()))
}

fn boundary<U: Unit>(text: &[U], at: usize) -> bool {
    let before = at > 0 && is_word_at(text, at - 1);
    before != is_word_at(text, at)
}
