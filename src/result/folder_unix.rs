//! Folders by descriptor: every step below the root is opened relative to its parent and without
//! following links, so that nobody can swap a path under our feet.

use super::content::Content;
use rustix::fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::Path;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// An open folder.
#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    /// Opens the root of a writer, creating it (and what is above it) with mode 0700.
    ///
    /// # Errors
    /// `PermissionDenied` when it is a link or another user's.
    pub fn create_root(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        // Components drop a trailing slash, which would make the kernel follow a link.
        let path: std::path::PathBuf = path.components().collect();
        owned(fs::open(&path, FOLDER | OFlags::NOFOLLOW, Mode::empty()).map_err(refuse_links)?)
    }

    /// Opens the root of a reader; links are followed, temporary folders often being links.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open_root(path: &Path) -> io::Result<Self> {
        Ok(Self(fs::open(path, FOLDER, Mode::empty())?))
    }

    /// Opens a folder in this one, creating it with mode 0700.
    ///
    /// # Errors
    /// `PermissionDenied` when it is a link or another user's.
    pub fn create_sub(&self, name: &str) -> io::Result<Self> {
        match fs::mkdirat(&self.0, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        owned(fs::openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()).map_err(refuse_links)?)
    }

    /// Opens a folder in this one.
    ///
    /// # Errors
    /// Those of the file system; a link counts as not there.
    pub fn open_sub(&self, name: &str) -> io::Result<Self> {
        Ok(Self(fs::openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?))
    }

    /// Waits until no other writer works in this folder. Released when the folder is dropped.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn lock(&self) -> io::Result<()> {
        match fs::flock(&self.0, FlockOperation::LockExclusive) {
            // Some network file systems know no locks; the order of steps is safe without.
            Ok(()) | Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a new file with mode 0600; returns its size.
    ///
    /// # Errors
    /// `AlreadyExists`, and those of the file system.
    pub fn write_new(&self, name: &str, content: Content<'_>) -> io::Result<u64> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        content.write_to(File::from(fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    /// Renames within this folder, replacing what is there.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Removes a file or link; one that is not there is no error.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match fs::unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a regular file for reading; its size comes with it.
    ///
    /// # Errors
    /// `InvalidInput` when it is no regular file; a link is an error as well.
    pub fn open_file(&self, name: &str) -> io::Result<(File, u64)> {
        // Without NONBLOCK, opening a pipe would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = fs::openat(&self.0, name, flags, Mode::empty())?;
        let stat = fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(ErrorKind::InvalidInput.into());
        }
        Ok((File::from(file), u64::try_from(stat.st_size).unwrap_or(0)))
    }
}

fn owned(folder: OwnedFd) -> io::Result<Folder> {
    let stat = fs::fstat(&folder)?;
    if stat.st_uid == rustix::process::geteuid().as_raw() {
        Ok(Folder(folder))
    } else {
        Err(ErrorKind::PermissionDenied.into())
    }
}

/// What opening a link without following it fails with differs between systems.
fn refuse_links(error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::NOTDIR | Errno::MLINK => ErrorKind::PermissionDenied.into(),
        other => other.into(),
    }
}
