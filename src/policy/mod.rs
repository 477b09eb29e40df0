//! The argument policy engine and the rule-of-two compiler.
