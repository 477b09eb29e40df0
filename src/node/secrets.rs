//! Door of `secrets`: parsing references. Only references cross, never values.

use crate::secrets::{self, ParseFaultKind};
use napi::bindgen_prelude::Utf16String;
use napi_derive::napi;

/// A parsed reference, or a fault: `fault` present means that nothing else is.
#[napi(object)]
#[derive(Default)]
pub struct NativeSecretRef {
    pub fault: Option<String>,
    pub position: Option<u32>,
    pub scheme: Option<String>,
    pub authority: Option<String>,
    pub path: Option<String>,
    pub names: Option<Vec<String>>,
    pub values: Option<Vec<String>>,
    pub fragment: Option<String>,
}

#[napi(catch_unwind)]
pub fn parse_secret_ref(text: Utf16String) -> NativeSecretRef {
    match secrets::parse(&text) {
        Ok(parsed) => {
            let (names, values) = parsed.query.into_iter().unzip();
            NativeSecretRef {
                scheme: Some(parsed.scheme),
                authority: parsed.authority,
                path: Some(parsed.path),
                names: Some(names),
                values: Some(values),
                fragment: parsed.fragment,
                ..NativeSecretRef::default()
            }
        }
        Err(fault) => NativeSecretRef {
            fault: Some(kind_name(fault.kind).to_owned()),
            position: fault.position.and_then(|at| u32::try_from(at).ok()),
            ..NativeSecretRef::default()
        },
    }
}

fn kind_name(kind: ParseFaultKind) -> &'static str {
    match kind {
        ParseFaultKind::EmptyInput => "empty-input",
        ParseFaultKind::InvalidScheme => "invalid-scheme",
        ParseFaultKind::MalformedUri => "malformed-uri",
        ParseFaultKind::UnexpectedAuthority => "unexpected-authority",
        ParseFaultKind::EmptyPath => "empty-path",
        ParseFaultKind::InvalidPercentEncoding => "invalid-percent-encoding",
    }
}
