//! The zygote: one warmed engine, one forked child per request. What the engine needs for some scripts only
//! is made while nobody asks for anything.
//!
//! It reads requests of eight bytes `[operation u32][run u32]` from its standard input, a socket:
//! operation 1 passes one descriptor along and asks for a child on it, operation 2 kills the child of a
//! run. When a child has ended it writes `[run u32][wait status i32]`. It kills by process id, which is
//! sound because only it reaps, so an id it still knows cannot have been given away. When its socket
//! closes it kills every child and leaves.

use super::child::{serve, with_stack};
use super::filter::{Filter, FilterError};
use super::port::FilePort;
use super::sys::{self, Forked};
use super::{EXIT_PROTOCOL, EXIT_SETUP};
use crate::sandbox::engine::Engine;
use crate::sandbox::wire::Start;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use std::fs::File;
use std::io::{IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// Operation: a child on the descriptor that comes along.
pub const FORK: u32 = 1;
/// Operation: end the child of a run.
pub const KILL: u32 = 2;

/// How long nobody must have asked for anything before the engine is furnished further: by then a short
/// script is over, which on a machine with one processor this would hold up.
const REST: Duration = Duration::from_millis(2);

/// Bytes of address space this process has now.
pub fn address_space() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split(' ').next().and_then(|pages| pages.parse::<u64>().ok()));
    pages.map_or(1 << 30, |pages| pages * 4096)
}

/// Sets every limit of a script's process and gives the seed for its randomness. `descriptors` stay
/// open, and no more can be opened.
pub fn lock(
    start: &Start,
    filter: Result<&Filter, &FilterError>,
    space: u64,
    descriptors: u64,
) -> Result<[u8; 32], String> {
    let failed = |error: std::io::Error| format!("a limit could not be set: {error}");
    let memory = start.memory as u64;
    for (resource, value) in [
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_FSIZE, 0),
        (libc::RLIMIT_NPROC, 0),
        (libc::RLIMIT_NOFILE, descriptors),
        // A fence behind the allocator's count: room for its overhead and for the stack.
        (libc::RLIMIT_AS, space + memory * 2 + super::child::STACK + (128 << 20)),
    ] {
        sys::set_limit(resource, value).map_err(failed)?;
    }
    if start.cpu_ms > 0 {
        sys::cpu_alarm(start.cpu_ms).map_err(failed)?;
        sys::set_limit(libc::RLIMIT_CPU, start.cpu_ms / 1000 + 2).map_err(failed)?;
    }
    let seed = sys::seed();
    let applied = match filter {
        Ok(filter) => filter.apply().map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match applied {
        Err(why) if !start.without_filter => Err(why),
        _ => Ok(seed),
    }
}

/// See the module.
pub fn main(stacked: bool) -> i32 {
    if !stacked {
        with_stack("--zygote-stacked");
    }
    if sys::harden().and_then(|()| sys::catch_overflow()).is_err() {
        return EXIT_SETUP;
    }
    sys::leave_signals_to_host();
    let Ok(signals) = sys::child_signals() else { return EXIT_SETUP };
    let mut zygote = Zygote {
        control: sys::own(0).into(),
        children: Vec::new(),
        filter: Filter::build(),
        space: address_space(),
        engine: Some(Engine::warm()),
        furnished: false,
    };
    zygote.attend(&signals)
}

struct Zygote {
    control: File,
    /// Run and process id of every child that has not been reaped.
    children: Vec<(u32, i32)>,
    filter: Result<Filter, FilterError>,
    space: u64,
    /// Taken by the child that uses it up.
    engine: Option<Engine>,
    /// Whether the engine has all of its prelude.
    furnished: bool,
}

impl Zygote {
    fn attend(&mut self, signals: &OwnedFd) -> i32 {
        let mut rest = REST;
        loop {
            let wait = (!self.furnished).then_some(rest);
            let [asked, ended] = sys::wait_readable([self.control.as_raw_fd(), signals.as_raw_fd()], wait);
            rest = REST;
            if !asked && !ended && !self.furnished {
                self.furnish();
                rest = Duration::ZERO;
            }
            if ended {
                let mut buffer = [0; 128];
                while rustix::io::read(signals, &mut buffer).is_ok_and(|count| count > 0) {}
                if self.report().is_err() {
                    return self.close();
                }
            }
            if asked {
                match self.request() {
                    Ok(true) => {}
                    _ => return self.close(),
                }
            }
        }
    }

    /// Goes on with the engine's prelude, which the first script need not wait for.
    fn furnish(&mut self) {
        self.furnished = !self.engine.as_mut().is_some_and(Engine::furnish_more);
        if self.furnished {
            super::alloc::fill_gaps();
        }
    }

    /// Tells the host which children have ended.
    fn report(&mut self) -> std::io::Result<()> {
        while let Some((pid, status)) = sys::reap() {
            if let Some(at) = self.children.iter().position(|&(_, child)| child == pid) {
                let (run, _) = self.children.swap_remove(at);
                self.tell(run, status)?;
            }
        }
        Ok(())
    }

    fn tell(&mut self, run: u32, status: i32) -> std::io::Result<()> {
        let mut record = [0; 8];
        record[..4].copy_from_slice(&run.to_le_bytes());
        record[4..].copy_from_slice(&status.to_le_bytes());
        self.control.write_all(&record)
    }

    /// Serves one request; false when the host is gone.
    fn request(&mut self) -> std::io::Result<bool> {
        let mut record = [0; 8];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let slices = &mut [IoSliceMut::new(&mut record)];
        let received = recvmsg(&self.control, slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
        if received.bytes != record.len() {
            return Ok(false);
        }
        let passed = ancillary.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
            _ => None,
        });
        let word = |from: usize| {
            u32::from_le_bytes([record[from], record[from + 1], record[from + 2], record[from + 3]])
        };
        let run = word(4);
        match (word(0), passed) {
            (FORK, Some(socket)) => self.fork(run, &socket)?,
            // Out of descriptors: the others go on.
            (FORK, None) => self.tell(run, EXIT_SETUP << 8)?,
            (KILL, _) => {
                if let Some(&(_, pid)) = self.children.iter().find(|(known, _)| *known == run) {
                    sys::kill(pid);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn fork(&mut self, run: u32, socket: &OwnedFd) -> std::io::Result<()> {
        let zygote = sys::own_id().cast_signed();
        match sys::fork() {
            Ok(Forked::Parent(pid)) => {
                self.children.push((run, pid));
                Ok(())
            }
            Ok(Forked::Child) => sys::leave(self.become_child(socket, zygote)),
            // Out of processes: to the host it looks like a child that could not be set up.
            Err(_) => self.tell(run, EXIT_SETUP << 8),
        }
    }

    /// In the child: keeps nothing but the socket, then serves it.
    fn become_child(&mut self, socket: &OwnedFd, zygote: i32) -> i32 {
        if sys::only(socket.as_raw_fd()).and_then(|()| sys::harden()).is_err() || sys::parent() != zygote {
            return EXIT_SETUP;
        }
        let Some(engine) = self.engine.take() else { return EXIT_PROTOCOL };
        serve(engine, FilePort::over(sys::own(0).into()), |start| {
            lock(start, self.filter.as_ref(), self.space, 1)
        })
    }

    fn close(&mut self) -> i32 {
        for &(_, pid) in &self.children {
            sys::kill(pid);
        }
        0
    }
}
