//! Door of `result`.

use super::text::{JsText, TextIn};
use crate::inbound::scan::PatternSet;
use crate::result::bound::{self, Shape};
use crate::result::content::Content;
use crate::result::names;
use crate::result::reader::{self, Range};
use crate::result::scanned::{self, ScanPlan, Sidecars};
use crate::result::spill::{self, Artifact};
use crate::value::{cut, wtf8};
use napi::bindgen_prelude::{Utf16String, spawn_blocking};
use napi::{Error, Result};
use napi_derive::napi;
use std::fmt::Display;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn failed(error: impl Display) -> Error {
    Error::from_reason(error.to_string())
}

/// Runs work on a blocking thread; a panic there rejects.
async fn away<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    spawn_blocking(work).await.map_err(failed)
}

/// `shape`: 0 middle, 1 tail, 2 head.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn assemble_bounded(
    shape: u32,
    cap_tokens: f64,
    marker: Utf16String,
    head: Utf16String,
    tail: Utf16String,
) -> JsText {
    let shape = match shape {
        0 => Shape::Middle,
        1 => Shape::Tail,
        _ => Shape::Head,
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, which is wanted")]
    let cap = cap_tokens as usize;
    bound::assemble(shape, cap, &marker, &head, &tail).into()
}

/// Where a prefix of at most `want` units ends without splitting a pair.
#[napi(catch_unwind)]
pub fn prefix_end(text: Utf16String, want: u32) -> u32 {
    u32::try_from(cut::prefix_end(&text, want as usize)).unwrap_or(u32::MAX)
}

#[napi(object, object_to_js = false)]
pub struct SpillRequest {
    pub root: String,
    #[napi(ts_type = "string")]
    pub run_id: Utf16String,
    #[napi(ts_type = "string")]
    pub call_id: Utf16String,
    pub extension: String,
    pub sidecar: Option<String>,
    /// The sidecar's text for an artifact with hits; used instead when the scan finds some.
    pub sidecar_when_flagged: Option<String>,
    /// Catalogue patterns to scan for before writing; absent for no scan.
    pub patterns: Option<u32>,
    pub budget_ms: f64,
}

#[napi(object, object_from_js = false)]
pub struct Spilled {
    pub run: String,
    pub file: String,
    pub bytes: f64,
    /// Absent when there was no scan or it ran out of time.
    pub flagged: Option<bool>,
}

/// Scans (if asked to) and writes in one trip off the JavaScript thread.
#[napi(catch_unwind, ts_args_type = "body: string | LongText, request: SpillRequest")]
pub async fn spill_text(body: TextIn, request: SpillRequest) -> Result<Spilled> {
    away(move || {
        let artifact = Artifact {
            run_id: &request.run_id,
            call_id: &request.call_id,
            extension: &request.extension,
            content: match &body {
                TextIn::Ascii(text) => Content::Bytes(text),
                TextIn::Utf16(units) => Content::Utf16(units),
            },
        };
        let plan = request
            .patterns
            .map(|bits| ScanPlan { patterns: PatternSet::from_bits(bits), budget_ms: request.budget_ms });
        let sidecars =
            Sidecars { plain: request.sidecar.as_deref(), flagged: request.sidecar_when_flagged.as_deref() };
        let (written, flagged) =
            scanned::write(Path::new(&request.root), &artifact, plan, sidecars).map_err(failed)?;
        #[allow(clippy::cast_precision_loss, reason = "the size of a string, far below 2^53")]
        let bytes = written.bytes as f64;
        Ok(Spilled { run: written.run, file: written.file, bytes, flagged })
    })
    .await?
}

#[napi(catch_unwind)]
pub async fn clear_spilled(root: String, run_id: Utf16String) -> Result<()> {
    away(move || spill::clear(Path::new(&root), &run_id).map_err(failed)).await?
}

/// `now_ms`: what the caller's clock says, as `Date.now` does; the system's clock when absent.
#[napi(catch_unwind)]
pub async fn sweep_spilled(root: String, ttl_ms: f64, now_ms: Option<f64>) -> Result<u32> {
    let since_epoch = now_ms.and_then(|now| Duration::try_from_secs_f64(now / 1e3).ok());
    let now = since_epoch
        .and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since))
        .unwrap_or_else(SystemTime::now);
    away(move || spill::sweep(Path::new(&root), ttl_ms, now)).await
}

/// The folder name that stands for a run's id.
#[napi(catch_unwind)]
pub fn spill_segment(id: Utf16String) -> String {
    names::segment(&id)
}

#[napi(object, object_to_js = false)]
pub struct ReadRequest {
    pub root: String,
    pub uri: String,
    pub offset: Option<f64>,
    pub length: Option<f64>,
    pub start_line: Option<f64>,
    pub end_line: Option<f64>,
    pub cap: f64,
}

#[napi(object, object_from_js = false)]
pub struct ReadPage {
    #[napi(ts_type = "string")]
    pub content: JsText,
    pub bytes: f64,
    pub total_bytes: f64,
    pub eof: bool,
    #[napi(ts_type = "string")]
    pub sidecar: Option<JsText>,
}

#[napi(catch_unwind)]
#[allow(clippy::cast_precision_loss, reason = "file sizes, far below 2^53")]
pub async fn read_spilled(request: ReadRequest) -> Result<ReadPage> {
    away(move || {
        let range = Range {
            offset: request.offset,
            length: request.length,
            start_line: request.start_line,
            end_line: request.end_line,
            cap: request.cap,
        };
        let page = reader::read(Path::new(&request.root), &request.uri, &range).map_err(failed)?;
        Ok(ReadPage {
            content: page.content.into(),
            bytes: page.bytes as f64,
            total_bytes: page.total as f64,
            eof: page.eof,
            sidecar: page.sidecar.map(|bytes| wtf8::to_utf16(&bytes).into()),
        })
    })
    .await?
}
