//! What the fuzz targets of results and inbound check: each takes any bytes and panics on a broken
//! promise. Shared by the libFuzzer targets and by `tests/fuzz_smoke.rs`.
#![allow(dead_code, reason = "every target uses one")]

use ferrule::inbound::envelope::{Attributes, CLOSE};
use ferrule::inbound::mask::strip;
use ferrule::inbound::sanitize::{Request, sanitize, sanitize_ascii};
use ferrule::inbound::scan::{Budget, PatternSet, scan};
use ferrule::result::bound::{Shape, UNITS_PER_TOKEN, assemble};
use ferrule::result::content::Content;
use ferrule::result::reader::{self, Range};
use ferrule::result::{handle, names, spill};
use ferrule::value::wtf8;

fn units(data: &[u8]) -> Vec<u16> {
    wtf8::to_utf16(data)
}

/// The first byte, and the rest.
fn pop(data: &[u8]) -> (u8, &[u8]) {
    data.split_first().map_or((0, data), |(first, rest)| (*first, rest))
}

/// Cuts keep to the cap, split no pair, and do not depend on the window.
pub fn cutter(data: &[u8]) {
    let (cap, data) = pop(data);
    let (marker, data) = pop(data);
    let cap = usize::from(cap);
    let marker: Vec<u16> = vec![u16::from(b'm'); usize::from(marker)];
    let text = units(data);
    if text.len() <= cap * UNITS_PER_TOKEN {
        return;
    }
    for shape in [Shape::Middle, Shape::Tail, Shape::Head] {
        let out = assemble(shape, cap, &marker, &text, &text);
        if marker.len() + 2 <= cap * UNITS_PER_TOKEN {
            assert!(out.len().div_ceil(UNITS_PER_TOKEN) <= cap, "over the cap");
        }
        if String::from_utf16(&text).is_ok() {
            assert!(String::from_utf16(&out).is_ok(), "a pair was split");
        }
        let window = cap * UNITS_PER_TOKEN + 1;
        let head = &text[..window.min(text.len())];
        let tail = &text[text.len() - window.min(text.len())..];
        assert_eq!(assemble(shape, cap, &marker, head, tail), out, "the window matters");
    }
}

/// What strips also hits, offsets hold for any text, and the envelope cannot be faked.
pub fn scanner(data: &[u8]) {
    let text = units(data);
    let found = scan(&text, PatternSet::ALL, &Budget::start(f64::INFINITY)).expect("no limit");
    let stripped = strip(&text, PatternSet::ALL);
    assert_eq!(found.any(), stripped.is_some());
    let attributes = Attributes { trust: text.clone(), tool: text.clone(), origin: Some(text.clone()) };
    let request = Request {
        strip: text.len().is_multiple_of(2),
        wrap: Some(attributes),
        fail_closed: false,
        patterns: PatternSet::ALL,
        budget_ms: f64::INFINITY,
        apart: false,
    };
    let outcome = sanitize::<Vec<_>>(&text, &request);
    if let Some(narrow) = request.to_ascii() {
        let bytes: Vec<u8> = text.iter().filter_map(|unit| u8::try_from(*unit).ok()).collect();
        let same = sanitize_ascii::<Vec<_>>(&bytes, &narrow);
        let widened: Option<Vec<u16>> = same.body.map(|body| body.into_iter().map(u16::from).collect());
        assert_eq!(
            (same.hits, same.stripped, widened),
            (outcome.hits, outcome.stripped, outcome.body.clone())
        );
    }
    let wrapped = String::from_utf16_lossy(&outcome.body.expect("wrapped"));
    let lower = wrapped.to_ascii_lowercase();
    assert!(wrapped.ends_with(CLOSE));
    assert_eq!(lower.matches("<<<untrusted_content").count(), 1);
    assert_eq!(lower.matches("<<</untrusted_content").count(), 1);
    assert!(wrapped.lines().next().is_some_and(|line| line.matches(">>>").count() == 1));
}

/// Whatever parses has two segments that stay where they are.
pub fn handle_uri(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for uri in [text.to_string(), format!("{}{text}", handle::SCHEME)] {
        match handle::parse(&uri) {
            Ok(handle) => {
                for segment in [handle.run, handle.file] {
                    assert!(!segment.is_empty() && segment != "." && segment != "..");
                    assert!(!segment.contains(['/', '\\', '\0']));
                }
                assert!(!names::is_sidecar(handle.file));
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// Pages of any range stay within cap and file, and byte pages join to the whole.
pub fn reader_range(data: &[u8]) {
    let (cap, data) = pop(data);
    let (offset, data) = pop(data);
    let (length, data) = pop(data);
    let dir = tempfile::tempdir().expect("temp");
    std::fs::create_dir(dir.path().join("r")).expect("made");
    std::fs::write(dir.path().join("r/c.txt"), data).expect("written");
    let read = |range: &Range| reader::read(dir.path(), "graphorin-spill:r/c.txt", range).expect("a page");
    let special = |byte: u8| match byte {
        255 => f64::NAN,
        254 => f64::INFINITY,
        253 => -1.0,
        252 => 1e300,
        _ => f64::from(byte) / 2.0,
    };
    let total = data.len() as u64;
    for lines in [false, true] {
        let mut range = Range { cap: special(cap), ..Range::default() };
        if lines {
            (range.start_line, range.end_line) = (Some(special(offset)), Some(special(length)));
        } else {
            (range.offset, range.length) = (Some(special(offset)), Some(special(length)));
        }
        let page = read(&range);
        assert_eq!(page.total, total);
        if !lines {
            assert!(page.bytes <= total);
        }
    }
    let cap = f64::from(cap % 9 + 1);
    let mut at = 0u32;
    let mut joined = Vec::new();
    loop {
        let page = read(&Range { offset: Some(f64::from(at)), cap, ..Range::default() });
        assert!(page.eof || page.bytes > 0, "stuck");
        joined.extend(page.content);
        at += u32::try_from(page.bytes).expect("small");
        if page.eof {
            break;
        }
    }
    assert_eq!(u64::from(at), total);
    if std::str::from_utf8(data).is_ok() {
        assert_eq!(joined, units(data));
    }
}

/// No id, extension or content makes an artifact a sidecar, or leaves the root; taint comes back.
pub fn sidecar(data: &[u8]) {
    let middle = data.len() / 2;
    let (left, right) = (units(&data[..middle]), units(&data[middle..]));
    let extension = String::from_utf8_lossy(&data[middle..]);
    let name = names::artifact(&left, &extension);
    assert!(!names::is_sidecar(&name) && name.len() + names::SIDECAR_SUFFIX.len() <= 255);
    assert_ne!(name, names::sidecar(&names::artifact(&right, "txt")));
    if left != right {
        assert_ne!(names::segment(&left), names::segment(&right));
    }
    let dir = tempfile::tempdir().expect("temp");
    let root = dir.path().join("root");
    let artifact = spill::Artifact {
        run_id: &left,
        call_id: &right,
        extension: &extension,
        content: Content::Bytes(data),
    };
    let written = spill::write(&root, &artifact, || Some(data)).expect("written");
    let uri = format!("{}{}/{}", handle::SCHEME, written.run, written.file);
    let page = reader::read(&root, &uri, &Range { cap: 1e9, ..Range::default() }).expect("read");
    assert_eq!(page.sidecar.as_deref(), Some(data));
    assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 1, "something left the root");
    spill::clear(&root, &left).expect("cleared");
    assert_eq!(std::fs::read_dir(&root).expect("listed").count(), 0);
}
