//! Passes the linker the flags a Node addon needs. Does nothing without the `node` feature.

fn main() {
    if std::env::var_os("CARGO_FEATURE_NODE").is_some() {
        napi_build::setup();
    }
}
