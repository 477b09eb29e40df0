//! The injection-classifier seam.
