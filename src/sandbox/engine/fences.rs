//! Markdown around a script: the fences of the block it stands in.

/// The character and the length of the fence a line starts with: three or more backticks or tildes.
pub fn fence(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.chars().take_while(|&char| char == mark).count();
    (length >= 3).then_some((mark, length))
}

/// Whether a line closes the fence that was opened.
fn closes(line: &str, (mark, length): (char, usize)) -> bool {
    let line = line.trim();
    line.chars().count() >= length && line.chars().all(|char| char == mark)
}

/// A source that is one fenced block, without its fences (their lines stay, empty). The last line is what
/// closes it: a fence before that may stand in a comment.
pub fn without_fences(source: &[u16]) -> Vec<u16> {
    let text = String::from_utf16_lossy(source);
    let lines: Vec<&str> = text.split('\n').collect();
    let filled = |line: &&str| !line.trim().is_empty();
    let Some(first) = lines.iter().position(filled) else { return source.to_vec() };
    let Some(opened) = fence(lines[first]) else { return source.to_vec() };
    let last = lines.iter().rposition(filled).filter(|&at| at > first && closes(lines[at], opened));
    let kept: Vec<&str> = lines
        .iter()
        .enumerate()
        .map(|(at, line)| if at == first || Some(at) == last { "" } else { *line })
        .collect();
    kept.join("\n").encode_utf16().collect()
}

/// Fences that are tried as the end of a block.
const MAX_FENCES: usize = 16;

/// What may be the code of a text with prose around its first fenced block: up to each line that could
/// close it, the nearest first.
pub fn fenced_parts(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let Some(open) = lines.iter().position(|line| fence(line).is_some()) else { return Vec::new() };
    let Some(opened) = fence(lines[open]) else { return Vec::new() };
    let closing = (open + 1..lines.len()).filter(|&at| closes(lines[at], opened)).take(MAX_FENCES);
    let part = |close: usize| {
        let inside = |(at, line): (usize, &&str)| {
            if at > open && at < close { (*line).to_owned() } else { String::new() }
        };
        lines.iter().enumerate().map(inside).collect::<Vec<_>>().join("\n")
    };
    closing.map(part).collect()
}
