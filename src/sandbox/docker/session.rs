//! One run: drives a container from its payload to its end.
//!
//! Invariants: exactly one `Done` event ends every session; the clock starts when the container has
//! started; a deadline counts only when the kill took effect; reading goes on while writing, so that
//! neither side can block the other; nothing is read ahead of what the caller has taken.

use super::DockerError;
use super::channel::Channel;
use super::connect::reason;
use super::engine::{Container, Inner, status};
use super::pool;
use super::program::BRIDGE;
use super::request::ContainerSpec;
use bollard::container::LogOutput;
use bollard::errors::Error as ClientError;
use bollard::query_parameters::{
    InspectContainerOptions, KillContainerOptionsBuilder, WaitContainerOptionsBuilder,
};
use futures_util::{Stream, StreamExt};
use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::{Instant, timeout};

/// How long the daemon may take for the small questions at the end of a run.
const END_LIMIT: Duration = Duration::from_secs(10);
/// How long the rest of the output may take after a container has ended by itself at the deadline.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// A started container that waits for its payload.
pub(crate) struct Ready {
    pub(crate) container: Container,
    pub(crate) output: Pin<Box<dyn Stream<Item = Result<LogOutput, ClientError>> + Send>>,
    pub(crate) input: Pin<Box<dyn AsyncWrite + Send>>,
}

/// What to run.
#[derive(Debug, Clone)]
pub struct Job {
    /// The container.
    pub spec: ContainerSpec,
    /// The run's secret, 32 hex digits.
    pub nonce: String,
    /// JSON for the wrapper.
    pub payload: String,
    /// Whether the payload is a script with tools, which goes on exchanging messages.
    pub bridge: bool,
    /// Wall clock from the start of the container; none for no limit.
    pub limit: Option<Duration>,
    /// Largest message in bytes.
    pub max_message: usize,
    /// How much of stdout and of stderr is kept, in bytes; the rest is read and dropped.
    pub max_output: usize,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A one-shot run sent its answer.
    Answer(String),
    /// The container ended without one.
    Exited {
        /// Its exit status.
        code: i64,
        /// Whether the memory limit killed something in it.
        out_of_memory: bool,
        /// What the code printed.
        stdout: String,
        /// What the code printed there.
        stderr: String,
    },
    /// The wall clock ran out.
    TimedOut,
    /// The caller gave up.
    Aborted,
    /// A message was over the limit.
    TooLarge,
    /// The engine could not be used, or was lost on the way.
    Failed(DockerError),
}

/// What a session reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A message of a script with tools.
    Message(String),
    /// The end; nothing comes after it.
    Done(Outcome),
}

/// A run in progress. Dropping it ends the run.
pub struct Session {
    events: Mutex<mpsc::Receiver<Event>>,
    inbox: mpsc::UnboundedSender<String>,
    cancel: watch::Sender<bool>,
}

impl Session {
    /// Starts a run. Needs a tokio runtime.
    #[must_use]
    pub fn open(engine: &Arc<Inner>, job: Job) -> Self {
        let (event_sender, events) = mpsc::channel(16);
        let (inbox, inbox_receiver) = mpsc::unbounded_channel();
        let (cancel, cancelled) = watch::channel(false);
        let engine = Arc::clone(engine);
        tokio::spawn(async move {
            let mut run = Run { engine, cancelled, events: event_sender.clone() };
            let outcome = run.drive(job, inbox_receiver).await;
            let _ = event_sender.send(Event::Done(outcome)).await;
        });
        Self { events: Mutex::new(events), inbox, cancel }
    }

    /// The next event; none after the end.
    pub async fn next(&self) -> Option<Event> {
        self.events.lock().await.recv().await
    }

    /// Sends a message to a script with tools; lost when the run has ended.
    pub fn send(&self, message: String) {
        let _ = self.inbox.send(message);
    }

    /// Ends the run, whatever it is doing.
    pub fn cancel(&self) {
        self.cancel.send_replace(true);
    }
}

struct Run {
    engine: Arc<Inner>,
    cancelled: watch::Receiver<bool>,
    events: mpsc::Sender<Event>,
}

/// What has been read so far.
struct Intake {
    channel: Channel,
    messages: VecDeque<String>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    keep: usize,
}

impl Run {
    async fn drive(&mut self, job: Job, inbox: mpsc::UnboundedReceiver<String>) -> Outcome {
        // In a task of its own: a create request that is under way must be seen through to its end,
        // or a container could come into being that nobody removes.
        let acquiring = tokio::spawn(acquire(Arc::clone(&self.engine), job.spec.clone()));
        let ready = tokio::select! {
            biased;
            () = cancelled(&mut self.cancelled) => return Outcome::Aborted,
            ready = acquiring => ready,
        };
        let (ready, env) = match ready {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => return Outcome::Failed(error),
            Err(error) => return Outcome::Failed(DockerError::Refused(error.to_string())),
        };
        let deadline = job.limit.map(|limit| Instant::now() + limit);
        let writer =
            tokio::spawn(write(ready.input, head(&job, &env), job.payload, job.bridge.then_some(inbox)));
        let intake = Intake {
            channel: Channel::new(&job.nonce, job.max_message),
            messages: VecDeque::new(),
            stdout: Vec::new(),
            stderr: Vec::new(),
            keep: job.max_output,
        };
        let outcome = self.read(&ready.container.name, ready.output, intake, deadline, job.bridge).await;
        writer.abort();
        outcome
    }

    async fn read(
        &mut self,
        name: &str,
        mut output: Pin<Box<dyn Stream<Item = Result<LogOutput, ClientError>> + Send>>,
        mut intake: Intake,
        mut deadline: Option<Instant>,
        bridge: bool,
    ) -> Outcome {
        let mut draining = false;
        let events = self.events.clone();
        loop {
            if !bridge && let Some(answer) = intake.messages.pop_front() {
                return Outcome::Answer(answer);
            }
            tokio::select! {
                biased;
                () = cancelled(&mut self.cancelled) => return Outcome::Aborted,
                permit = events.reserve(), if !intake.messages.is_empty() => {
                    let Ok(permit) = permit else { return Outcome::Aborted };
                    if let Some(message) = intake.messages.pop_front() {
                        permit.send(Event::Message(message));
                    }
                }
                piece = output.next(), if intake.messages.is_empty() => match piece {
                    Some(Ok(piece)) => if intake.take(piece).is_err() {
                        return Outcome::TooLarge;
                    },
                    // A broken stream is judged by what became of the container.
                    Some(Err(_)) | None => return self.ending(name, intake, deadline).await,
                },
                () = sleep_until(deadline) => {
                    if draining || self.kill(name).await {
                        return Outcome::TimedOut;
                    }
                    draining = true;
                    deadline = Some(Instant::now() + DRAIN_LIMIT);
                }
            }
        }
    }

    /// Whether a kill took effect. When it did not, the container had ended before.
    async fn kill(&self, name: &str) -> bool {
        let Ok(client) = self.engine.client().await else { return true };
        let options = KillContainerOptionsBuilder::new().signal("SIGKILL").build();
        match timeout(END_LIMIT, client.kill_container(name, Some(options))).await {
            Ok(Err(error)) => !matches!(status(&error), Some(404 | 409)),
            Ok(Ok(())) | Err(_) => true,
        }
    }

    /// The output has ended: what became of the container?
    async fn ending(&mut self, name: &str, mut intake: Intake, deadline: Option<Instant>) -> Outcome {
        intake.channel.finish(&mut intake.stdout);
        let engine = Arc::clone(&self.engine);
        let exit = async {
            let client = engine.client().await?;
            let options = WaitContainerOptionsBuilder::new().condition("not-running").build();
            // A status that is not zero comes as an error, as does a lost connection: the question
            // after it tells them apart.
            let _ = client.wait_container(name, Some(options)).next().await;
            let inspected =
                timeout(END_LIMIT, client.inspect_container(name, None::<InspectContainerOptions>));
            let state = match inspected.await {
                Ok(Ok(answer)) => answer.state.unwrap_or_default(),
                Ok(Err(error)) => return Err(DockerError::Refused(reason(&error))),
                Err(_) => return Err(DockerError::Slow(10_000)),
            };
            if state.running == Some(true) {
                return Err(DockerError::Refused(
                    "the output ended while the container still runs".to_owned(),
                ));
            }
            Ok((state.exit_code.unwrap_or(-1), state.oom_killed == Some(true)))
        };
        tokio::select! {
            biased;
            () = cancelled(&mut self.cancelled) => Outcome::Aborted,
            exit = exit => match exit {
                Ok((code, out_of_memory)) => Outcome::Exited {
                    code,
                    out_of_memory,
                    stdout: text(&intake.stdout),
                    stderr: text(&intake.stderr),
                },
                Err(error) => Outcome::Failed(error),
            },
            () = sleep_until(deadline) => Outcome::TimedOut,
        }
    }
}

impl Intake {
    fn take(&mut self, piece: LogOutput) -> Result<(), super::channel::MessageTooLarge> {
        match piece {
            LogOutput::StdErr { message } => self.stderr.extend_from_slice(&message),
            LogOutput::StdIn { .. } => {}
            LogOutput::StdOut { message } | LogOutput::Console { message } => {
                let found = self.channel.push(&message, &mut self.stdout)?;
                self.messages.extend(found.iter().map(|bytes| text(bytes)));
            }
        }
        self.stdout.truncate(self.keep);
        self.stderr.truncate(self.keep);
        Ok(())
    }
}

/// A waiting container when the job fits one, otherwise a new one; and the environment it still lacks.
async fn acquire(engine: Arc<Inner>, spec: ContainerSpec) -> Result<(Ready, Vec<String>), DockerError> {
    if engine.config().pool_size > 0
        && let Some((kind, missing)) = pool_kind(&spec, &engine.config().base_env)
        && let Some(ready) = pool::take(&engine, &kind)
    {
        return Ok((ready, missing));
    }
    Ok((engine.prepare(spec).await?, Vec::new()))
}

/// The kind of waiting container that will do, and which environment it has to be given on top.
fn pool_kind(spec: &ContainerSpec, base_env: &[String]) -> Option<(ContainerSpec, Vec<String>)> {
    let missing = spec.env.strip_prefix(base_env)?;
    // These are read when a process starts, and a waiting one has started.
    let early = |pair: &String| ["NODE_", "LD_", "UV_"].iter().any(|prefix| pair.starts_with(prefix));
    if missing.iter().any(early) {
        return None;
    }
    Some((ContainerSpec { env: base_env.to_vec(), ..spec.clone() }, missing.to_vec()))
}

/// The first frame: what the wrapper needs to know of this run.
fn head(job: &Job, env: &[String]) -> String {
    let env: HashMap<&str, &str> = env.iter().filter_map(|pair| pair.split_once('=')).collect();
    let mut head = serde_json::json!({ "nonce": job.nonce, "env": env });
    if job.bridge {
        head["program"] = BRIDGE.into();
    }
    head.to_string()
}

/// Writes the job, then either ends stdin or goes on with what the inbox brings. A container that
/// stopped reading shows by its output's end.
async fn write(
    mut input: Pin<Box<dyn AsyncWrite + Send>>,
    head: String,
    payload: String,
    inbox: Option<mpsc::UnboundedReceiver<String>>,
) -> std::io::Result<()> {
    write_frame(&mut input, &head).await?;
    write_frame(&mut input, &payload).await?;
    if let Some(mut inbox) = inbox {
        while let Some(message) = inbox.recv().await {
            write_frame(&mut input, &message).await?;
        }
    }
    input.shutdown().await
}

async fn write_frame(input: &mut Pin<Box<dyn AsyncWrite + Send>>, text: &str) -> std::io::Result<()> {
    let length = u32::try_from(text.len()).map_err(std::io::Error::other)?;
    input.write_all(&length.to_be_bytes()).await?;
    input.write_all(text.as_bytes()).await?;
    input.flush().await
}

async fn cancelled(cancel: &mut watch::Receiver<bool>) {
    // A sender that is gone means that nobody waits any more.
    let _ = cancel.wait_for(|cancelled| *cancelled).await;
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::docker::request::tests::spec;

    #[test]
    fn a_waiting_container_serves_what_differs_in_environment_only() {
        let base = ["NODE_OPTIONS=--x".to_owned()];
        let with = |env: &[&str]| ContainerSpec {
            env: env.iter().map(|pair| (*pair).to_owned()).collect(),
            ..spec()
        };
        let kind = with(&["NODE_OPTIONS=--x"]);
        assert_eq!(pool_kind(&kind, &base), Some((kind.clone(), vec![])));
        assert_eq!(
            pool_kind(&with(&["NODE_OPTIONS=--x", "A=1"]), &base),
            Some((kind, vec!["A=1".to_owned()]))
        );
        assert_eq!(pool_kind(&with(&["NODE_OPTIONS=--x", "NODE_DEBUG=1"]), &base), None, "read at start");
        assert_eq!(pool_kind(&with(&[]), &base), None);
    }
}
