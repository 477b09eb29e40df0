//! The ten imperative patterns as data (spec 03 section 3.1).
//!
//! A pattern is a list of alternatives, an alternative a list of [`Step`]s over the fold. The same
//! patterns exist as JavaScript expressions in `js/inbound/catalogue.ts`; a differential test keeps
//! the two alike. No step backtracks more than one word, so matching at one place is bounded.

use super::fold::is_word;

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

/// The patterns that begin with `<`, and the bytes that can follow it.
pub const TAG_PATTERNS: [usize; 3] = [7, 8, 9];
/// See [`TAG_PATTERNS`].
pub const AFTER_ANGLE: [u8; 5] = *b"tfi|<";

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
    fn from(&mut self, fold: &[u8], at: usize) -> Option<usize> {
        match self.known {
            Known::NoneLeft => None,
            Known::At(found) if found >= at => Some(found),
            _ => {
                let found = memchr::memchr(b'>', &fold[at..]).map(|offset| at + offset);
                self.known = found.map_or(Known::NoneLeft, Known::At);
                found
            }
        }
    }
}

/// Where a match of a pattern that starts at `at` ends, if there is one.
pub fn match_at(pattern: usize, fold: &[u8], at: usize, angle: &mut NextAngle) -> Option<usize> {
    let first = fold[at];
    if is_word(first) && at > 0 && is_word(fold[at - 1]) {
        return None;
    }
    PATTERNS[pattern].iter().find_map(|steps| run(steps, fold, at, angle))
}

fn run(steps: &[Step], fold: &[u8], start: usize, angle: &mut NextAngle) -> Option<usize> {
    let mut at = start;
    for step in steps {
        at = match step {
            Word(texts) => after_word(texts, fold, at)?,
            Text(texts) => at + starts_with(texts, fold, at)?,
            Space => Some(skip_space(fold, at)).filter(|end| *end > at)?,
            Gap => skip_space(fold, at),
            Maybe(word) => after_word(&[word], fold, at)
                .map(|end| (end, skip_space(fold, end)))
                .filter(|(end, next)| next > end)
                .map_or(at, |(_, next)| next),
            MaybeText(text) => at + starts_with(&[text], fold, at).unwrap_or(0),
            Boundary => Some(at).filter(|at| boundary(fold, *at))?,
            ToClosingAngle => angle.from(fold, at)? + 1,
        };
    }
    Some(at)
}

/// Whether a text is at a place; byte by byte, since most tries fail at the first.
fn is_at(text: &str, fold: &[u8], at: usize) -> bool {
    let rest = &fold[at..];
    rest.len() >= text.len() && rest.iter().zip(text.as_bytes()).all(|(a, b)| a == b)
}

fn starts_with(texts: &[&str], fold: &[u8], at: usize) -> Option<usize> {
    texts.iter().find(|text| is_at(text, fold, at)).map(|text| text.len())
}

fn after_word(texts: &[&str], fold: &[u8], at: usize) -> Option<usize> {
    texts
        .iter()
        .filter(|text| is_at(text, fold, at))
        .map(|text| at + text.len())
        .find(|end| fold.get(*end).is_none_or(|next| !is_word(*next)))
}

fn skip_space(fold: &[u8], at: usize) -> usize {
    at + fold[at..].iter().take_while(|byte| **byte == b' ').count()
}

fn boundary(fold: &[u8], at: usize) -> bool {
    let before = at > 0 && is_word(fold[at - 1]);
    let after = fold.get(at).is_some_and(|byte| is_word(*byte));
    before != after
}
