//! The script's end of the line, over a pair of descriptors.

use crate::sandbox::wire::frame::{HEADER, header};
use crate::sandbox::wire::{Port, Received};
use std::fs::File;
use std::io::{Read, Write};
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

/// Largest frame the host may send.
const MAX_FRAME: usize = 1 << 30;

/// What is read at a time: a small frame, which most are, comes with its header.
const READ: usize = 4096;

/// Reads from one file, writes to another; on Linux both are the same socket.
pub struct FilePort {
    input: Rc<File>,
    output: Rc<File>,
    broken: bool,
    held: Box<[u8; READ]>,
    /// What of `held` has been read and not been taken.
    rest: Range<usize>,
}

impl FilePort {
    /// Over two files.
    pub fn new(input: File, output: File) -> Self {
        Self {
            input: Rc::new(input),
            output: Rc::new(output),
            broken: false,
            held: Box::new([0; READ]),
            rest: 0..0,
        }
    }

    /// Over one socket.
    #[cfg(target_os = "linux")]
    pub fn over(socket: File) -> Self {
        let socket = Rc::new(socket);
        let (input, output) = (Rc::clone(&socket), socket);
        Self { input, output, broken: false, held: Box::new([0; READ]), rest: 0..0 }
    }

    fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        (&*self.output).write_all(bytes)
    }

    /// Reads until a header is there, and takes it.
    fn head(&mut self) -> std::io::Result<[u8; HEADER]> {
        self.held.copy_within(self.rest.clone(), 0);
        self.rest = 0..self.rest.len();
        while self.rest.end < HEADER {
            match (&*self.input).read(&mut self.held[self.rest.end..]) {
                Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.rest.end += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.rest.start = HEADER;
        let mut head = [0; HEADER];
        head.copy_from_slice(&self.held[..HEADER]);
        Ok(head)
    }

    fn frame(&mut self) -> std::io::Result<(u8, Vec<u8>)> {
        let head = self.head()?;
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        if length > MAX_FRAME {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        let mut payload = vec![0; length];
        let here = self.rest.len().min(length);
        payload[..here].copy_from_slice(&self.held[self.rest.start..][..here]);
        self.rest.start += here;
        (&*self.input).read_exact(&mut payload[here..])?;
        Ok((head[4], payload))
    }

    #[cfg(unix)]
    fn readable(&self, wait: Duration) -> bool {
        use std::os::fd::AsRawFd;
        super::sys::wait_readable([self.input.as_raw_fd()], Some(wait))[0]
    }

    /// Without a way to wait on a pipe here, a timer sleeps its time and answers are read after it.
    #[cfg(not(unix))]
    fn readable(&self, wait: Duration) -> bool {
        std::thread::sleep(wait);
        false
    }
}

impl Port for FilePort {
    fn send(&mut self, kind: u8, payload: &[u8]) {
        let head = header(kind, payload.len());
        // Small frames in one write, so that the host wakes up once.
        let result = if payload.len() <= 64 * 1024 {
            self.write(&[&head, payload].concat())
        } else {
            self.write(&head).and_then(|()| self.write(payload))
        };
        self.broken |= result.is_err();
    }

    fn receive(&mut self, wait: Option<Duration>) -> Received {
        if self.broken {
            return Received::Closed;
        }
        if let Some(wait) = wait
            && self.rest.is_empty()
            && !self.readable(wait)
        {
            return Received::Timeout;
        }
        self.frame().map_or(Received::Closed, |(kind, payload)| Received::Frame(kind, payload))
    }

    /// Stays until the host has closed its end: a host that still sends answers to a process that is gone
    /// would lose what it has not read yet, the final frame among it.
    fn exit(&mut self, code: i32) {
        let mut ignored = [0; 4096];
        while !self.broken && (&*self.input).read(&mut ignored).is_ok_and(|count| count > 0) {}
        leave(code);
    }

    fn room(&self) -> usize {
        super::alloc::room()
    }
}

#[cfg(unix)]
fn leave(code: i32) {
    super::sys::leave(code);
}

#[cfg(not(unix))]
fn leave(code: i32) {
    std::process::exit(code);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn frames_are_read_however_they_come() {
        let (mut host, script) = UnixStream::pair().unwrap();
        let mut port = FilePort::over(OwnedFd::from(script).into());
        let long = vec![7; READ * 3];
        let mut sent = Vec::new();
        for (kind, payload) in [(1, &b"one"[..]), (2, b""), (3, &long), (4, b"four")] {
            sent.extend_from_slice(&header(kind, payload.len()));
            sent.extend_from_slice(payload);
        }
        // The last frame is cut in the middle of its header.
        let (most, end) = sent.split_at(sent.len() - 6);
        host.write_all(most).unwrap();
        assert_eq!(port.receive(None), Received::Frame(1, b"one".to_vec()));
        // What has been read already is not waited for.
        assert_eq!(port.receive(Some(Duration::ZERO)), Received::Frame(2, Vec::new()));
        assert_eq!(port.receive(None), Received::Frame(3, long));
        host.write_all(end).unwrap();
        assert_eq!(port.receive(Some(Duration::from_secs(9))), Received::Frame(4, b"four".to_vec()));
        assert_eq!(port.receive(Some(Duration::ZERO)), Received::Timeout);
        drop(host);
        assert_eq!(port.receive(None), Received::Closed);
    }
}
