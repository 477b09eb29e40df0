//! Secret references: `scheme:path?query#fragment`, with an authority after `//`.
//!
//! Works on UTF-16 units: positions are counted in them, and whatever is not ASCII is refused anyway.
//! A fault holds kind and position only, never a piece of the text, which may be a secret.

use thiserror::Error;

/// Schemes that name one place and take no authority.
const OPAQUE: [&str; 4] = ["env", "keyring", "literal", "ref"];

/// Why a text is no reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseFaultKind {
    /// Nothing there.
    EmptyInput,
    /// The scheme holds a character it may not.
    InvalidScheme,
    /// No colon, or a character that belongs nowhere.
    MalformedUri,
    /// An authority where the scheme takes none.
    UnexpectedAuthority,
    /// Nothing after the scheme.
    EmptyPath,
    /// A percent sign without two hex digits.
    InvalidPercentEncoding,
}

/// A fault and where it is, in UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not a secret reference: {kind:?}")]
pub struct ParseFault {
    /// What is wrong.
    pub kind: ParseFaultKind,
    /// Where; `None` when the whole text is meant.
    pub position: Option<usize>,
}

/// A parsed reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// In lower case.
    pub scheme: String,
    /// As written; `None` without `//`.
    pub authority: Option<String>,
    /// Decoded, one byte to one unit.
    pub path: String,
    /// Decoded pairs, in order, repeated names included.
    pub query: Vec<(String, String)>,
    /// Decoded; `None` when there is none or an empty one.
    pub fragment: Option<String>,
}

fn fault<T>(kind: ParseFaultKind, position: impl Into<Option<usize>>) -> Result<T, ParseFault> {
    Err(ParseFault { kind, position: position.into() })
}

/// Parses a reference.
///
/// # Errors
/// [`ParseFault`] for anything else.
pub fn parse(text: &[u16]) -> Result<Reference, ParseFault> {
    use ParseFaultKind::{EmptyInput, EmptyPath, InvalidScheme, MalformedUri, UnexpectedAuthority};
    if text.is_empty() {
        return fault(EmptyInput, None);
    }
    let byte = |at: usize| text.get(at).and_then(|&unit| u8::try_from(unit).ok()).unwrap_or(0xFF);
    if !byte(0).is_ascii_alphabetic() {
        return fault(InvalidScheme, 0);
    }
    let Some(colon) = find(text, 0, b":") else { return fault(MalformedUri, None) };
    let in_scheme = |b: u8| b.is_ascii_alphanumeric() || b"+-.".contains(&b);
    if let Some(at) = (0..colon).find(|&at| !in_scheme(byte(at))) {
        return fault(InvalidScheme, at);
    }
    let scheme: String = (0..colon).map(|at| char::from(byte(at).to_ascii_lowercase())).collect();
    let mut at = colon + 1;
    let mut authority = None;
    if byte(at) == b'/' && byte(at + 1) == b'/' {
        if OPAQUE.contains(&scheme.as_str()) {
            return fault(UnexpectedAuthority, at);
        }
        let end = find(text, at + 2, b"/?#").unwrap_or(text.len());
        authority = Some(String::from_utf16_lossy(&text[at + 2..end]));
        at = end;
    }
    let path_end = find(text, at, b"?#").unwrap_or(text.len());
    if authority.is_none() && path_end == at {
        return fault(EmptyPath, at);
    }
    let path = decode(text, at, path_end, b"/", false)?;
    let mut query = Vec::new();
    let mut end = path_end;
    if byte(path_end) == b'?' && path_end < text.len() {
        end = find(text, path_end, b"#").unwrap_or(text.len());
        let mut from = path_end + 1;
        while from <= end {
            let to = find(&text[..end], from, b"&").unwrap_or(end);
            let split = find(&text[..to], from, b"=").unwrap_or(to);
            if to > from {
                let name = decode(text, from, split, b"/?", true)?;
                query.push((name, decode(text, (split + 1).min(to), to, b"/?", true)?));
            }
            from = to + 1;
        }
    }
    let fragment =
        if end < text.len() { decode(text, end + 1, text.len(), b"/?", false)? } else { String::new() };
    Ok(Reference { scheme, authority, path, query, fragment: Some(fragment).filter(|f| !f.is_empty()) })
}

fn find(text: &[u16], from: usize, any_of: &[u8]) -> Option<usize> {
    let is_one = |&unit: &u16| u8::try_from(unit).is_ok_and(|b| any_of.contains(&b));
    text.get(from..)?.iter().position(is_one).map(|at| from + at)
}

/// RFC 3986 `pchar` without percent triplets, and a raw blank.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@ ".contains(&byte)
}

fn decode(text: &[u16], from: usize, to: usize, also: &[u8], plus: bool) -> Result<String, ParseFault> {
    use ParseFaultKind::{InvalidPercentEncoding, MalformedUri};
    let mut out = String::with_capacity(to - from);
    let mut at = from;
    while at < to {
        match u8::try_from(text[at]) {
            Ok(b'%') => {
                let digit = |at: usize| {
                    text[..to].get(at).and_then(|&unit| char::from(u8::try_from(unit).ok()?).to_digit(16))
                };
                let (Some(high), Some(low)) = (digit(at + 1), digit(at + 2)) else {
                    return fault(InvalidPercentEncoding, at);
                };
                // One byte becomes one code unit, so U+0000 to U+00FF.
                out.push(char::from_u32(high << 4 | low).unwrap_or_default());
                at += 3;
                continue;
            }
            Ok(b'+') if plus => out.push(' '),
            Ok(b) if is_plain(b) || also.contains(&b) => out.push(char::from(b)),
            _ => return fault(MalformedUri, at),
        }
        at += 1;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Result<Reference, ParseFaultKind> {
        parse(&text.encode_utf16().collect::<Vec<_>>()).map_err(|fault| fault.kind)
    }

    #[test]
    fn parts() {
        let all = of("Vault+X://host:1@2/a%20b/c d?x=1&y&x=2+3%26#fr%41g").unwrap();
        assert_eq!(all.scheme, "vault+x");
        assert_eq!(all.authority.as_deref(), Some("host:1@2"));
        assert_eq!(all.path, "/a b/c d");
        let pairs: Vec<_> = all.query.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(pairs, [("x", "1"), ("y", ""), ("x", "2 3&")]);
        assert_eq!(all.fragment.as_deref(), Some("frAg"));
        let env = of("env:API_KEY").unwrap();
        assert_eq!((env.authority, env.path.as_str(), env.fragment), (None, "API_KEY", None));
        assert_eq!(of("vault://").unwrap().authority.as_deref(), Some(""));
        assert_eq!(of("file:a+b#").unwrap().fragment, None);
        assert_eq!(of("file:a+b").unwrap().path, "a+b");
        assert_eq!(of("file:%ff").unwrap().path, "\u{ff}");
    }

    #[test]
    fn faults() {
        use ParseFaultKind as K;
        for (text, kind) in [
            ("", K::EmptyInput),
            ("1env:A", K::InvalidScheme),
            (":A", K::InvalidScheme),
            ("en v:A", K::InvalidScheme),
            ("é:A", K::InvalidScheme),
            ("env", K::MalformedUri),
            ("env:A\nB", K::MalformedUri),
            ("env:é", K::MalformedUri),
            ("env:A[0]", K::MalformedUri),
            ("env:A#b#c", K::MalformedUri),
            ("env://A", K::UnexpectedAuthority),
            ("keyring://A", K::UnexpectedAuthority),
            ("literal://A", K::UnexpectedAuthority),
            ("REF://A", K::UnexpectedAuthority),
            ("env:", K::EmptyPath),
            ("env:?default=x", K::EmptyPath),
            ("env:#x", K::EmptyPath),
            ("env:%4", K::InvalidPercentEncoding),
            ("env:%zz", K::InvalidPercentEncoding),
            ("env:a?x=%4", K::InvalidPercentEncoding),
            ("env:a?x=%4&41", K::InvalidPercentEncoding),
        ] {
            assert_eq!(of(text), Err(kind), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_plain_paths_round_trip(text in proptest::collection::vec(any::<u16>(), 0..20), path in "[A-Za-z0-9_/.-]{1,20}") {
            let _ = parse(&text);
            prop_assume!(!path.starts_with("//"));
            prop_assert_eq!(of(&format!("file:{path}")).unwrap().path, path);
        }
    }
}
