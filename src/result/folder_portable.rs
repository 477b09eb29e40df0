//! Folders by path, for systems without descriptors relative to a folder.
//!
//! Every step is checked not to be a link before it is used. The check and the use are two moments,
//! so this is weaker than the variant for Unix against somebody who writes into the root at the same
//! time; access to the root is the operating system's to deny there.

use super::content::Content;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A folder.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Opens the root of a writer, creating it and what is above it.
    ///
    /// # Errors
    /// `PermissionDenied` when it is a link.
    pub fn create_root(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        real_folder(path.components().collect())
    }

    /// Opens the root of a reader; links are followed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open_root(path: &Path) -> io::Result<Self> {
        Ok(Self(fs::canonicalize(path)?))
    }

    /// Opens a folder in this one, creating it.
    ///
    /// # Errors
    /// `PermissionDenied` when it is a link.
    pub fn create_sub(&self, name: &str) -> io::Result<Self> {
        let path = self.0.join(name);
        match fs::create_dir(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => real_folder(path),
        }
    }

    /// Opens a folder in this one.
    ///
    /// # Errors
    /// Those of the file system; a link is an error as well.
    pub fn open_sub(&self, name: &str) -> io::Result<Self> {
        real_folder(self.0.join(name))
    }

    /// No lock here; the order of steps is safe without.
    ///
    /// # Errors
    /// None.
    #[allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "same face on every system")]
    pub fn lock(&self) -> io::Result<()> {
        Ok(())
    }

    /// Writes a new file; returns its size.
    ///
    /// # Errors
    /// `AlreadyExists`, and those of the file system.
    pub fn write_new(&self, name: &str, content: Content<'_>) -> io::Result<u64> {
        content.write_to(OpenOptions::new().write(true).create_new(true).open(self.0.join(name))?)
    }

    /// Renames within this folder, replacing what is there.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    /// Removes a file or link; one that is not there is no error.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.0.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Opens a regular file for reading; its size comes with it.
    ///
    /// # Errors
    /// `InvalidInput` when it is no regular file.
    pub fn open_file(&self, name: &str) -> io::Result<(File, u64)> {
        let path = self.0.join(name);
        if !fs::symlink_metadata(&path)?.is_file() {
            return Err(ErrorKind::InvalidInput.into());
        }
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        Ok((file, size))
    }
}

fn real_folder(path: PathBuf) -> io::Result<Folder> {
    if fs::symlink_metadata(&path)?.is_dir() {
        Ok(Folder(path))
    } else {
        Err(ErrorKind::PermissionDenied.into())
    }
}
