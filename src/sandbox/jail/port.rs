//! The script's end of the line, over a pair of descriptors.

use crate::sandbox::wire::frame::{HEADER, header};
use crate::sandbox::wire::{Port, Received};
use std::fs::File;
use std::io::{Read, Write};
use std::rc::Rc;
use std::time::Duration;

/// Largest frame the host may send.
const MAX_FRAME: usize = 1 << 30;

/// Reads from one file, writes to another; on Linux both are the same socket.
pub struct FilePort {
    input: Rc<File>,
    output: Rc<File>,
    broken: bool,
}

impl FilePort {
    /// Over two files.
    pub fn new(input: File, output: File) -> Self {
        Self { input: Rc::new(input), output: Rc::new(output), broken: false }
    }

    /// Over one socket.
    #[cfg(target_os = "linux")]
    pub fn over(socket: File) -> Self {
        let socket = Rc::new(socket);
        Self { input: Rc::clone(&socket), output: socket, broken: false }
    }

    fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        (&*self.output).write_all(bytes)
    }

    fn frame(&mut self) -> std::io::Result<(u8, Vec<u8>)> {
        let mut head = [0; HEADER];
        (&*self.input).read_exact(&mut head)?;
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        if length > MAX_FRAME {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        let mut payload = vec![0; length];
        (&*self.input).read_exact(&mut payload)?;
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
}

#[cfg(unix)]
fn leave(code: i32) {
    super::sys::leave(code);
}

#[cfg(not(unix))]
fn leave(code: i32) {
    std::process::exit(code);
}
