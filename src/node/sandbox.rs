//! Door of `sandbox`: the zygote as a class, whose descriptors are JavaScript's, and the cutting of long
//! values.

use crate::sandbox::wire::pieces::{Limits, cut};
use napi::bindgen_prelude::{AsyncTask, Buffer, Error, Result, Uint32Array};
use napi::{Env, Task};
use napi_derive::napi;

fn steps(text: &[u8], limits: Limits) -> Result<Vec<u32>> {
    cut(text, limits).map_err(|error| Error::from_reason(error.to_string()))
}

fn limits(depth: u32, parts: u32, piece: u32) -> Limits {
    Limits { depth: depth as usize, parts: parts as usize, piece: piece as usize }
}

/// How to make the value of JSON text in pieces; none when it is one. Throws when it is over a limit.
#[napi(catch_unwind)]
pub fn sandbox_cut(text: &[u8], depth: u32, parts: u32, piece: u32) -> Result<Uint32Array> {
    steps(text, limits(depth, parts, piece)).map(Uint32Array::from)
}

/// Cuts a text off the JavaScript thread.
pub struct Cut {
    text: Buffer,
    limits: Limits,
}

impl Task for Cut {
    type Output = Vec<u32>;
    type JsValue = Uint32Array;

    fn compute(&mut self) -> Result<Self::Output> {
        steps(&self.text, self.limits)
    }

    fn resolve(&mut self, _env: Env, steps: Self::Output) -> Result<Self::JsValue> {
        Ok(Uint32Array::from(steps))
    }
}

/// The same off the JavaScript thread. The text must not change meanwhile.
#[napi(catch_unwind, ts_return_type = "Promise<Uint32Array>")]
pub fn sandbox_cut_async(text: Buffer, depth: u32, parts: u32, piece: u32) -> AsyncTask<Cut> {
    AsyncTask::new(Cut { text, limits: limits(depth, parts, piece) })
}

#[cfg(target_os = "linux")]
mod linux {
    use crate::sandbox::host::{HostError, Zygote, answer};
    use crate::sandbox::wire::frame::answer_frame;
    use napi::bindgen_prelude::*;
    use napi_derive::napi;
    use std::os::fd::{BorrowedFd, IntoRawFd};
    use std::path::Path;

    fn fail(error: HostError) -> Error {
        // The code tells JavaScript that the zygote is well and not to be replaced.
        let status =
            if matches!(error, HostError::Full(_)) { Status::QueueFull } else { Status::GenericFailure };
        Error::new(status, error.to_string())
    }

    /// Sends the answer to call `id`, the JSON text of its value, over the socket `fd` of its script. Gives
    /// what the socket did not take; whatever is wrong with it, its stream finds out as well.
    #[napi(catch_unwind)]
    #[allow(
        unsafe_code,
        clippy::needless_pass_by_value,
        reason = "a descriptor comes as a number, a text as a string"
    )]
    pub fn sandbox_answer(fd: i32, id: u32, text: String) -> Option<Buffer> {
        if fd < 0 {
            return Some(answer_frame(id, text.as_bytes()).into());
        }
        // SAFETY: the caller owns the socket of this number and has not closed it.
        let socket = unsafe { BorrowedFd::borrow_raw(fd) };
        answer(socket, id, text.as_bytes()).map(Buffer::from)
    }

    /// A running zygote of the sandbox binary.
    #[napi]
    pub struct SandboxZygote {
        zygote: Option<Zygote>,
        control: i32,
    }

    #[napi]
    impl SandboxZygote {
        #[napi(constructor, catch_unwind)]
        pub fn new(path: String) -> Result<Self> {
            let (zygote, control) = Zygote::start(Path::new(&path)).map_err(fail)?;
            Ok(Self { zygote: Some(zygote), control: control.into_raw_fd() })
        }

        /// A descriptor that yields `[run u32][wait status i32]` per ended child. Owned by the caller.
        #[napi(getter, catch_unwind)]
        pub fn control(&self) -> i32 {
            self.control
        }

        /// The process id.
        #[napi(getter, catch_unwind)]
        pub fn pid(&self) -> u32 {
            self.zygote.as_ref().map_or(0, Zygote::id)
        }

        /// Forks a child and gives the descriptor of its socket. Owned by the caller. Throws with the code
        /// `QueueFull` when there is no room for one more, and the others are well.
        #[napi(catch_unwind)]
        pub fn fork(&self, run: u32) -> Result<i32> {
            let zygote =
                self.zygote.as_ref().ok_or_else(|| Error::from_reason("the sandbox process is closed"))?;
            Ok(zygote.fork(run).map_err(fail)?.into_raw_fd())
        }

        /// Kills the child of a run.
        #[napi(catch_unwind)]
        pub fn kill(&self, run: u32) -> bool {
            self.zygote.as_ref().is_some_and(|zygote| zygote.kill(run).is_ok())
        }

        /// Ends the zygote and every child.
        #[napi(catch_unwind)]
        pub fn close(&mut self) {
            self.zygote = None;
        }
    }
}
