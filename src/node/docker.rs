//! Door of `sandbox::docker`.

use crate::sandbox::docker::connect::Target;
use crate::sandbox::docker::demux::demultiplex;
use crate::sandbox::docker::program::{Code, peer_answer, peer_program};
use crate::sandbox::docker::request::{ContainerSpec, Output};
use crate::sandbox::docker::{DockerError, Engine, EngineConfig, Event, Job, Outcome, Session};
use napi::bindgen_prelude::{AsyncTask, Buffer, within_runtime_if_available};
use napi::{Env, Error, Result, Task};
use napi_derive::napi;
use std::sync::Arc;
use std::time::Duration;

#[napi(object)]
pub struct DockerContainerSpec {
    pub image: String,
    pub user: String,
    pub pids_limit: f64,
    pub cpus: f64,
    pub memory_mb: f64,
    pub allow_network: bool,
    pub allow_fs: bool,
    pub env: Vec<String>,
}

impl From<DockerContainerSpec> for ContainerSpec {
    fn from(spec: DockerContainerSpec) -> Self {
        Self {
            image: spec.image,
            user: spec.user,
            pids_limit: spec.pids_limit,
            cpus: spec.cpus,
            memory_mb: spec.memory_mb,
            allow_network: spec.allow_network,
            allow_fs: spec.allow_fs,
            env: spec.env,
        }
    }
}

#[napi(object)]
pub struct DockerEngineOptions {
    pub id: String,
    pub base_env: Vec<String>,
    pub socket_path: Option<String>,
    pub docker_host: Option<String>,
    pub runtime_dir: Option<String>,
    pub home: Option<String>,
    pub pool_size: u32,
    pub pool_idle_ms: f64,
    pub setup_timeout_ms: f64,
}

#[napi(object)]
pub struct DockerJob {
    pub spec: DockerContainerSpec,
    pub nonce: String,
    pub payload: String,
    pub bridge: bool,
    /// Not positive: no limit.
    pub timeout_ms: f64,
    pub max_message_bytes: f64,
    pub max_output_bytes: f64,
}

/// One event; `kind` says which of the others are there.
#[napi(object)]
pub struct DockerEvent {
    #[napi(
        ts_type = "'message' | 'answer' | 'exited' | 'timeout' | 'aborted' | 'too-large' | 'unavailable' | 'failed'"
    )]
    pub kind: String,
    pub text: Option<String>,
    pub exit_code: Option<i64>,
    pub out_of_memory: Option<bool>,
    pub stdout: Option<String>,
    pub stderr: Option<String>,
}

impl From<Event> for DockerEvent {
    fn from(event: Event) -> Self {
        let plain = |kind: &str, text: Option<String>| Self {
            kind: kind.to_owned(),
            text,
            exit_code: None,
            out_of_memory: None,
            stdout: None,
            stderr: None,
        };
        match event {
            Event::Message(text) => plain("message", Some(text)),
            Event::Done(Outcome::Answer(text)) => plain("answer", Some(text)),
            Event::Done(Outcome::TimedOut) => plain("timeout", None),
            Event::Done(Outcome::Aborted) => plain("aborted", None),
            Event::Done(Outcome::TooLarge) => plain("too-large", None),
            Event::Done(Outcome::Failed(error @ DockerError::Unavailable(_))) => {
                plain("unavailable", Some(error.to_string()))
            }
            Event::Done(Outcome::Failed(error)) => plain("failed", Some(error.to_string())),
            Event::Done(Outcome::Exited { code, out_of_memory, stdout, stderr }) => Self {
                exit_code: Some(code),
                out_of_memory: Some(out_of_memory),
                stdout: Some(stdout),
                stderr: Some(stderr),
                ..plain("exited", None)
            },
        }
    }
}

#[napi]
pub struct DockerEngine {
    engine: Engine,
}

#[napi]
impl DockerEngine {
    #[napi(constructor)]
    pub fn new(options: DockerEngineOptions) -> Self {
        let config = EngineConfig {
            target: Target {
                socket_path: options.socket_path,
                docker_host: options.docker_host,
                runtime_dir: options.runtime_dir,
                home: options.home,
            },
            id: options.id,
            base_env: options.base_env,
            pool_size: options.pool_size as usize,
            pool_idle: millis(options.pool_idle_ms),
            setup_limit: millis(options.setup_timeout_ms),
        };
        Self { engine: Engine::new(config) }
    }

    #[napi(catch_unwind)]
    pub fn open(&self, job: DockerJob) -> DockerSession {
        let job = Job {
            spec: job.spec.into(),
            nonce: job.nonce,
            payload: job.payload,
            bridge: job.bridge,
            limit: (job.timeout_ms > 0.0).then(|| millis(job.timeout_ms)),
            max_message: bytes(job.max_message_bytes),
            max_output: bytes(job.max_output_bytes),
        };
        let session = within_runtime_if_available(|| Session::open(self.engine.inner(), job));
        DockerSession { session: Arc::new(session) }
    }

    #[napi(catch_unwind)]
    pub fn live_count(&self) -> u32 {
        u32::try_from(self.engine.live_count()).unwrap_or(u32::MAX)
    }

    #[napi(catch_unwind)]
    pub async fn close(&self, limit_ms: f64) {
        self.engine.close(millis(limit_ms)).await;
    }

    /// For the moment when the process ends and no promise can be waited for.
    #[napi(catch_unwind)]
    pub fn close_now(&self, limit_ms: f64) {
        napi::bindgen_prelude::block_on(self.engine.close(millis(limit_ms)));
    }

    #[napi(catch_unwind)]
    pub async fn sweep(&self) -> Result<u32> {
        let swept = self.engine.sweep().await.map_err(|error| Error::from_reason(error.to_string()))?;
        Ok(u32::try_from(swept).unwrap_or(u32::MAX))
    }
}

#[napi]
pub struct DockerSession {
    session: Arc<Session>,
}

#[napi]
impl DockerSession {
    #[napi(catch_unwind)]
    pub async fn next(&self) -> Option<DockerEvent> {
        self.session.next().await.map(DockerEvent::from)
    }

    #[napi(catch_unwind)]
    pub fn send(&self, message: String) {
        self.session.send(message);
    }

    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.session.cancel();
    }
}

#[napi(object)]
pub struct DockerPeerCode {
    pub source: Option<String>,
    pub module: Option<String>,
    pub export: Option<String>,
}

/// The create request for a client that the caller brings, as JSON text.
#[napi(catch_unwind)]
pub fn docker_peer_request(
    spec: DockerContainerSpec,
    code: DockerPeerCode,
    input_json: String,
    marker: String,
) -> Result<String> {
    let code = match code.source {
        Some(source) => Code::Source(source),
        None => Code::Handler(code.module.unwrap_or_default(), code.export.unwrap_or_default()),
    };
    let program = peer_program(&code, &input_json, &marker);
    let mut body =
        ContainerSpec::from(spec).create_body(&program, Output::Logged, std::collections::HashMap::new());
    body.labels = None;
    serde_json::to_string(&body).map_err(|error| Error::from_reason(error.to_string()))
}

#[napi(object)]
pub struct DockerStreams {
    pub stdout: String,
    pub stderr: String,
    /// The answer within stdout, trimmed.
    pub answer: String,
}

/// Takes a log apart, off the JavaScript thread.
pub struct ReadLog {
    log: Vec<u8>,
    marker: String,
}

impl Task for ReadLog {
    type Output = DockerStreams;
    type JsValue = DockerStreams;

    fn compute(&mut self) -> Result<Self::Output> {
        let streams = demultiplex(&self.log);
        let stdout = String::from_utf8_lossy(&streams.stdout).into_owned();
        Ok(DockerStreams {
            answer: peer_answer(&stdout, &self.marker).to_owned(),
            stderr: String::from_utf8_lossy(&streams.stderr).into_owned(),
            stdout,
        })
    }

    fn resolve(&mut self, _env: Env, output: Self::Output) -> Result<Self::JsValue> {
        Ok(output)
    }
}

#[napi(catch_unwind, ts_return_type = "Promise<DockerStreams>")]
pub fn docker_read_log(log: Buffer, marker: String) -> AsyncTask<ReadLog> {
    AsyncTask::new(ReadLog { log: log.to_vec(), marker })
}

fn millis(value: f64) -> Duration {
    // Caps at about a year: adding more to a point in time could overflow.
    Duration::try_from_secs_f64((value / 1000.0).clamp(0.0, 3.2e7)).unwrap_or_default()
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, as a limit should"
)]
fn bytes(value: f64) -> usize {
    value as usize
}
