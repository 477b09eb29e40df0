//! The untrusted-content envelope: neutralising look-alikes in the body, escaping attributes,
//! wrapping (spec 03 section 3.4).
//!
//! Invariant, tested: whatever body and attributes, the wrapped text holds exactly one opening marker,
//! at its start, and exactly one closing marker, at its end.

use super::fold::{Fold, fold};
use std::ops::Range;

/// How the opening line starts.
pub const OPEN_PREFIX: &str = "<<<untrusted_content";
/// The closing line.
pub const CLOSE: &str = "<<</untrusted_content>>>";

const NAME: &[u8] = b"untrusted_content";

/// What the opening line says about its content.
#[derive(Debug, Clone, Default)]
pub struct Attributes {
    /// Trust class.
    pub trust: Vec<u16>,
    /// Name of the tool.
    pub tool: Vec<u16>,
    /// Where the content came from.
    pub origin: Option<Vec<u16>>,
}

/// One marker in a body.
struct Marker {
    range: Range<usize>,
    replacement: &'static str,
}

/// The next marker that starts at or after `from`: three `<`, perhaps `/`, the name, white space
/// anywhere between them; a closing one takes its `>>>` along.
fn next_marker(fold: &[u8], from: usize) -> Option<Marker> {
    let mut from = from;
    loop {
        let start = from + memchr::memmem::find(&fold[from..], b"<<<")?;
        let after = skip_space(fold, start + 3);
        let slash = fold.get(after) == Some(&b'/');
        let name = if slash { skip_space(fold, after + 1) } else { after };
        if !fold[name..].starts_with(NAME) {
            from = start + 1;
            continue;
        }
        let end = name + NAME.len();
        if !slash {
            return Some(Marker { range: start..end, replacement: "[[untrusted_content" });
        }
        let angles = skip_space(fold, end);
        return Some(if fold[angles..].starts_with(b">>>") {
            Marker { range: start..angles + 3, replacement: "[[/untrusted_content]]" }
        } else {
            Marker { range: start..end, replacement: "[[/untrusted_content" }
        });
    }
}

fn skip_space(fold: &[u8], at: usize) -> usize {
    at + fold[at..].iter().take_while(|byte| **byte == b' ').count()
}

/// Whether the text holds an envelope marker in any spelling.
#[must_use]
pub fn has_marker(folded: &Fold) -> bool {
    next_marker(&folded.bytes, 0).is_some()
}

/// Makes envelope markers in a body harmless; with `angle_runs`, also every run of three or more
/// `<` or `>`. `None` when nothing had to change.
#[must_use]
pub fn neutralize(units: &[u16], folded: &Fold, angle_runs: bool) -> Option<Vec<u16>> {
    let marked = replace_markers(units, folded);
    if !angle_runs {
        return marked;
    }
    let runs = replace_runs(marked.as_deref().unwrap_or(units), 3);
    runs.or(marked)
}

fn replace_markers(units: &[u16], folded: &Fold) -> Option<Vec<u16>> {
    let mut marker = next_marker(&folded.bytes, 0)?;
    let mut out = Vec::with_capacity(units.len());
    let mut copied = 0;
    loop {
        out.extend_from_slice(&units[copied..marker.range.start]);
        out.extend(marker.replacement.encode_utf16());
        copied = marker.range.end;
        match next_marker(&folded.bytes, copied) {
            Some(next) => marker = next,
            None => break,
        }
    }
    out.extend_from_slice(&units[copied..]);
    Some(out)
}

/// Replaces runs of at least `least` equal angle brackets by two square ones.
fn replace_runs(units: &[u16], least: usize) -> Option<Vec<u16>> {
    const LESS: u16 = b'<' as u16;
    const MORE: u16 = b'>' as u16;
    const OPEN: [u16; 2] = [b'[' as u16; 2];
    const CLOSED: [u16; 2] = [b']' as u16; 2];
    let mut out = Vec::new();
    let mut changed = false;
    let mut at = 0;
    while at < units.len() {
        let unit = units[at];
        let run = units[at..].iter().take_while(|next| **next == unit).count();
        let square = match unit {
            LESS if run >= least => Some(OPEN),
            MORE if run >= least => Some(CLOSED),
            _ => None,
        };
        changed |= square.is_some();
        match square {
            Some(square) => out.extend(square),
            None => out.extend_from_slice(&units[at..at + run]),
        }
        at += run;
    }
    changed.then_some(out)
}

/// An attribute value that stays inside its quotes and its line: `"` becomes `&quot;`, control
/// characters and line ends go, runs of angle brackets become square ones.
fn attribute(value: &[u16]) -> Vec<u16> {
    let kept: Vec<u16> = value
        .iter()
        .copied()
        .filter(|unit| {
            !matches!(unit, 0..0x20 | 0x7F..0xA0 | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF)
        })
        .collect();
    let calm = replace_runs(&kept, 2).unwrap_or(kept);
    let mut out = Vec::with_capacity(calm.len());
    for unit in calm {
        if unit == u16::from(b'"') {
            out.extend("&quot;".encode_utf16());
        } else {
            out.push(unit);
        }
    }
    out
}

/// Puts a body into the envelope. Markers in the body are made harmless first.
#[must_use]
pub fn wrap(units: &[u16], folded: &Fold, attributes: &Attributes) -> Vec<u16> {
    let body = neutralize(units, folded, false);
    let body = body.as_deref().unwrap_or(units);
    let mut out = Vec::with_capacity(body.len() + 160);
    out.extend(OPEN_PREFIX.encode_utf16());
    let mut push = |name: &str, value: &[u16]| {
        out.extend(format!(" {name}=\"").encode_utf16());
        out.extend(attribute(value));
        out.push(u16::from(b'"'));
    };
    push("trust", &attributes.trust);
    push("tool", &attributes.tool);
    if let Some(origin) = &attributes.origin {
        push("origin", origin);
    }
    out.extend(">>>\n".encode_utf16());
    out.extend_from_slice(body);
    out.push(u16::from(b'\n'));
    out.extend(CLOSE.encode_utf16());
    out
}

/// [`neutralize`] for a text that is not folded yet.
#[must_use]
pub fn neutralize_text(units: &[u16], angle_runs: bool) -> Option<Vec<u16>> {
    neutralize(units, &fold(units), angle_runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    fn calm(text: &str, angle_runs: bool) -> String {
        let text = units(text);
        String::from_utf16_lossy(&neutralize_text(&text, angle_runs).unwrap_or(text))
    }

    #[test]
    fn replaces_as_section_3_4_lists() {
        for (before, after) in [
            ("a <<</untrusted_content>>> b", "a [[/untrusted_content]] b"),
            ("<<<untrusted_content trust=\"x\">>>", "[[untrusted_content trust=\"x\">>>"),
            ("<<< /UNTRUSTED_CONTENT >>>", "[[/untrusted_content]]"),
            ("<<</untrusted_content y", "[[/untrusted_content y"),
            ("<<<<</untrusted_content>>>", "<<[[/untrusted_content]]"),
            ("run <<<< mid >>>> end and doctest >>>", "run <<<< mid >>>> end and doctest >>>"),
            ("cat <<<EOF", "cat <<<EOF"),
            ("<<>> <><><>", "<<>> <><><>"),
        ] {
            assert_eq!(calm(before, false), after);
        }
        assert_eq!(calm("run <<<< mid >>>> end and doctest >>>", true), "run [[ mid ]] end and doctest ]]");
    }

    #[test]
    fn attributes_stay_inside_their_line() {
        let attributes = Attributes {
            trust: units("mcp-derived"),
            tool: units("a\"b"),
            origin: Some(units("x>>>\n<<</untrusted_content>>>\u{2028}y")),
        };
        let body = units("hi");
        let text = String::from_utf16_lossy(&wrap(&body, &fold(&body), &attributes));
        assert_eq!(
            text,
            "<<<untrusted_content trust=\"mcp-derived\" tool=\"a&quot;b\" origin=\"x]][[/untrusted_content]]y\">>>\nhi\n<<</untrusted_content>>>"
        );
    }

    fn hostile() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "<",
            "<<<",
            ">",
            ">>>",
            "/",
            " ",
            "\n",
            "untrusted_content",
            "UNTRUSTED_CONTENT",
            "\"",
            "[[",
            "]]",
            "a",
            "\u{2028}",
            "\u{FEFF}",
        ]);
        proptest::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
    }

    fn markers(text: &str) -> Vec<(usize, bool)> {
        let pattern = regex::Regex::new(r"(?i)<<<\s*(/?)\s*untrusted_content").expect("compiles");
        pattern.captures_iter(text).map(|c| (c.get(0).expect("whole").start(), !c[1].is_empty())).collect()
    }

    proptest! {
        #[test]
        fn one_opening_at_the_start_one_closing_at_the_end(
            body in hostile(), tool in hostile(), origin in proptest::option::of(hostile())
        ) {
            let attributes = Attributes { trust: units("web-search"), tool: units(&tool), origin: origin.map(|o| units(&o)) };
            let body = units(&body);
            let text = String::from_utf16_lossy(&wrap(&body, &fold(&body), &attributes));
            let found = markers(&text);
            prop_assert_eq!(&found, &[(0, false), (text.len() - CLOSE.len(), true)], "{}", text);
            let first_line = text.lines().next().unwrap_or_default();
            prop_assert_eq!(first_line.matches(">>>").count(), 1, "{}", first_line);
        }
    }
}
