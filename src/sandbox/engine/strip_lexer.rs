//! Just enough of a JavaScript lexer for [`super::strip`]: comments disappear, strings, templates and
//! regular expressions are one token each, positions are in characters.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An identifier or keyword.
    Word,
    /// A number, string, template or regular expression.
    Literal,
    /// Punctuation.
    Mark,
}

/// One token.
#[derive(Debug, Clone)]
pub struct Token {
    /// Its text; literals have none.
    pub text: String,
    /// What it is.
    pub kind: Kind,
    /// First character.
    pub start: usize,
    /// Behind the last character.
    pub end: usize,
    /// Whether a line break comes before it.
    pub after_newline: bool,
}

const MARKS: [&str; 20] = [
    "...", "===", "!==", "=>", "?.", "??", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=",
    "/=", "**", "%=",
];

/// Splits a text into tokens. Anything unterminated ends with the text.
pub fn tokens(text: &[char]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    let mut newline = true;
    while at < text.len() {
        let start = at;
        let char = text[at];
        let next = text.get(at + 1).copied().unwrap_or_default();
        if char.is_whitespace() {
            newline |= char == '\n';
            at += 1;
            continue;
        }
        if char == '/' && next == '/' {
            while at < text.len() && text[at] != '\n' {
                at += 1;
            }
            continue;
        }
        if char == '/' && next == '*' {
            at += 2;
            while at < text.len() && !(text[at - 1] == '*' && text[at] == '/' && at > start + 2) {
                newline |= text[at] == '\n';
                at += 1;
            }
            at += 1;
            continue;
        }
        let (kind, end) = if is_word(char) {
            (Kind::Word, run(text, at, is_word))
        } else if char.is_ascii_digit() {
            (Kind::Literal, run(text, at, |c| is_word(c) || c == '.'))
        } else if char == '"' || char == '\'' {
            (Kind::Literal, string_end(text, at, char))
        } else if char == '`' {
            (Kind::Literal, template_end(text, at))
        } else if char == '/' && regex_may_start(out.last()) {
            (Kind::Literal, regex_end(text, at))
        } else {
            (Kind::Mark, at + mark_length(text, at))
        };
        let end = end.min(text.len());
        let shown = if kind == Kind::Literal { String::new() } else { text[start..end].iter().collect() };
        out.push(Token { text: shown, kind, start, end, after_newline: newline });
        newline = false;
        at = end;
    }
    out
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || char == '$' || char == '#'
}

fn run(text: &[char], from: usize, inside: impl Fn(char) -> bool) -> usize {
    text[from..].iter().position(|&char| !inside(char)).map_or(text.len(), |length| from + length)
}

fn mark_length(text: &[char], at: usize) -> usize {
    MARKS
        .iter()
        .find(|mark| mark.chars().enumerate().all(|(offset, char)| text.get(at + offset) == Some(&char)))
        .map_or(1, |mark| mark.len())
}

fn string_end(text: &[char], from: usize, quote: char) -> usize {
    let mut at = from + 1;
    while at < text.len() && text[at] != quote && text[at] != '\n' {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

fn template_end(text: &[char], from: usize) -> usize {
    let mut at = from + 1;
    while at < text.len() {
        match text[at] {
            '`' => return at + 1,
            '\\' => at += 2,
            '$' if text.get(at + 1) == Some(&'{') => at = hole_end(text, at + 2),
            _ => at += 1,
        }
    }
    at
}

/// The holes (`${…}`, without their brackets) of the template that starts at `from`.
pub fn holes(text: &[char], from: usize, end: usize) -> Vec<(usize, usize)> {
    let (mut at, end) = (from + 1, end.min(text.len()));
    let mut found = Vec::new();
    while at < end {
        match text[at] {
            '\\' => at += 2,
            '$' if text.get(at + 1) == Some(&'{') => {
                let behind = hole_end(text, at + 2).min(end);
                found.push((at + 2, behind.saturating_sub(1).max(at + 2).min(end)));
                at = behind;
            }
            _ => at += 1,
        }
    }
    found
}

fn hole_end(text: &[char], from: usize) -> usize {
    let mut at = from;
    let mut depth = 1_usize;
    while at < text.len() {
        match text[at] {
            '`' => at = template_end(text, at),
            quote @ ('"' | '\'') => at = string_end(text, at, quote),
            '{' => {
                depth += 1;
                at += 1;
            }
            '}' => {
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    at
}

fn regex_may_start(before: Option<&Token>) -> bool {
    let Some(token) = before else { return true };
    match token.kind {
        Kind::Literal => false,
        Kind::Word => {
            ["return", "typeof", "case", "in", "of", "await", "yield", "else"].contains(&token.text.as_str())
        }
        Kind::Mark => ![")", "]", "}"].contains(&token.text.as_str()),
    }
}

fn regex_end(text: &[char], from: usize) -> usize {
    let mut at = from + 1;
    let mut class = false;
    while at < text.len() && text[at] != '\n' {
        match text[at] {
            '\\' => at += 1,
            '[' => class = true,
            ']' => class = false,
            '/' if !class => return run(text, at + 1, is_word),
            _ => {}
        }
        at += 1;
    }
    at
}
