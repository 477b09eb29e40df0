//! The spill writer: artifacts, their taint sidecars, clearing and sweeping (spec 03 section 1.4).
//!
//! A writer that dies at any moment leaves either no artifact or a complete one with its sidecar:
//! the text goes to an unfinished file first; then an older artifact of the name is removed, the
//! sidecar put in place, and the artifact renamed last. Unfinished files go with their run.

use super::content::Content;
use super::folder::Folder;
use super::names;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// Why nothing was written. The messages show no path.
#[derive(Debug, Error)]
pub enum SpillError {
    /// The root or the run's folder is a link or belongs to somebody else.
    #[error("the spill folder is not a private folder of this user")]
    NotOurs,
    /// The folder cannot be made or opened.
    #[error("the spill folder cannot be used ({0})")]
    Folder(ErrorKind),
    /// The artifact or its sidecar cannot be written.
    #[error("the spilled result could not be written ({0})")]
    Write(ErrorKind),
    /// A run's artifacts cannot be removed.
    #[error("the spilled results of the run could not be removed ({0})")]
    Clear(ErrorKind),
}

/// Where an artifact was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The folder of the run, below the root.
    pub run: String,
    /// The file in it.
    pub file: String,
    /// The file's size.
    pub bytes: u64,
}

/// What to write.
#[derive(Debug, Clone, Copy)]
pub struct Artifact<'a> {
    /// The run's id, as it came.
    pub run_id: &'a [u16],
    /// The call's id, as it came.
    pub call_id: &'a [u16],
    /// The extension, as it came.
    pub extension: &'a str,
    /// The text.
    pub content: Content<'a>,
}

/// Writes an artifact below `root`, which is made when it is not there. `sidecar` is asked for the
/// sidecar's text, if the artifact is tainted, once the text is written: it may wait for a scan.
///
/// # Errors
/// A [`SpillError`]; then the artifact does not exist.
pub fn write<'a>(
    root: &Path,
    artifact: &Artifact<'_>,
    mut sidecar: impl FnMut() -> Option<&'a [u8]>,
) -> Result<Written, SpillError> {
    let run = names::segment(artifact.run_id);
    let file = names::artifact(artifact.call_id, artifact.extension);
    let mut tries = 0;
    loop {
        tries += 1;
        let result =
            run_folder(root, &run).and_then(|folder| place(&folder, &file, artifact.content, &mut sidecar));
        match result {
            // Somebody swept the folder away between making it and writing into it.
            Err(SpillError::Folder(ErrorKind::NotFound) | SpillError::Write(ErrorKind::NotFound))
                if tries < 3 => {}
            Err(error) => return Err(error),
            Ok(bytes) => return Ok(Written { run, file, bytes }),
        }
    }
}

fn run_folder(root: &Path, run: &str) -> Result<Folder, SpillError> {
    let folder_error = |error: io::Error| match error.kind() {
        ErrorKind::PermissionDenied => SpillError::NotOurs,
        kind => SpillError::Folder(kind),
    };
    let folder = Folder::create_root(root).and_then(|root| root.create_sub(run)).map_err(folder_error)?;
    folder.lock().map_err(folder_error)?;
    Ok(folder)
}

fn place<'a>(
    folder: &Folder,
    file: &str,
    content: Content<'_>,
    taint: &mut impl FnMut() -> Option<&'a [u8]>,
) -> Result<u64, SpillError> {
    let stamp = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let unfinished = format!("{}{}-{stamp}", names::TEMPORARY_PREFIX, std::process::id());
    let unfinished_sidecar = format!("{unfinished}m");
    let sidecar = names::sidecar(file);
    let mut steps = || -> io::Result<u64> {
        let bytes = folder.write_new(&unfinished, content)?;
        let taint = taint();
        folder.remove(file)?;
        match taint {
            Some(text) => {
                folder.write_new(&unfinished_sidecar, Content::Bytes(text))?;
                folder.rename(&unfinished_sidecar, &sidecar)?;
            }
            None => folder.remove(&sidecar)?,
        }
        folder.rename(&unfinished, file)?;
        Ok(bytes)
    };
    steps().map_err(|error| {
        // Best effort: what stays behind is swept with the run.
        let _ = folder.remove(&unfinished);
        let _ = folder.remove(&unfinished_sidecar);
        SpillError::Write(error.kind())
    })
}

/// How often a folder is emptied that somebody writes into meanwhile.
const CLEAR_ROUNDS: usize = 8;

/// Removes everything of one run. A run that wrote nothing is no error; links are not followed.
///
/// A writer of the same run may put a file into the folder after it was emptied and before it is removed. Then
/// it is emptied again; a writer that never pauses keeps its newest files, which were not there at the call.
///
/// # Errors
/// [`SpillError::Clear`].
pub fn clear(root: &Path, run_id: &[u16]) -> Result<(), SpillError> {
    let path = root.join(names::segment(run_id));
    for _ in 0..CLEAR_ROUNDS {
        let result = match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => std::fs::remove_dir_all(&path),
            Ok(_) => std::fs::remove_file(&path),
            Err(error) => Err(error),
        };
        match result {
            // Only an emptied folder is removed, so what it still has is newer than this call.
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(SpillError::Clear(error.kind())),
            _ => return Ok(()),
        }
    }
    Ok(())
}

/// Removes the folders directly below the root that nobody wrote into for longer than `ttl_ms`
/// milliseconds (negative counts as 0) at the time `now`; returns how many. Files, links and errors are
/// passed over.
#[must_use]
pub fn sweep(root: &Path, ttl_ms: f64, now: SystemTime) -> u32 {
    let Ok(entries) = std::fs::read_dir(root) else { return 0 };
    let mut removed = 0;
    for entry in entries.flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        let age = metadata.modified().ok().and_then(|changed| now.duration_since(changed).ok());
        let old = age.is_some_and(|age| age.as_secs_f64() * 1e3 > ttl_ms.max(0.0)) && !ttl_ms.is_nan();
        if metadata.is_dir() && old && std::fs::remove_dir_all(entry.path()).is_ok() {
            removed += 1;
        }
    }
    removed
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, symlink};
    use std::time::Duration;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    fn put(
        root: &Path,
        run: &str,
        call: &str,
        body: &str,
        sidecar: Option<&str>,
    ) -> Result<Written, SpillError> {
        write(
            root,
            &Artifact {
                run_id: &units(run),
                call_id: &units(call),
                extension: "txt",
                content: Content::Bytes(body.as_bytes()),
            },
            || sidecar.map(str::as_bytes),
        )
    }

    #[test]
    fn writes_privately_and_where_documented() {
        let dir = tempfile::tempdir().expect("temp");
        let root = dir.path().join("a/spill");
        let written = put(&root, "run-a", "c1", "body", Some("{}")).expect("written");
        assert_eq!(written, Written { run: "run-a".into(), file: "c1.txt".into(), bytes: 4 });
        assert_eq!(fs::read_to_string(root.join("run-a/c1.txt")).expect("read"), "body");
        for (path, mode) in
            [("", 0o700), ("run-a", 0o700), ("run-a/c1.txt", 0o600), ("run-a/c1.txt.meta.json", 0o600)]
        {
            assert_eq!(fs::metadata(root.join(path)).expect("there").mode() & 0o777, mode, "{path}");
        }
        assert_eq!(fs::read_dir(root.join("run-a")).expect("listed").count(), 2, "nothing unfinished stays");
    }

    #[test]
    fn rewriting_replaces_and_drops_a_stale_sidecar() {
        let dir = tempfile::tempdir().expect("temp");
        put(dir.path(), "r", "c", "old", Some("{}")).expect("written");
        put(dir.path(), "r", "c", "new", None).expect("written");
        assert_eq!(fs::read_to_string(dir.path().join("r/c.txt")).expect("read"), "new");
        assert!(!dir.path().join("r/c.txt.meta.json").exists());
    }

    #[test]
    fn links_are_refused_and_never_followed() {
        let dir = tempfile::tempdir().expect("temp");
        let outside = dir.path().join("outside");
        fs::create_dir(&outside).expect("made");
        fs::write(outside.join("keep"), "x").expect("made");
        let root = dir.path().join("root");
        symlink(&outside, &root).expect("linked");
        assert!(matches!(put(&root, "r", "c", "b", None), Err(SpillError::NotOurs)));
        fs::remove_file(&root).expect("unlinked");
        fs::create_dir(&root).expect("made");
        symlink(&outside, root.join("r")).expect("linked");
        assert!(matches!(put(&root, "r", "c", "b", None), Err(SpillError::NotOurs)));
        clear(&root, &units("r")).expect("cleared");
        assert!(outside.join("keep").exists() && !root.join("r").exists());
        fs::create_dir(root.join("r")).expect("made");
        symlink(outside.join("keep"), root.join("r/c.txt")).expect("linked");
        symlink(outside.join("keep"), root.join("r/c.txt.meta.json")).expect("linked");
        put(&root, "r", "c", "b", Some("{}")).expect("the links are replaced");
        assert_eq!(fs::read_to_string(outside.join("keep")).expect("read"), "x");
    }

    #[test]
    fn hostile_ids_stay_below_the_root() {
        let dir = tempfile::tempdir().expect("temp");
        let root = dir.path().join("root");
        for id in ["../../x", "..", "a/b", "", "c.txt.meta", "a\0b", &"y".repeat(300)] {
            let written = put(&root, id, id, "b", None).expect("written");
            assert!(root.join(&written.run).join(&written.file).is_file());
            clear(&root, &units(id)).expect("cleared");
            assert!(!root.join(&written.run).exists(), "{id:?} is cleared under its own name");
        }
        assert_eq!(fs::read_dir(dir.path()).expect("listed").count(), 1);
    }

    #[test]
    fn sweeps_old_folders_only() {
        let dir = tempfile::tempdir().expect("temp");
        put(dir.path(), "old", "c", "b", None).expect("written");
        fs::write(dir.path().join("file"), "x").expect("written");
        let past = SystemTime::now() - Duration::from_secs(3600);
        fs::File::open(dir.path().join("old")).and_then(|f| f.set_modified(past)).expect("aged");
        put(dir.path(), "new", "c", "b", None).expect("written");
        assert_eq!(sweep(dir.path(), f64::NAN, SystemTime::now()), 0);
        assert_eq!(sweep(dir.path(), 60_000.0, SystemTime::now()), 1);
        assert!(dir.path().join("new/c.txt").exists() && dir.path().join("file").exists());
        let in_a_day = SystemTime::now() + Duration::from_hours(24);
        assert_eq!(sweep(dir.path(), 60_000.0 * 60.0 * 25.0, in_a_day), 0);
        assert_eq!(sweep(&dir.path().join("nowhere"), 0.0, SystemTime::now()), 0);
    }

    #[test]
    fn messages_show_no_path() {
        let error = put(Path::new("/proc/no-such-thing/x"), "r", "c", "b", None).expect_err("refused");
        assert!(!error.to_string().contains("proc"), "{error}");
    }
}
