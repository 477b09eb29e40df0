//! The host's side of the process sandbox, as far as it needs the operating system: starting the
//! zygote and asking it for children. Reading frames, limits and verdicts are JavaScript's
//! (`js/sandbox/bridged`), which owns the sockets: that is four times faster than carrying every call
//! through a thread-safe function.
//!
//! One zygote per realm. It ends when the last descriptor of its control socket closes, which the
//! kernel does however this process ends.

use crate::sandbox::wire::frame;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, send,
    sendmsg, socketpair,
};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Operation: fork a child on the descriptor that goes along.
const FORK: u32 = 1;
/// Operation: kill the child of a run.
const KILL: u32 = 2;

/// What can go wrong between host and zygote.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The binary could not be started.
    #[error("the sandbox binary {path} cannot be started: {source}")]
    Start {
        /// Where it was looked for.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// This process has no descriptor or memory left for one more script. Those that run are not touched.
    #[error(
        "there is no room for one more script ({0}): run fewer at once, or raise the limit of open files"
    )]
    Full(io::Error),
    /// The zygote no longer answers.
    #[error("the sandbox process is gone: {0}")]
    Gone(io::Error),
}

impl From<io::Error> for HostError {
    fn from(error: io::Error) -> Self {
        use rustix::io::Errno;
        match Errno::from_io_error(&error) {
            Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM | Errno::TOOMANYREFS) => {
                Self::Full(error)
            }
            _ => Self::Gone(error),
        }
    }
}

impl From<rustix::io::Errno> for HostError {
    fn from(errno: rustix::io::Errno) -> Self {
        io::Error::from(errno).into()
    }
}

/// Sends one answer, a value as JSON text, to the script of a socket. Gives what the socket did not take,
/// all of it when it is broken.
#[must_use]
pub fn answer(socket: BorrowedFd<'_>, id: u32, json: &[u8]) -> Option<Vec<u8>> {
    let mut frame = frame::answer_frame(id, json);
    let sent = send(socket, &frame, SendFlags::NOSIGNAL | SendFlags::DONTWAIT).unwrap_or(0);
    frame.drain(..sent);
    (!frame.is_empty()).then_some(frame)
}

/// A running zygote.
#[derive(Debug)]
pub struct Zygote {
    control: OwnedFd,
    child: Child,
}

fn pair() -> Result<(OwnedFd, OwnedFd), rustix::io::Errno> {
    #[cfg(target_os = "linux")]
    let flags = SocketFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = SocketFlags::empty();
    socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

impl Zygote {
    /// Starts the binary. Gives the zygote and a second handle of its control socket, for reading the
    /// records of ended children.
    ///
    /// # Errors
    /// [`HostError::Start`] when the binary is missing, not executable or for another platform.
    pub fn start(path: &Path) -> Result<(Self, OwnedFd), HostError> {
        let (control, theirs) = pair()?;
        let reader = control.try_clone()?;
        let child = Command::new(path)
            .arg("--zygote")
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| HostError::Start { path: path.display().to_string(), source })?;
        Ok((Self { control, child }, reader))
    }

    /// Asks for a child and gives the socket to talk to it.
    ///
    /// # Errors
    /// [`HostError::Full`] when descriptors have run out, [`HostError::Gone`] when the zygote has died.
    pub fn fork(&self, run: u32) -> Result<OwnedFd, HostError> {
        let (ours, theirs) = pair()?;
        let fds = [theirs.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        self.send(FORK, run, &mut ancillary)?;
        Ok(ours)
    }

    /// Kills the child of a run, if it still lives.
    ///
    /// # Errors
    /// [`HostError::Gone`] when the zygote has died, and the child with it.
    pub fn kill(&self, run: u32) -> Result<(), HostError> {
        self.send(KILL, run, &mut SendAncillaryBuffer::default())
    }

    fn send(
        &self,
        operation: u32,
        run: u32,
        ancillary: &mut SendAncillaryBuffer<'_, '_, '_>,
    ) -> Result<(), HostError> {
        let mut record = [0; 8];
        record[..4].copy_from_slice(&operation.to_le_bytes());
        record[4..].copy_from_slice(&run.to_le_bytes());
        let slices = [io::IoSlice::new(&record)];
        // The socket may be non-blocking (JavaScript reads it); eight bytes go through whole or not at
        // all, and a zygote that reads nothing for long is as good as gone.
        for _ in 0..1000 {
            match sendmsg(&self.control, &slices, ancillary, SendFlags::NOSIGNAL) {
                Ok(_) => return Ok(()),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {
                    std::thread::sleep(std::time::Duration::from_micros(200));
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(HostError::Gone(io::ErrorKind::TimedOut.into()))
    }

    /// The zygote's process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        // Its children die with it: they asked the kernel for that.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_binary_is_named() {
        let error = Zygote::start(Path::new("/nowhere/ferrule-sandbox")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/ferrule-sandbox"), "{error}");
    }

    #[test]
    fn no_room_is_told_from_an_end() {
        use rustix::io::Errno;
        assert!(matches!(HostError::from(Errno::MFILE), HostError::Full(_)));
        assert!(matches!(HostError::from(Errno::PIPE), HostError::Gone(_)));
    }

    #[test]
    fn an_answer_that_a_socket_does_not_take_is_given_back() {
        use std::io::Read;
        let (ours, theirs) = pair().unwrap();
        let long = vec![b'1'; 4 << 20];
        let whole = frame::answer_frame(7, &long);
        let left = answer(ours.as_fd(), 7, &long).unwrap();
        assert!(left.len() < whole.len(), "a part of it is taken");
        let mut taken = vec![0; whole.len() - left.len()];
        std::os::unix::net::UnixStream::from(theirs).read_exact(&mut taken).unwrap();
        assert_eq!([taken, left].concat(), whole);
        // The other end is closed by now.
        assert_eq!(answer(ours.as_fd(), 8, b"1"), Some(frame::answer_frame(8, b"1")));
    }
}
