//! The sandbox process: Boa and nothing else. See `ferrule::sandbox`.

fn main() {}
