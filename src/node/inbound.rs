//! Door of `inbound`.

use super::roomy::Roomy;
use super::text::{JsText, TextIn};
use crate::inbound::edits::Edits;
use crate::inbound::envelope::{self, Attributes};
use crate::inbound::invisible;
use crate::inbound::mask;
use crate::inbound::sanitize::{self, Outcome, Request};
use crate::inbound::scan::{self, Budget, PatternSet};
use napi::bindgen_prelude::{Either, Utf16String, spawn_blocking};
use napi_derive::napi;

#[napi(object, object_from_js = false)]
#[allow(clippy::struct_excessive_bools, reason = "mirrors the room's outcome")]
pub struct SanitizedText {
    #[napi(ts_type = "string")]
    pub body: Option<JsText>,
    pub edits: Option<TextEdits>,
    pub hits: u32,
    pub invisible: bool,
    pub timed_out: bool,
    pub blocked: bool,
    pub stripped: bool,
    pub bytes_stripped: f64,
    pub scan_us: f64,
}

/// The old text with masks in it and something around it.
#[napi(object, object_from_js = false)]
pub struct TextEdits {
    #[napi(ts_type = "string")]
    pub before: JsText,
    /// Start and end of each range that a mask stands for, ascending.
    pub masked: Vec<u32>,
    #[napi(ts_type = "string")]
    pub after: JsText,
}

#[napi(object, object_from_js = false)]
pub struct ScannedText {
    pub counts: Vec<u32>,
    pub matched: f64,
    pub scan_us: f64,
}

#[napi(object, object_from_js = false)]
pub struct CleanedText {
    #[napi(ts_type = "string")]
    pub text: JsText,
    pub hit: bool,
}

/// `flags`: 1 strip, 2 wrap, 4 fail closed. The last three are read only for wrapping.
fn request(
    flags: u32,
    patterns: u32,
    budget_ms: f64,
    trust: Option<Utf16String>,
    tool: Option<Utf16String>,
    origin: Option<Utf16String>,
) -> Request {
    let units = |text: Option<Utf16String>| text.map(|text| text.to_vec());
    Request {
        strip: flags & 1 != 0,
        wrap: (flags & 2 != 0).then(|| Attributes {
            trust: units(trust).unwrap_or_default(),
            tool: units(tool).unwrap_or_default(),
            origin: units(origin),
        }),
        fail_closed: flags & 4 != 0,
        patterns: PatternSet::from_bits(patterns),
        budget_ms,
        apart: true,
    }
}

fn sanitized(body: &TextIn, request: Request) -> Either<f64, SanitizedText> {
    match body {
        TextIn::Utf16(units) => told(sanitize::sanitize(units, &request)),
        TextIn::Ascii(text) => match request.to_ascii() {
            Some(request) => told(sanitize::sanitize_ascii(text, &request)),
            None => told(sanitize::sanitize(&widened(text), &request)),
        },
    }
}

fn widened(text: &[u8]) -> Vec<u16> {
    text.iter().map(|byte| u16::from(*byte)).collect()
}

/// A text with nothing to report, by far the most common one, is told by its scan time alone.
fn told<U>(outcome: Outcome<Roomy<U>, U>) -> Either<f64, SanitizedText>
where
    JsText: From<Roomy<U>> + From<Vec<U>>,
{
    if outcome.is_nothing() { Either::A(outcome.scan_us) } else { Either::B(outcome.into()) }
}

impl<U> From<Outcome<Roomy<U>, U>> for SanitizedText
where
    JsText: From<Roomy<U>> + From<Vec<U>>,
{
    fn from(outcome: Outcome<Roomy<U>, U>) -> Self {
        Self {
            body: outcome.body.map(JsText::from),
            edits: outcome.edits.map(TextEdits::from),
            hits: outcome.hits,
            invisible: outcome.invisible,
            timed_out: outcome.timed_out,
            blocked: outcome.blocked,
            stripped: outcome.stripped,
            bytes_stripped: count(outcome.bytes_stripped),
            scan_us: outcome.scan_us,
        }
    }
}

impl<U> From<Edits<U>> for TextEdits
where
    JsText: From<Vec<U>>,
{
    fn from(edits: Edits<U>) -> Self {
        let border = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            before: edits.before.into(),
            masked: edits.masked.iter().flat_map(|range| [border(range.start), border(range.end)]).collect(),
            after: edits.after.into(),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "lengths of strings, far below 2^53")]
fn count(value: usize) -> f64 {
    value as f64
}

#[napi(
    catch_unwind,
    ts_args_type = "body: string, flags: number, patterns: number, budgetMs: number, trust?: string, tool?: string, origin?: string"
)]
pub fn sanitize_text(
    body: TextIn,
    flags: u32,
    patterns: u32,
    budget_ms: f64,
    trust: Option<Utf16String>,
    tool: Option<Utf16String>,
    origin: Option<Utf16String>,
) -> Either<f64, SanitizedText> {
    sanitized(&body, request(flags, patterns, budget_ms, trust, tool, origin))
}

/// The same off the JavaScript thread.
#[napi(
    catch_unwind,
    ts_args_type = "body: string | LongText, flags: number, patterns: number, budgetMs: number, trust?: string, tool?: string, origin?: string"
)]
pub async fn sanitize_text_async(
    body: TextIn,
    flags: u32,
    patterns: u32,
    budget_ms: f64,
    trust: Option<Utf16String>,
    tool: Option<Utf16String>,
    origin: Option<Utf16String>,
) -> napi::Result<Either<f64, SanitizedText>> {
    let request = request(flags, patterns, budget_ms, trust, tool, origin);
    spawn_blocking(move || sanitized(&body, request))
        .await
        .map_err(|error| napi::Error::from_reason(error.to_string()))
}

#[napi(catch_unwind, ts_args_type = "body: string, patterns: number, budgetMs: number")]
pub fn scan_text(body: TextIn, patterns: u32, budget_ms: f64) -> Option<ScannedText> {
    let budget = Budget::start(budget_ms);
    let patterns = PatternSet::from_bits(patterns);
    let found = match &body {
        TextIn::Ascii(text) => scan::scan(text, patterns, &budget)?,
        TextIn::Utf16(units) => scan::scan(units, patterns, &budget)?,
    };
    Some(ScannedText {
        counts: found.counts.to_vec(),
        matched: count(found.matched),
        scan_us: budget.elapsed_us(),
    })
}

/// Whether the text has any hit; `None` when the budget ran out.
fn any_hit(body: &TextIn, patterns: u32, budget_ms: f64) -> Option<bool> {
    let patterns = PatternSet::from_bits(patterns);
    match body {
        TextIn::Ascii(text) => sanitize::has_hits_ascii(text, patterns, budget_ms),
        TextIn::Utf16(units) => sanitize::has_hits(units, patterns, budget_ms),
    }
}

/// Whether the text has any hit; null when the budget ran out.
#[napi(catch_unwind, ts_args_type = "body: string, patterns: number, budgetMs: number")]
pub fn has_hits(body: TextIn, patterns: u32, budget_ms: f64) -> Option<bool> {
    any_hit(&body, patterns, budget_ms)
}

/// The same off the JavaScript thread.
#[napi(catch_unwind, ts_args_type = "body: string | LongText, patterns: number, budgetMs: number")]
pub async fn has_hits_async(body: TextIn, patterns: u32, budget_ms: f64) -> napi::Result<Option<bool>> {
    spawn_blocking(move || any_hit(&body, patterns, budget_ms))
        .await
        .map_err(|error| napi::Error::from_reason(error.to_string()))
}

#[napi(catch_unwind, ts_args_type = "body: string, patterns: number", ts_return_type = "string | null")]
pub fn strip_text(body: TextIn, patterns: u32) -> Option<JsText> {
    let patterns = PatternSet::from_bits(patterns);
    match &body {
        TextIn::Ascii(text) => mask::strip(text, patterns).map(JsText::from),
        TextIn::Utf16(units) => mask::strip(units, patterns).map(JsText::from),
    }
}

#[napi(catch_unwind, ts_args_type = "body: string")]
pub fn clean_invisible(body: TextIn) -> Option<CleanedText> {
    match &body {
        TextIn::Ascii(_) => None,
        TextIn::Utf16(units) => {
            invisible::clean(units).map(|done| CleanedText { text: done.text.into(), hit: done.hit })
        }
    }
}

#[napi(catch_unwind, ts_args_type = "body: string, angleRuns: boolean", ts_return_type = "string | null")]
pub fn neutralize_text(body: TextIn, angle_runs: bool) -> Option<JsText> {
    match &body {
        TextIn::Ascii(text) => envelope::neutralize(text, angle_runs).map(JsText::from),
        TextIn::Utf16(units) => envelope::neutralize(units, angle_runs).map(JsText::from),
    }
}

#[napi(
    catch_unwind,
    ts_args_type = "body: string, trust: string, tool: string, origin?: string | undefined | null",
    ts_return_type = "string"
)]
pub fn wrap_text(
    body: Utf16String,
    trust: Utf16String,
    tool: Utf16String,
    origin: Option<Utf16String>,
) -> JsText {
    let attributes = Attributes {
        trust: trust.to_vec(),
        tool: tool.to_vec(),
        origin: origin.map(|origin| origin.to_vec()),
    };
    envelope::wrap::<_, Roomy<_>>(&body, &attributes).into()
}
