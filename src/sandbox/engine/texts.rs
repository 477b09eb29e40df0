//! `split`, `indexOf`, `includes` and `replaceAll` with plain texts.
//!
//! To look for a text from some place on, the engine first walks to that place, so that whoever looks for
//! one occurrence after the other takes time quadratic in the length.

use super::overlay::{self, Call};
use boa_engine::object::JsObject;
use boa_engine::object::builtins::JsArray;
use boa_engine::string::{JsStr, JsStrVariant};
use boa_engine::{Context, JsResult, JsString, JsValue, js_string};
use memchr::memmem::{self, Finder};
use std::borrow::Cow;

/// Puts the methods in place.
pub fn install(context: &mut Context) -> JsResult<()> {
    let prototype = context.intrinsics().constructors().string().prototype();
    overlay::put(&prototype, js_string!("split"), split, context)?;
    overlay::put(&prototype, js_string!("indexOf"), index_of, context)?;
    overlay::put(&prototype, js_string!("includes"), includes, context)?;
    overlay::put(&prototype, js_string!("replaceAll"), replace_all, context)
}

/// What is looked for, which is not empty.
enum Needle<'a> {
    /// Fits a text of bytes.
    Bytes(Box<Finder<'a>>),
    /// Of the units of a wide text.
    Units(Cow<'a, [u16]>),
    /// Can be nowhere in the text.
    Nowhere,
}

impl<'a> Needle<'a> {
    /// For looking through `text`.
    fn new(text: JsStr<'_>, needle: JsStr<'a>) -> Self {
        match (text.variant(), needle.variant()) {
            (JsStrVariant::Latin1(_), JsStrVariant::Latin1(bytes)) => {
                Self::Bytes(Box::new(Finder::new(bytes)))
            }
            (JsStrVariant::Latin1(_), JsStrVariant::Utf16(units)) => {
                let bytes: Option<Vec<u8>> = units.iter().map(|&unit| u8::try_from(unit).ok()).collect();
                bytes.map_or(Self::Nowhere, |bytes| Self::Bytes(Box::new(Finder::new(&bytes).into_owned())))
            }
            (JsStrVariant::Utf16(_), JsStrVariant::Latin1(bytes)) => {
                Self::Units(bytes.iter().map(|&byte| u16::from(byte)).collect())
            }
            (JsStrVariant::Utf16(_), JsStrVariant::Utf16(units)) => Self::Units(units.into()),
        }
    }

    /// Where it stands first, from `from` on.
    fn find(&self, text: JsStr<'_>, from: usize) -> Option<usize> {
        match (self, text.variant()) {
            (Self::Bytes(finder), JsStrVariant::Latin1(bytes)) => {
                finder.find(bytes.get(from..)?).map(|at| at + from)
            }
            (Self::Units(needle), JsStrVariant::Utf16(units)) => {
                let (first, rest) = needle.split_first()?;
                let mut at = from;
                loop {
                    at += units.get(at..)?.iter().position(|unit| unit == first)?;
                    if units[at + 1..].starts_with(rest) {
                        return Some(at);
                    }
                    at += 1;
                }
            }
            _ => None,
        }
    }
}

/// The first place of `needle` in `text` from `from` on, which is at most the text's length.
fn find(text: JsStr<'_>, needle: JsStr<'_>, from: usize) -> Option<usize> {
    if needle.is_empty() {
        return Some(from);
    }
    // To look once through a few bytes needs no preparation.
    if let (JsStrVariant::Latin1(bytes), JsStrVariant::Latin1(sought)) = (text.variant(), needle.variant()) {
        return memmem::find(bytes.get(from..)?, sought).map(|at| at + from);
    }
    Needle::new(text, needle).find(text, from)
}

/// The places of `needle`, which is not empty, that do not overlap; at most `most`.
fn places(text: JsStr<'_>, needle: JsStr<'_>, most: usize) -> Vec<usize> {
    let finder = Needle::new(text, needle);
    let mut from = 0;
    std::iter::from_fn(|| {
        let at = finder.find(text, from)?;
        from = at + needle.len();
        Some(at)
    })
    .take(most)
    .collect()
}

fn split(call: &Call<'_>, _: &JsObject, context: &mut Context) -> JsResult<Option<JsValue>> {
    let (Some(text), Some(separator)) = (call.this.as_string(), call.text(0)) else { return Ok(None) };
    let limit = call.argument(1);
    if separator.is_empty() || !(limit.is_undefined() || limit.is_number()) {
        return Ok(None);
    }
    let most = if limit.is_undefined() { u32::MAX } else { limit.to_u32(context)? } as usize;
    let mut parts: Vec<JsValue> = Vec::new();
    let mut from = 0;
    for at in places(text.as_str(), separator.as_str(), most) {
        parts.push(text.slice(from, at).into());
        from = at + separator.len();
    }
    if parts.len() < most {
        parts.push(text.slice(from, text.len()).into());
    }
    Ok(Some(JsArray::from_iter(parts, context).into()))
}

/// The text of a call, what to look for in it and from where.
fn search(call: &Call<'_>) -> Option<(JsString, JsString, usize)> {
    let text = call.this.as_string()?;
    let needle = call.text(0)?;
    let from = call.number(1, 0.0)?;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, which is the rule"
    )]
    let from = (from.max(0.0) as usize).min(text.len());
    Some((text, needle, from))
}

#[allow(clippy::unnecessary_wraps, reason = "the shape of every body")]
fn index_of(call: &Call<'_>, _: &JsObject, _: &mut Context) -> JsResult<Option<JsValue>> {
    let Some((text, needle, from)) = search(call) else { return Ok(None) };
    let at = find(text.as_str(), needle.as_str(), from);
    Ok(Some(at.map_or(JsValue::from(-1), JsValue::from)))
}

#[allow(clippy::unnecessary_wraps, reason = "the shape of every body")]
fn includes(call: &Call<'_>, _: &JsObject, _: &mut Context) -> JsResult<Option<JsValue>> {
    let Some((text, needle, from)) = search(call) else { return Ok(None) };
    Ok(Some(find(text.as_str(), needle.as_str(), from).is_some().into()))
}

fn replace_all(call: &Call<'_>, _: &JsObject, context: &mut Context) -> JsResult<Option<JsValue>> {
    let (Some(text), Some(sought)) = (call.this.as_string(), call.text(0)) else { return Ok(None) };
    let by = call.argument(1);
    let (function, plain) = (by.as_callable(), by.as_string());
    // A `$` stands for parts of the text, which the engine knows to put in.
    let simple = plain.as_ref().is_some_and(|plain| !plain.contains(b'$'));
    if sought.is_empty() || !(simple || function.is_some()) {
        return Ok(None);
    }
    let mut parts = Vec::new();
    let mut from = 0;
    for at in places(text.as_str(), sought.as_str(), usize::MAX) {
        parts.push(text.slice(from, at));
        from = at + sought.len();
        parts.push(match (&function, &plain) {
            (Some(function), _) => {
                let arguments = [sought.clone().into(), JsValue::from(at), text.clone().into()];
                function.call(&JsValue::undefined(), &arguments, context)?.to_string(context)?
            }
            (None, plain) => plain.clone().unwrap_or_default(),
        });
    }
    parts.push(text.slice(from, text.len()));
    Ok(Some(JsString::from(parts.as_slice()).into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The units as the engine keeps narrow texts, or as it keeps wide ones.
    fn text(units: &[u16], wide: bool) -> JsString {
        let bytes: Option<Vec<u8>> = units.iter().map(|&unit| u8::try_from(unit).ok()).collect();
        match bytes {
            Some(bytes) if !wide => JsString::from(JsStr::latin1(&bytes)),
            _ => JsString::from(units),
        }
    }

    proptest! {
        #[test]
        fn finds_what_the_engine_finds(
            hay in proptest::collection::vec(97..100_u16, 0..40),
            needle in proptest::collection::vec(97..100_u16, 0..4),
            wide: (bool, bool),
            from in 0..41_usize,
        ) {
            let (hay, needle) = (text(&hay, wide.0), text(&needle, wide.1));
            let from = from.min(hay.len());
            prop_assert_eq!(find(hay.as_str(), needle.as_str(), from), hay.index_of(needle.as_str(), from));
        }
    }

    #[test]
    fn a_wide_unit_is_in_no_narrow_text() {
        let (narrow, wide) = (text(&[97, 0xe9], false), text(&[0x1e9], true));
        assert_eq!(find(narrow.as_str(), wide.as_str(), 0), None);
        assert_eq!(find(wide.as_str(), narrow.as_str(), 0), None);
    }
}
