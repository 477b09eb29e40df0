//! The sandbox process: an ECMAScript engine and nothing else. See `ferrule::sandbox`.

#[global_allocator]
static ALLOCATOR: ferrule::sandbox::jail::alloc::Counting = ferrule::sandbox::jail::alloc::Counting;

fn main() {
    std::process::exit(ferrule::sandbox::jail::main());
}
