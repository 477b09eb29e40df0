//! JSON text in and out, depth and size limits, canonical form, well-formed cuts, token estimates.
