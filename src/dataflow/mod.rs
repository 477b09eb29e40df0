//! Taint labels, the ledger and the flow policy.
