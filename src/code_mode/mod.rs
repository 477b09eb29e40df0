//! Projection of tools as a typed code API.
//!
//! Empty on purpose: signatures are rendered in `js/code-mode`, because a schema is a live JavaScript
//! object (values of an enum print exactly as `JSON.stringify` prints them) and the projection has to
//! work without the addon. The room keeps its place in the map.
