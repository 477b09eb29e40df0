//! JSON Schema: compiling and checking, drafts, fingerprints.
