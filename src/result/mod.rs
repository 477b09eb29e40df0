//! Bounding, spilling and reading back of tool results.
