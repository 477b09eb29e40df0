//! The system calls a script's process may make.
//!
//! Reading and writing what is already open, memory that is not executable, waiting, time, random
//! bytes, and what an abort needs. Anything else kills the process.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};
use std::collections::BTreeMap;

/// Stands for the process id in the program the zygote compiles; see [`Filter::apply`].
const PLACEHOLDER: u32 = 0x7e1d_c0de;

/// A compiled filter.
pub struct Filter(BpfProgram);

/// Why there is no filter.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// This processor is not supported.
    #[error("no system-call filter for this processor")]
    Architecture,
    /// The program could not be compiled.
    #[error("the system-call filter could not be built: {0}")]
    Build(String),
    /// The kernel refused it.
    #[error("the kernel refused the system-call filter: {0}")]
    Kernel(String),
}

impl Filter {
    /// Compiles the filter, once per zygote.
    pub fn build() -> Result<Self, FilterError> {
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|_| FilterError::Architecture)?;
        let build = |error: seccompiler::BackendError| FilterError::Build(error.to_string());
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            PLAIN.iter().map(|&call| (call, Vec::new())).collect();
        let no_exec = SeccompCondition::new(
            2,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::MaskedEq(libc::PROT_EXEC.cast_unsigned().into()),
            0,
        );
        let no_exec = SeccompRule::new(vec![no_exec.map_err(build)?]).map_err(build)?;
        rules.insert(libc::SYS_mmap, vec![no_exec.clone()]);
        rules.insert(libc::SYS_mprotect, vec![no_exec]);
        let self_only =
            SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, PLACEHOLDER.into())
                .map_err(build)?;
        rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![self_only]).map_err(build)?]);
        let filter = SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, arch)
            .map_err(build)?;
        Ok(Self(BpfProgram::try_from(filter).map_err(build)?))
    }

    /// Applies it to this process, for good. The process may signal itself only.
    pub fn apply(&self) -> Result<(), FilterError> {
        let mut program = self.0.clone();
        for instruction in &mut program {
            if instruction.k == PLACEHOLDER {
                instruction.k = super::sys::own_id();
            }
        }
        apply_filter(&program).map_err(|error| FilterError::Kernel(error.to_string()))
    }
}

const PLAIN: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_compiles_and_names_the_process_once() {
        let filter = Filter::build().unwrap();
        assert_eq!(filter.0.iter().filter(|instruction| instruction.k == PLACEHOLDER).count(), 1);
    }
}
