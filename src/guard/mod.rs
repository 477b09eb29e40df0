//! Memory-modification guards and their hash.
