//! Text and values shared by every room: UTF-16 to WTF-8 and back, and cuts that keep pairs whole.
//!
//! JavaScript text is UTF-16 and may hold lone surrogates; nothing here replaces one.

pub mod cut;
pub mod wtf8;
