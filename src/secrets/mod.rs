//! Secret references, allowlists and the secrets audit.
