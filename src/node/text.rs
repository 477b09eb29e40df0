//! Text across the border.
//!
//! JavaScript strings are UTF-16 and may hold lone surrogates. Take them as `Utf16String` (a
//! `Vec<u16>`) wherever a lossy copy would change a result; `String` replaces lone surrogates with
//! U+FFFD and is right only for keys and names.
