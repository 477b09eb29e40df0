//! The system calls that have no safe wrapper, each as small as it can be.
#![allow(unsafe_code, reason = "process set-up")]

use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// Ends the process without running anything.
pub fn leave(code: i32) -> ! {
    // SAFETY: `_exit` takes no pointers and does not return.
    unsafe { libc::_exit(code) }
}

/// Takes ownership of a descriptor this process was given.
pub fn own(fd: RawFd) -> OwnedFd {
    // SAFETY: only called with standard descriptors that nothing else in this process owns.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Waits until the descriptors are readable or the time is over; tells which are.
pub fn wait_readable<const N: usize>(fds: [RawFd; N], wait: Option<Duration>) -> [bool; N] {
    let mut polled = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let ms = wait.map_or(-1, |wait| {
        let up = wait.as_millis() + u128::from(wait.subsec_nanos() % 1_000_000 != 0);
        i32::try_from(up).unwrap_or(i32::MAX)
    });
    // SAFETY: the pointer and the length are those of a live array.
    let ready = unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, ms) };
    polled.map(|one| ready > 0 && one.revents != 0)
}

#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(target_os = "linux")]
mod linux {
    use super::{OwnedFd, RawFd, leave};
    use std::io;
    use std::os::fd::FromRawFd;

    fn checked(result: i32) -> io::Result<()> {
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// What `fork` gave.
    pub enum Forked {
        /// In the new process.
        Child,
        /// In the old one: the new one's id.
        Parent(i32),
    }

    /// Forks. The caller must be the only thread of the process.
    pub fn fork() -> io::Result<Forked> {
        // SAFETY: this process is single-threaded (see the module of the jail), so the child finds every
        // lock free and every invariant whole.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => Ok(Forked::Child),
            pid => Ok(Forked::Parent(pid)),
        }
    }

    /// Makes `fd` the standard input and closes every other descriptor.
    pub fn only(fd: RawFd) -> io::Result<()> {
        if fd != 0 {
            // SAFETY: plain descriptor numbers.
            checked(unsafe { libc::dup2(fd, 0) })?;
        }
        close_from(1);
        Ok(())
    }

    /// Closes every descriptor from `first` on.
    pub fn close_from(first: u32) {
        // SAFETY: plain numbers; nothing used later owns one of the closed descriptors.
        if unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) } == 0 {
            return;
        }
        for fd in first..1024 {
            // SAFETY: as above; closing a number that is not open fails harmlessly.
            unsafe { libc::close(fd.cast_signed()) };
        }
    }

    /// Dies with its parent, cannot gain privileges, leaves no dump, cannot be attached to.
    pub fn harden() -> io::Result<()> {
        let one: libc::c_ulong = 1;
        let zero: libc::c_ulong = 0;
        // SAFETY: prctl with plain numbers.
        unsafe {
            checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, zero, zero, zero))?;
            checked(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, one, zero, zero, zero))?;
            checked(libc::prctl(libc::PR_SET_DUMPABLE, zero, zero, zero, zero))
        }
    }

    /// The id of the parent.
    pub fn parent() -> i32 {
        // SAFETY: takes and gives plain numbers.
        unsafe { libc::getppid() }
    }

    /// The id of this process.
    pub fn own_id() -> u32 {
        std::process::id()
    }

    /// What the C library calls a resource by.
    #[cfg(target_env = "gnu")]
    pub type Resource = libc::__rlimit_resource_t;
    /// What the C library calls a resource by.
    #[cfg(not(target_env = "gnu"))]
    pub type Resource = libc::c_int;

    /// Sets the soft and hard limit of a resource.
    pub fn set_limit(resource: Resource, value: u64) -> io::Result<()> {
        let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
        // SAFETY: the pointer is to a live struct.
        checked(unsafe { libc::setrlimit(resource, &raw const limit) })
    }

    /// Raises the soft stack limit as far as it may; tells whether it had to.
    pub fn raise_stack(wanted: u64) -> bool {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the pointers are to a live struct.
        unsafe {
            if libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) != 0 || limit.rlim_cur == wanted {
                return false;
            }
            limit.rlim_cur = wanted.min(limit.rlim_max);
            libc::setrlimit(libc::RLIMIT_STACK, &raw const limit) == 0
        }
    }

    /// Sends SIGPROF, which ends the process, after this much CPU time.
    pub fn cpu_alarm(ms: u64) -> io::Result<()> {
        let value =
            libc::timeval { tv_sec: (ms / 1000).cast_signed(), tv_usec: (ms % 1000 * 1000).cast_signed() };
        let timer = libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: value };
        // SAFETY: the pointer is to a live struct, the other may be null.
        checked(unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const timer, std::ptr::null_mut()) })
    }

    extern "C" fn out_of_stack(_signal: i32) {
        leave(super::super::EXIT_STACK)
    }

    /// Turns a stack overflow into an exit code. The runtime has given this thread a signal stack.
    pub fn catch_overflow() -> io::Result<()> {
        // SAFETY: zeroed is a valid sigaction; the handler does nothing but `_exit`, which is
        // async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = out_of_stack as extern "C" fn(i32) as usize;
            action.sa_flags = libc::SA_ONSTACK;
            checked(libc::sigaction(libc::SIGSEGV, &raw const action, std::ptr::null_mut()))?;
            checked(libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()))
        }
    }

    /// Has this process, and those forked from it, ignore what terminals and service managers send to all of an app's
    /// processes: whether to end on that is for the host to say, and nothing here outlives the host.
    pub fn leave_signals_to_host() {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            // SAFETY: plain numbers; no handler is installed.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
    }

    /// A descriptor that becomes readable when a child ends; SIGCHLD itself is blocked.
    pub fn child_signals() -> io::Result<OwnedFd> {
        // SAFETY: the set is initialised by sigemptyset before it is used.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGCHLD);
            checked(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()))?;
            let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            checked(fd)?;
            Ok(OwnedFd::from_raw_fd(fd))
        }
    }

    /// One ended child and its wait status.
    pub fn reap() -> Option<(i32, i32)> {
        let mut status = 0;
        // SAFETY: the pointer is to a live number.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        (pid > 0).then_some((pid, status))
    }

    /// Kills a child that has not been reaped, so that the id is certainly its own.
    pub fn kill(pid: i32) {
        // SAFETY: plain numbers.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }

    /// Random bytes of the kernel.
    pub fn seed() -> [u8; 32] {
        let mut seed = [0_u8; 32];
        // SAFETY: the pointer and the length are those of a live array.
        unsafe { libc::getrandom(seed.as_mut_ptr().cast(), seed.len(), 0) };
        seed
    }
}
