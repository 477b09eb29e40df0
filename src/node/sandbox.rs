//! Door of `sandbox`: the zygote as a class. JavaScript owns the descriptors it is given.

#[cfg(target_os = "linux")]
mod linux {
    use crate::sandbox::host::{HostError, Zygote};
    use napi::bindgen_prelude::*;
    use napi_derive::napi;
    use std::os::fd::IntoRawFd;
    use std::path::Path;

    fn fail(error: HostError) -> Error {
        Error::from_reason(error.to_string())
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

        /// Forks a child and gives the descriptor of its socket. Owned by the caller.
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
