//! Projection of tools as a typed code API.
