//! The order of two texts of ASCII, by the rules of `prelude/words.js`, which has those for all others.

use boa_engine::string::{JsStr, JsStrVariant};
use std::cmp::Ordering;

/// How far texts are told apart, besides their letters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sensitivity {
    /// By nothing else.
    Base,
    /// By accents.
    Accent,
    /// By case.
    Case,
    /// By both.
    Variant,
}

impl Sensitivity {
    /// By the name that `Intl` has for it.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "base" => Self::Base,
            "accent" => Self::Accent,
            "case" => Self::Case,
            "variant" => Self::Variant,
            _ => return None,
        })
    }
}

/// Space, punctuation, symbols, digits, letters and all else.
fn rank(byte: u8) -> u8 {
    match byte {
        b'\t'..=b'\r' | b' ' => 0,
        b'$' | b'+' | b'<'..=b'>' | b'^' | b'`' | b'|' | b'~' => 2,
        b'0'..=b'9' => 3,
        _ if byte.is_ascii_punctuation() => 1,
        _ => 4,
    }
}

/// What tells two bytes apart before anything else.
fn key(byte: u8) -> (u8, u8) {
    (rank(byte), byte.to_ascii_lowercase())
}

/// A run of digits without the zeros before it, and what comes behind it.
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (run, rest) = text.split_at(end);
    let zeros = run.iter().take_while(|&&byte| byte == b'0').count();
    (&run[zeros..], rest)
}

fn primary(mut a: &[u8], mut b: &[u8], numeric: bool) -> Ordering {
    while let (Some(&left), Some(&right)) = (a.first(), b.first()) {
        if numeric && left.is_ascii_digit() && right.is_ascii_digit() {
            let ((one, after_one), (other, after_other)) = (digits(a), digits(b));
            let order = one.len().cmp(&other.len()).then_with(|| one.cmp(other));
            if order.is_ne() {
                return order;
            }
            (a, b) = (after_one, after_other);
            continue;
        }
        let order = key(left).cmp(&key(right));
        if order.is_ne() {
            return order;
        }
        (a, b) = (&a[1..], &b[1..]);
    }
    a.len().cmp(&b.len())
}

/// The bytes of a text of ASCII.
fn ascii(text: JsStr<'_>) -> Option<&[u8]> {
    match text.variant() {
        JsStrVariant::Latin1(bytes) if bytes.is_ascii() => Some(bytes),
        _ => None,
    }
}

/// The order; None when a text is not known to be ASCII.
pub fn compare(
    a: JsStr<'_>,
    b: JsStr<'_>,
    numeric: bool,
    by: Sensitivity,
    upper_first: bool,
) -> Option<Ordering> {
    let (a, b) = (ascii(a)?, ascii(b)?);
    let first = primary(a, b, numeric);
    if first.is_ne() || by == Sensitivity::Base {
        return Some(first);
    }
    if by != Sensitivity::Case {
        let lower = |text: &[u8]| text.to_ascii_lowercase();
        let order = lower(a).cmp(&lower(b));
        if order.is_ne() || by == Sensitivity::Accent {
            return Some(order);
        }
    }
    let differing = a.iter().zip(b).find(|(left, right)| left != right);
    Some(differing.map_or(Ordering::Equal, |(left, _)| {
        if left.is_ascii_uppercase() == upper_first { Ordering::Less } else { Ordering::Greater }
    }))
}
