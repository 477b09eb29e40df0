//! Bounded results: cutting, safe artifact names, the spill writer and the file reader (spec 03
//! section 1).

pub mod bound;
pub mod content;
#[cfg_attr(unix, path = "folder_unix.rs")]
#[cfg_attr(not(unix), path = "folder_portable.rs")]
mod folder;
pub mod handle;
pub mod names;
pub mod reader;
pub mod scanned;
pub mod spill;
