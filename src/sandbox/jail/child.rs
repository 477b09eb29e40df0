//! The process of one script: lock up, then run.

use super::port::FilePort;
use super::{EXIT_PROTOCOL, alloc};
use crate::sandbox::engine::Engine;
use crate::sandbox::wire::{Port, Received, Start, frame};

/// Reads the request, applies its limits, runs the script. Gives the exit code.
pub fn serve(
    engine: Engine,
    mut port: FilePort,
    lock: impl FnOnce(&Start) -> Result<[u8; 32], String>,
) -> i32 {
    let Received::Frame(frame::START, payload) = port.receive(None) else { return 0 };
    let Ok(start) = Start::parse(&payload) else { return EXIT_PROTOCOL };
    drop(payload);
    match lock(&start) {
        Ok(seed) => {
            // Before memory counts, so that a script has the same room whether it is the first or not.
            let engine = engine.furnished_for(&start);
            alloc::limit(start.memory);
            engine.run(&start, Box::new(port), seed);
            0
        }
        Err(why) => {
            port.send(frame::REFUSED, why.as_bytes());
            super::EXIT_SETUP
        }
    }
}

/// Soft stack limit of a sandbox process, in bytes. Native recursion (deep JSON, deep source) uses it.
#[cfg(target_os = "linux")]
pub const STACK: u64 = 64 << 20;

/// Makes the stack [`STACK`] large: by its limit when the room below it is free, which it nearly always
/// is, else by starting this binary anew. Returns when that is not possible.
#[cfg(target_os = "linux")]
pub fn with_stack(mode: &str) {
    use std::os::unix::process::CommandExt;
    if super::sys::raise_stack(STACK)
        && room_below_stack().is_none_or(|room| room <= STACK)
        && let Ok(program) = std::env::current_exe()
    {
        let _ = std::process::Command::new(program).arg(mode).env_clear().exec();
    }
}

/// How far the stack may grow before it meets what is mapped below it: the kernel leaves at least
/// 128 MB there, as a rule.
#[cfg(target_os = "linux")]
fn room_below_stack() -> Option<u64> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let bound = |text: &str| u64::from_str_radix(text, 16).ok();
    let mut below = 0;
    for line in maps.lines() {
        let end = bound(line.split(['-', ' ']).nth(1)?)?;
        if line.ends_with("[stack]") {
            return Some(end - below);
        }
        below = end;
    }
    None
}

/// Serves one script over standard input and output.
#[cfg(target_os = "linux")]
pub fn once(stacked: bool) -> i32 {
    use super::sys;
    if !stacked {
        with_stack("--once-stacked");
    }
    sys::close_from(2);
    if sys::harden().and_then(|()| sys::catch_overflow()).is_err() {
        return super::EXIT_SETUP;
    }
    let filter = super::filter::Filter::build();
    let engine = Engine::warm();
    let port = FilePort::new(sys::own(0).into(), sys::own(1).into());
    let space = super::zygote::address_space();
    serve(engine, port, |start| super::zygote::lock(start, filter.as_ref(), space, 2))
}

/// Serves one script over standard input and output. Here the limits are the allocator's, the host's
/// clock and the host's kill; untested.
#[cfg(all(unix, not(target_os = "linux")))]
pub fn once(_stacked: bool) -> i32 {
    let engine = Engine::warm();
    let port = FilePort::new(super::sys::own(0).into(), super::sys::own(1).into());
    serve(engine, port, |_| Ok(seed()))
}

/// Serves one script over standard input and output. Here the limits are the allocator's, the host's
/// clock and the host's kill; untested.
#[cfg(windows)]
pub fn once(_stacked: bool) -> i32 {
    use std::os::windows::io::AsHandle;
    let file = |handle: std::os::windows::io::BorrowedHandle<'_>| {
        handle.try_clone_to_owned().map(std::fs::File::from)
    };
    let (Ok(input), Ok(output)) = (file(std::io::stdin().as_handle()), file(std::io::stdout().as_handle()))
    else {
        return super::EXIT_SETUP;
    };
    serve(Engine::warm(), FilePort::new(input, output), |_| Ok(seed()))
}

/// Random bytes by way of the standard library, which seeds its hasher from the system.
#[cfg(not(target_os = "linux"))]
fn seed() -> [u8; 32] {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let mut seed = [0; 32];
    for chunk in seed.chunks_mut(8) {
        chunk.copy_from_slice(&RandomState::new().build_hasher().finish().to_le_bytes());
    }
    seed
}
