//! Whether a text holds personal data (spec 04, section 2.6): e-mail addresses, US social security
//! and telephone numbers, payment cards, IBANs, bitcoin addresses.
//!
//! Linear in the length of the text. The shapes with look-around conditions are small matchers over
//! bytes; the rest are expressions of an engine that does not backtrack. Word boundaries and digits
//! are ASCII, so that bytes of UTF-8 are enough.

use regex::bytes::Regex;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?-u)\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b",
        r"|\b[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}\b",
        r"|\b(?:bc1|[13])[a-zA-HJ-NP-Z0-9]{25,39}\b",
    ))
    .expect("a constant expression")
});

/// Whether `text` holds personal data.
#[must_use]
pub fn contains_pii(text: &str) -> bool {
    let text = prepare(text);
    let text = text.as_bytes();
    has_email(text) || PLAIN.is_match(text) || has_phone(text) || has_card(text)
}

/// NFKC without the characters that are not seen.
fn prepare(text: &str) -> String {
    let unseen = |c: &char| matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}');
    if text.is_ascii() { text.to_owned() } else { text.nfkc().filter(|c| !unseen(c)).collect() }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_digit_at(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(u8::is_ascii_digit)
}

/// Looks at every `@`: a run of local characters with a word character before it, and after it a
/// domain with a dot that is not its first character, followed by two letters or more and the end of
/// the word. Runs around two different `@` do not overlap, so the whole is linear.
fn has_email(text: &[u8]) -> bool {
    memchr::memchr_iter(b'@', text).any(|at| {
        let local = text[..at].iter().rev().take_while(|&&b| is_word(b) || b".%+-".contains(&b));
        local.into_iter().any(|&b| is_word(b)) && is_domain(&text[at + 1..])
    })
}

fn is_domain(text: &[u8]) -> bool {
    let length = text.iter().take_while(|&&b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-').count();
    let domain = &text[..length];
    let mut start = 1;
    while let Some(dot) = memchr::memchr(b'.', domain.get(start..).unwrap_or_default()) {
        let after = start + dot + 1;
        let letters = text[after..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
        let ends = text.get(after + letters).is_none_or(|&b| !is_word(b));
        if letters >= 2 && ends {
            return true;
        }
        start = after;
    }
    false
}

/// Three, three and four digits with optional parentheses, blanks and hyphens, after an optional 1.
fn has_phone(text: &[u8]) -> bool {
    (0..text.len()).any(|at| {
        let free = at == 0 || !(text[at - 1].is_ascii_digit() || text[at - 1] == b'.');
        if !free || !(is_digit_at(text, at) || text[at] == b'(') {
            return false;
        }
        is_phone(text, at) || (text[at] == b'1' && is_phone(text, skip(text, at + 1, b" -")))
    })
}

fn skip(text: &[u8], at: usize, any_of: &[u8]) -> usize {
    at + usize::from(text.get(at).is_some_and(|b| any_of.contains(b)))
}

fn digits(text: &[u8], at: usize, count: usize) -> Option<usize> {
    (at..at + count).all(|at| is_digit_at(text, at)).then_some(at + count)
}

fn is_phone(text: &[u8], at: usize) -> bool {
    let end = digits(text, skip(text, at, b"("), 3)
        .and_then(|at| digits(text, skip(text, skip(text, at, b")"), b" -"), 3))
        .and_then(|at| digits(text, skip(text, at, b" -"), 4));
    end.is_some_and(|end| !is_digit_at(text, skip(text, end, b".")))
}

/// 13 to 19 digits with single blanks or hyphens between them, as a word, not part of a decimal.
/// From the leftmost start on, the longest that fits; then the search goes on behind it.
fn has_card(text: &[u8]) -> bool {
    let mut at = 0;
    while at < text.len() {
        let starts =
            text[at].is_ascii_digit() && (at == 0 || !(is_word(text[at - 1]) || text[at - 1] == b'.'));
        match starts.then(|| card_end(text, at)).flatten() {
            Some(end) => {
                if is_card(&text[at..end]) {
                    return true;
                }
                at = end;
            }
            None => at += 1,
        }
    }
    false
}

fn card_end(text: &[u8], start: usize) -> Option<usize> {
    let mut end = None;
    let mut at = start;
    for count in 1..=19 {
        if !is_digit_at(text, at) {
            break;
        }
        at += 1;
        let word_ends = text.get(at).is_none_or(|&b| !is_word(b));
        let decimal = text.get(at) == Some(&b'.') && is_digit_at(text, at + 1);
        if count >= 13 && word_ends && !decimal {
            end = Some(at);
        }
        at = skip(text, at, b" -");
    }
    end
}

/// First digit 2 to 6, and the check digit is right.
fn is_card(text: &[u8]) -> bool {
    let luhn: u32 = text
        .iter()
        .rev()
        .filter(|b| b.is_ascii_digit())
        .enumerate()
        .map(|(place, b)| {
            let digit = u32::from(b - b'0') << (place % 2);
            digit / 10 + digit % 10
        })
        .sum();
    matches!(text[0], b'2'..=b'6') && luhn.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_match() {
        for text in [
            "alice@example.com",
            "write to A.B+c%_-@EX-1.com, please",
            "a@b.co",
            "x.y@sub.domain.example",
            "ａｌｉｃｅ@example.com",
            "al\u{AD}ice\u{200B}@exam\u{2060}ple.com",
            "123-45-6789",
            "(ssn 123-45-6789)",
            "555-123-4567",
            "(555) 123-4567",
            "+1 555 123 4567",
            "5551234567",
            "15551234567",
            "1-555-123-4567",
            "4111 1111 1111 1111",
            "4111-1111-1111-1111",
            "378282246310005",
            "GB82WEST12345698765432",
            "DE89370400440532013000",
            "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
            "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
            "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
        ] {
            assert!(contains_pii(text), "{text}");
        }
    }

    #[test]
    fn what_must_not_match() {
        for text in [
            "",
            "plain words, nothing personal",
            "a@b",
            "a@b.c",
            "@b.com",
            "a@@b.com",
            "a@.com",
            "a@b.com2",
            "123.45.6789",
            "123 45 6789",
            "1123-45-6789",
            "x123-45-6789",
            "123-45-67890",
            "\u{661}\u{662}\u{663}-45-6789",
            "25551234567",
            "1700000000000",
            "0.5551234567",
            "5551234567.5",
            "555.123.4567",
            "4111 1111 1111 1112",
            "1111111111111117",
            "7111111111111113",
            "41111111111111111111",
            "0.4111111111111111",
            "4111111111111111.5",
            "gb82west12345698765432",
            "GB82WEST123456",
            "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVIO",
            "3J98t1WpEZ",
        ] {
            assert!(!contains_pii(text), "{text}");
        }
    }

    #[test]
    fn long_runs_take_linear_time() {
        let start = std::time::Instant::now();
        for text in [
            "a.".repeat(500_000),
            "a@".repeat(500_000),
            "a@b.".repeat(250_000),
            "1 ".repeat(500_000),
            "(1".repeat(500_000),
        ] {
            assert!(!contains_pii(&text));
        }
        // Five times a megabyte, unoptimised: seconds would mean something is not linear.
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }
}
