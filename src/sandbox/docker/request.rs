//! What is asked of the engine: the create request.
//!
//! The same request serves our own client and one that the caller brings. Invariant: the hardening
//! (capabilities, privileges, root, network, memory, pids) is here and nowhere else.

use bollard::models::{ContainerCreateBody, HostConfig, HostConfigLogConfig};
use std::collections::HashMap;

const MIB: f64 = 1_048_576.0;

/// One container, before it exists.
#[derive(Debug, Clone, PartialEq)]
pub struct ContainerSpec {
    /// Any image with `node` on its path.
    pub image: String,
    /// `uid:gid`, a name, or empty for the image's own.
    pub user: String,
    /// Clamped to 16…4096 and floored.
    pub pids_limit: f64,
    /// Clamped to 0.1…8.
    pub cpus: f64,
    /// Memory in MiB; swap is the same figure, so that there is none on top.
    pub memory_mb: f64,
    /// Whether there is a network.
    pub allow_network: bool,
    /// Whether the root file system can be written to.
    pub allow_fs: bool,
    /// `K=V`, in order.
    pub env: Vec<String>,
}

/// How the container's output is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// From the attached stream; the engine keeps no log.
    Attached,
    /// From the engine's log, afterwards.
    Logged,
}

impl ContainerSpec {
    /// The body of `POST /containers/create`, running `program` with `node -e`.
    #[must_use]
    pub fn create_body(
        &self,
        program: &str,
        output: Output,
        labels: HashMap<String, String>,
    ) -> ContainerCreateBody {
        ContainerCreateBody {
            image: Some(self.image.clone()),
            cmd: Some(vec!["node".to_owned(), "-e".to_owned(), program.to_owned()]),
            env: Some(self.env.clone()),
            attach_stdin: Some(true),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            open_stdin: Some(true),
            stdin_once: Some(true),
            tty: Some(false),
            network_disabled: Some(!self.allow_network),
            user: (!self.user.is_empty()).then(|| self.user.clone()),
            labels: Some(labels),
            host_config: Some(self.host_config(output)),
            ..ContainerCreateBody::default()
        }
    }

    fn host_config(&self, output: Output) -> HostConfig {
        let memory = whole(self.memory_mb * MIB);
        HostConfig {
            memory: Some(memory),
            memory_swap: Some(memory),
            readonly_rootfs: Some(!self.allow_fs),
            tmpfs: Some(HashMap::from([("/work".to_owned(), work_options(&self.user))])),
            pids_limit: Some(whole(clamp(self.pids_limit, 16.0, 4096.0, 128.0).floor())),
            nano_cpus: Some(whole((clamp(self.cpus, 0.1, 8.0, 1.0) * 1e9).round())),
            auto_remove: Some(false),
            cap_drop: Some(vec!["ALL".to_owned()]),
            security_opt: Some(vec!["no-new-privileges".to_owned()]),
            // A shared memory file system of 64 MiB would stay writable under a read-only root.
            ipc_mode: Some("none".to_owned()),
            network_mode: (!self.allow_network).then(|| "none".to_owned()),
            log_config: (output == Output::Attached)
                .then(|| HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
            ..HostConfig::default()
        }
    }
}

/// A tmpfs takes the mode of the image's folder unless told; a numeric user gets one of its own.
fn work_options(user: &str) -> String {
    let numeric = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match user.split_once(':') {
        Some((uid, gid)) if numeric(uid) && numeric(gid) => {
            format!("rw,size=64m,uid={uid},gid={gid},mode=0700")
        }
        _ => "rw,size=64m".to_owned(),
    }
}

fn clamp(value: f64, low: f64, high: f64, default: f64) -> f64 {
    if value.is_nan() { default } else { value.clamp(low, high) }
}

#[allow(clippy::cast_possible_truncation, reason = "the cast saturates, which is what a limit wants")]
fn whole(value: f64) -> i64 {
    value as i64
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::{Value, json};

    pub(crate) fn spec() -> ContainerSpec {
        ContainerSpec {
            image: "graphorin-sandbox:latest".to_owned(),
            user: "10001:10001".to_owned(),
            pids_limit: 128.0,
            cpus: 1.0,
            memory_mb: 512.0,
            allow_network: false,
            allow_fs: false,
            env: vec!["A=1".to_owned()],
        }
    }

    fn body(spec: &ContainerSpec, output: Output) -> Value {
        serde_json::to_value(spec.create_body("program", output, HashMap::new())).unwrap()
    }

    #[test]
    fn the_hardening_block_is_whole() {
        let body = body(&spec(), Output::Logged);
        assert_eq!(body["Cmd"], json!(["node", "-e", "program"]));
        assert_eq!(body["Env"], json!(["A=1"]));
        assert_eq!(
            body["HostConfig"],
            json!({
                "Memory": 536_870_912, "MemorySwap": 536_870_912, "ReadonlyRootfs": true,
                "Tmpfs": {"/work": "rw,size=64m,uid=10001,gid=10001,mode=0700"},
                "PidsLimit": 128, "NanoCpus": 1_000_000_000, "AutoRemove": false,
                "CapDrop": ["ALL"], "SecurityOpt": ["no-new-privileges"],
                "IpcMode": "none", "NetworkMode": "none",
            })
        );
        for (key, value) in [
            ("AttachStdin", true),
            ("AttachStdout", true),
            ("AttachStderr", true),
            ("OpenStdin", true),
            ("StdinOnce", true),
            ("Tty", false),
            ("NetworkDisabled", true),
        ] {
            assert_eq!(body[key], json!(value), "{key}");
        }
    }

    #[test]
    fn limits_are_clamped() {
        for (pids, cpus, expected_pids, expected_cpus) in [
            (1.0, 0.0, 16, 100_000_000_i64),
            (99_999.0, 99.0, 4096, 8_000_000_000),
            (33.9, 0.333_333_333_3, 33, 333_333_333),
            (f64::NAN, f64::NAN, 128, 1_000_000_000),
        ] {
            let body = body(&ContainerSpec { pids_limit: pids, cpus, ..spec() }, Output::Logged);
            assert_eq!(body["HostConfig"]["PidsLimit"], json!(expected_pids));
            assert_eq!(body["HostConfig"]["NanoCpus"], json!(expected_cpus));
        }
    }

    #[test]
    fn a_blank_user_leaves_the_key_out_and_a_name_gets_a_plain_tmpfs() {
        let blank = body(&ContainerSpec { user: String::new(), ..spec() }, Output::Logged);
        assert!(blank.get("User").is_none());
        for user in ["", "nobody", "1000", "a:b", "1:"] {
            let body = body(&ContainerSpec { user: user.to_owned(), ..spec() }, Output::Logged);
            assert_eq!(body["HostConfig"]["Tmpfs"]["/work"], json!("rw,size=64m"), "{user}");
        }
    }

    #[test]
    fn what_is_allowed_is_opened() {
        let open = ContainerSpec { allow_network: true, allow_fs: true, ..spec() };
        let body = body(&open, Output::Attached);
        assert_eq!(body["NetworkDisabled"], json!(false));
        assert_eq!(body["HostConfig"]["ReadonlyRootfs"], json!(false));
        assert!(body["HostConfig"].get("NetworkMode").is_none());
        assert_eq!(body["HostConfig"]["LogConfig"], json!({"Type": "none"}));
    }
}
