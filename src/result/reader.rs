//! Reading spilled artifacts by bytes or by lines (spec 03 section 1.5).
//!
//! Byte pages seek; line pages stream through a fixed buffer: memory does not grow with the file.
//! Pages end between two characters, so `offset + bytes` continues without loss.

use super::folder::Folder;
use super::handle::{self, HandleError};
use super::names;
use crate::value::cut::byte_prefix_end;
use crate::value::wtf8;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use thiserror::Error;

/// The most a sidecar may have to be believed.
const MAX_SIDECAR: u64 = 1 << 20;
const BUFFER: usize = 64 << 10;
/// The longest character in bytes.
const MAX_CHARACTER: u64 = 4;

/// Why there is no page. The messages show no path.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The handle names nothing.
    #[error(transparent)]
    Handle(#[from] HandleError),
    /// No such artifact, or something that is none in its place.
    #[error("Result handle not found: the artifact does not exist (any more)")]
    NotFound,
    /// The file system failed.
    #[error("The spilled result could not be read ({0})")]
    Io(ErrorKind),
}

/// Which part to read. Fractions are cut off, NaN counts as absent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Range {
    /// First byte. Default 0.
    pub offset: Option<f64>,
    /// Number of bytes. Default: to the end.
    pub length: Option<f64>,
    /// First line, from 1. This or `end_line` selects lines and wins over bytes.
    pub start_line: Option<f64>,
    /// Last line, inclusive.
    pub end_line: Option<f64>,
    /// The most bytes a page may have.
    pub cap: f64,
}

/// One page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The text.
    pub content: Vec<u16>,
    /// Its length in bytes of the artifact (byte pages) or in UTF-8 (line pages).
    pub bytes: u64,
    /// The size of the artifact.
    pub total: u64,
    /// Nothing follows.
    pub eof: bool,
    /// The sidecar's bytes, if there is a readable one.
    pub sidecar: Option<Vec<u8>>,
}

/// Reads one page of the artifact a handle names.
///
/// # Errors
/// A [`ReadError`].
pub fn read(root: &Path, uri: &str, range: &Range) -> Result<Page, ReadError> {
    let handle = handle::parse(uri)?;
    let folder = Folder::open_root(root).and_then(|root| root.open_sub(handle.run)).map_err(not_found)?;
    let (file, total) = folder.open_file(handle.file).map_err(not_found)?;
    let sidecar = sidecar(&folder, handle.file);
    let cap = whole(range.cap);
    let by_line = number(range.start_line).is_some() || number(range.end_line).is_some();
    let page = if by_line { lines(file, range, cap) } else { bytes(file, total, range, cap) };
    let (content, bytes, eof) = page.map_err(|error| ReadError::Io(error.kind()))?;
    Ok(Page { content, bytes, total, eof, sidecar })
}

#[allow(clippy::needless_pass_by_value, reason = "the shape `map_err` wants")]
fn not_found(error: io::Error) -> ReadError {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::OutOfMemory | ErrorKind::Interrupted => {
            ReadError::Io(error.kind())
        }
        // Links, folders, pipes and overlong names are no artifacts.
        _ => ReadError::NotFound,
    }
}

fn sidecar(folder: &Folder, file: &str) -> Option<Vec<u8>> {
    let (file, size) = folder.open_file(&names::sidecar(file)).ok()?;
    let mut content = Vec::new();
    if size > MAX_SIDECAR {
        return None;
    }
    file.take(MAX_SIDECAR).read_to_end(&mut content).ok()?;
    Some(content)
}

fn number(value: Option<f64>) -> Option<f64> {
    value.filter(|value| !value.is_nan())
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, which is wanted")]
fn whole(value: f64) -> u64 {
    value.max(0.0) as u64
}

type Part = (Vec<u16>, u64, bool);

fn bytes(mut file: File, total: u64, range: &Range, cap: u64) -> io::Result<Part> {
    let offset = whole(number(range.offset).unwrap_or(0.0)).min(total);
    let wanted = number(range.length).map_or(total - offset, whole).min(total - offset);
    let len = wanted.min(cap);
    file.seek(SeekFrom::Start(offset))?;
    // A few bytes more, so that a page smaller than a character still moves on.
    let ahead = if len == 0 { 0 } else { (total - offset).min(len + MAX_CHARACTER) };
    let mut content = Vec::new();
    file.take(ahead).read_to_end(&mut content)?;
    let len = usize::try_from(len).unwrap_or(usize::MAX).min(content.len());
    content.truncate(page_end(&content, len));
    let end = offset + content.len() as u64;
    Ok((wtf8::to_utf16(&content), content.len() as u64, end >= total))
}

/// Where a page of at most `len` bytes ends: between two characters, but never before the end of the
/// first one, or paging would stand still.
fn page_end(content: &[u8], len: usize) -> usize {
    let end = byte_prefix_end(content, len, false);
    if end > 0 || len == 0 {
        return end;
    }
    (len + 1..=content.len()).find(|want| byte_prefix_end(content, *want, false) > 0).unwrap_or(content.len())
}

fn lines(mut file: File, range: &Range, cap: u64) -> io::Result<Part> {
    let start = whole(number(range.start_line).unwrap_or(1.0)).max(1);
    let end = number(range.end_line).map_or(u64::MAX, whole);
    let cap = usize::try_from(cap).unwrap_or(usize::MAX);
    // One character beyond the cap tells whether the page was cut, and where.
    let keep = cap.saturating_add(4);
    let mut selected: Vec<u8> = Vec::new();
    let mut line = 1;
    let mut more_lines = end == 0;
    let mut buffer = vec![0; BUFFER];
    'reading: while !more_lines {
        let filled = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(filled) => filled,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut rest = &buffer[..filled];
        while !rest.is_empty() {
            let feed = memchr::memchr(b'\n', rest);
            let text = &rest[..feed.unwrap_or(rest.len())];
            if line >= start && line <= end {
                let room = keep.saturating_sub(selected.len());
                selected.extend_from_slice(&text[..text.len().min(room)]);
            }
            let Some(feed) = feed else { break };
            if line >= end {
                more_lines = true;
                break 'reading;
            }
            if line >= start && selected.len() < keep {
                selected.push(b'\n');
            }
            line += 1;
            rest = &rest[feed + 1..];
            if selected.len() > cap {
                break 'reading;
            }
        }
        if selected.len() > cap {
            break;
        }
    }
    let cut = selected.len() > cap;
    if cut {
        selected.truncate(if cap == 0 { 0 } else { page_end(&selected, cap) });
    }
    let content = wtf8::to_utf16(&selected);
    let bytes = wtf8::len_of_utf16(&content) as u64;
    Ok((content, bytes, !more_lines && !cut))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn artifact(content: &[u8]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("temp");
        fs::create_dir(dir.path().join("run")).expect("made");
        fs::write(dir.path().join("run/c.txt"), content).expect("written");
        dir
    }

    fn page(root: &Path, range: Range) -> (String, u64, u64, bool) {
        let page = read(root, "graphorin-spill:run/c.txt", &range).expect("read");
        (String::from_utf16_lossy(&page.content), page.bytes, page.total, page.eof)
    }

    const ALL: Range = Range { offset: None, length: None, start_line: None, end_line: None, cap: 65536.0 };

    #[test]
    fn byte_pages_of_section_1_5() {
        let dir = artifact(b"0123456789abcdefghijklm");
        let at = |offset, length, cap| page(dir.path(), Range { offset, length, cap, ..ALL });
        assert_eq!(at(None, None, 65536.0), ("0123456789abcdefghijklm".into(), 23, 23, true));
        assert_eq!(at(Some(1000.0), None, 65536.0), (String::new(), 0, 23, true));
        assert_eq!(at(None, Some(0.0), 65536.0), (String::new(), 0, 23, false));
        assert_eq!(at(None, None, -1.0), (String::new(), 0, 23, false));
        assert_eq!(at(Some(-5.0), Some(3.0), 65536.0), ("012".into(), 3, 23, false));
        assert_eq!(at(Some(20.0), Some(99.0), 2.0), ("kl".into(), 2, 23, false));
    }

    #[test]
    fn line_pages_of_section_1_5() {
        let dir = artifact("one\r\ntwo\nthree\n".as_bytes());
        let at = |start_line, end_line, cap| page(dir.path(), Range { start_line, end_line, cap, ..ALL });
        assert_eq!(at(Some(2.0), Some(3.0), 99.0), ("two\nthree".into(), 9, 15, false));
        assert_eq!(at(Some(1.0), Some(1.0), 99.0), ("one\r".into(), 4, 15, false));
        assert_eq!(at(Some(3.0), None, 99.0), ("three\n".into(), 6, 15, true));
        assert_eq!(at(None, Some(4.0), 99.0), ("one\r\ntwo\nthree\n".into(), 15, 15, true));
        assert_eq!(at(None, Some(3.0), 99.0), ("one\r\ntwo\nthree".into(), 14, 15, false));
        assert_eq!(at(Some(9.0), None, 99.0), (String::new(), 0, 15, true));
        assert_eq!(at(Some(3.0), Some(2.0), 99.0), (String::new(), 0, 15, false));
        assert_eq!(at(Some(1.0), None, 6.0), ("one\r\nt".into(), 6, 15, false));
        assert_eq!(at(Some(1.0), None, 0.0), (String::new(), 0, 15, false));
        let empty = artifact(b"");
        assert_eq!(page(empty.path(), Range { start_line: Some(1.0), ..ALL }), (String::new(), 0, 0, true));
    }

    #[test]
    fn pages_end_between_characters_and_move_on() {
        let dir = artifact("h é🦊".as_bytes());
        let at = |cap| page(dir.path(), Range { cap, ..ALL });
        assert_eq!(at(3.0), ("h ".into(), 2, 8, false));
        assert_eq!(page(dir.path(), Range { start_line: Some(1.0), cap: 3.0, ..ALL }).0, "h ");
        assert_eq!(page(dir.path(), Range { offset: Some(4.0), cap: 1.0, ..ALL }), ("🦊".into(), 4, 8, true));
    }

    #[test]
    fn what_is_no_artifact_is_not_found() {
        let dir = artifact(b"x");
        symlink("/etc/passwd", dir.path().join("run/link.txt")).expect("linked");
        symlink("/etc", dir.path().join("etc")).expect("linked");
        fs::create_dir(dir.path().join("run/folder")).expect("made");
        for name in ["run/link.txt", "etc/passwd", "run/folder", "run/none", "none/c.txt"] {
            let error = read(dir.path(), &format!("graphorin-spill:{name}"), &ALL).expect_err("refused");
            assert!(matches!(error, ReadError::NotFound), "{name}: {error}");
            assert!(!error.to_string().contains(&*dir.path().to_string_lossy()));
        }
    }

    #[test]
    fn the_sidecar_comes_along() {
        let dir = artifact(b"x");
        assert_eq!(read(dir.path(), "graphorin-spill:run/c.txt", &ALL).expect("read").sidecar, None);
        fs::write(dir.path().join("run/c.txt.meta.json"), "{").expect("written");
        let page = read(dir.path(), "graphorin-spill:run/c.txt", &ALL).expect("read");
        assert_eq!(page.sidecar.as_deref(), Some(&b"{"[..]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn byte_pages_join_to_the_whole(text in "[a-cé🦊\\r\\n]{0,60}", cap in 1u32..9) {
            let dir = artifact(text.as_bytes());
            let mut offset = 0;
            let mut joined = String::new();
            loop {
                let range = Range { offset: Some(f64::from(offset)), cap: f64::from(cap), ..ALL };
                let (content, bytes, total, eof) = page(dir.path(), range);
                prop_assert!(bytes <= u64::from(cap.max(4)));
                prop_assert!(eof || bytes > 0, "stuck at {}", offset);
                joined.push_str(&content);
                offset += u32::try_from(bytes).expect("small");
                prop_assert_eq!(eof, u64::from(offset) >= total);
                if eof { break; }
            }
            prop_assert_eq!(joined, text);
        }

        #[test]
        fn line_pages_are_the_lines(text in "[ab\\r\\n]{0,40}", start in 1u32..8, end in 0u32..8) {
            let dir = artifact(text.as_bytes());
            let lines: Vec<&str> = text.split('\n').collect();
            let last = (end as usize).min(lines.len());
            let expected = if start as usize <= last { lines[start as usize - 1..last].join("\n") } else { String::new() };
            let range = Range { start_line: Some(f64::from(start)), end_line: Some(f64::from(end)), ..ALL };
            let (content, bytes, _, eof) = page(dir.path(), range);
            prop_assert_eq!(&content, &expected);
            prop_assert_eq!(bytes, expected.len() as u64);
            prop_assert_eq!(eof, end as usize >= lines.len());
        }
    }
}
