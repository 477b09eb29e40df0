//! Door of `outbound`: the splitter of wrapped text.

use crate::outbound;
use napi::bindgen_prelude::Utf16String;
use napi_derive::napi;

/// For each piece where it ends, and 1 for an envelope or 0 for plain text, alternating.
#[napi(catch_unwind)]
pub fn split_wrapped(text: Utf16String, open: Utf16String, close: Utf16String) -> Vec<u32> {
    let end = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    outbound::split(&text, &open, &close)
        .into_iter()
        .flat_map(|segment| [end(segment.end), u32::from(segment.wrapped)])
        .collect()
}
