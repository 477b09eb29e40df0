//! The sandbox process itself.
//!
//! On Linux it is started as a zygote: it warms one engine, then forks a child per script and passes
//! the child one socket. Elsewhere (and for tests) it is started per script and speaks over its
//! standard input and output. Before a script is looked at, the child has no other descriptor, no way
//! to gain privileges, hard limits on memory, CPU, files, processes and core dumps, and a filter that
//! kills it on any system call it does not need. It dies with its parent.
//!
//! This process is single-threaded, always: forking a process with threads would be unsound.

pub mod alloc;
mod child;
#[cfg(target_os = "linux")]
mod filter;
mod port;
#[cfg(unix)]
mod sys;
#[cfg(target_os = "linux")]
mod zygote;

/// Exit code: the script asked for more memory than it may have.
pub const EXIT_MEMORY: i32 = 77;
/// Exit code: the native stack ran out (very deep nesting or recursion).
pub const EXIT_STACK: i32 = 78;
/// Exit code: the host's request was not understood.
pub const EXIT_PROTOCOL: i32 = 79;
/// Exit code: a limit could not be set.
pub const EXIT_SETUP: i32 = 80;

/// What `main` of the binary does.
#[must_use]
pub fn main() -> i32 {
    std::panic::set_hook(Box::new(|_| {}));
    let mode = std::env::args().nth(1).unwrap_or_default();
    match mode.as_str() {
        #[cfg(target_os = "linux")]
        "--zygote" | "--zygote-stacked" => zygote::main(mode == "--zygote-stacked"),
        "--once" | "--once-stacked" => child::once(mode == "--once-stacked"),
        "--version" => {
            println!("ferrule-sandbox {}", env!("CARGO_PKG_VERSION"));
            0
        }
        _ => EXIT_PROTOCOL,
    }
}
