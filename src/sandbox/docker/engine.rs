//! One engine: its client, its containers, its pool, and the sweep of what dead hosts left behind.

use super::DockerError;
use super::connect::{Target, connect, reason};
use super::owner::{HOST_LABEL, LABEL, OWNER_LABEL, Owner};
use super::pool::{self, Pool};
use super::program::WRAPPER;
use super::request::{ContainerSpec, Output};
use super::session::Ready;
use bollard::Docker;
use bollard::errors::Error as ClientError;
use bollard::query_parameters::{
    AttachContainerOptionsBuilder, CreateContainerOptionsBuilder, ListContainersOptionsBuilder,
    RemoveContainerOptionsBuilder, StartContainerOptions,
};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::OnceCell;
use tokio::time::timeout;

/// How an engine is reached and what its containers are by default.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineConfig {
    /// Where the daemon is.
    pub target: Target,
    /// Makes the names of this engine's containers unique; any random text of letters and digits.
    pub id: String,
    /// The environment that every container of this engine has, waiting ones included.
    pub base_env: Vec<String>,
    /// How many started containers of a kind wait for work; 0 for none.
    pub pool_size: usize,
    /// How long an unused pool is kept.
    pub pool_idle: Duration,
    /// How long the daemon may take to create, attach and start.
    pub setup_limit: Duration,
}

/// How long one removal may take before it is tried again.
const REMOVE_LIMIT: Duration = Duration::from_secs(10);
const REMOVE_ATTEMPTS: u32 = 8;

/// The shared part of an engine; sessions and containers hold it.
pub struct Inner {
    config: EngineConfig,
    client: OnceCell<Docker>,
    owner: Owner,
    counter: AtomicU64,
    live: Mutex<HashSet<String>>,
    /// Where removals run: containers are dropped on any thread.
    runtime: OnceLock<Handle>,
    pool: Mutex<Pool>,
    swept: AtomicBool,
}

/// A Docker engine. Nothing is connected or started before the first run.
pub struct Engine(Arc<Inner>);

impl Engine {
    /// An engine that has done nothing yet.
    #[must_use]
    pub fn new(config: EngineConfig) -> Self {
        Self(Arc::new(Inner {
            config,
            client: OnceCell::new(),
            owner: Owner::this_process(),
            counter: AtomicU64::new(0),
            live: Mutex::default(),
            runtime: OnceLock::new(),
            pool: Mutex::default(),
            swept: AtomicBool::new(false),
        }))
    }

    /// What sessions work with.
    #[must_use]
    pub fn inner(&self) -> &Arc<Inner> {
        &self.0
    }

    /// How many containers this engine is answerable for at the moment.
    #[must_use]
    pub fn live_count(&self) -> usize {
        self.0.live().len()
    }

    /// Removes every container of this engine, busy ones as well, and waits for it at most `limit`.
    pub async fn close(&self, limit: Duration) {
        let engine = &self.0;
        drop(pool::close(engine));
        if engine.live().is_empty() {
            return;
        }
        let _ = timeout(limit, async {
            let names: Vec<String> = engine.live().iter().cloned().collect();
            let removals: Vec<_> =
                names.into_iter().map(|name| tokio::spawn(Arc::clone(engine).remove(name, false))).collect();
            for removal in removals {
                let _ = removal.await;
            }
        })
        .await;
    }

    /// Removes the containers of processes that are gone; answers how many there were.
    ///
    /// # Errors
    /// When no engine answers.
    pub async fn sweep(&self) -> Result<usize, DockerError> {
        self.0.sweep().await
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // The waiting containers hold the engine's shared part: without this they would keep each
        // other alive.
        drop(pool::close(&self.0));
    }
}

/// A container that may exist. Dropping it removes it, in the background.
pub struct Container {
    engine: Arc<Inner>,
    /// Its name, which the daemon takes for an id as well.
    pub name: String,
    /// Whether the daemon was asked to create it and has not answered.
    uncertain: bool,
}

impl Drop for Container {
    fn drop(&mut self) {
        // A runtime that has been shut down drops the task; the process is ending then.
        if let Some(runtime) = self.engine.runtime.get() {
            let removal = Arc::clone(&self.engine).remove(std::mem::take(&mut self.name), self.uncertain);
            runtime.spawn(removal);
        }
    }
}

impl Inner {
    pub(crate) fn config(&self) -> &EngineConfig {
        &self.config
    }

    pub(crate) fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn live(&self) -> MutexGuard<'_, HashSet<String>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client; connects at first use. A failure is not kept: the daemon may come up later.
    pub(crate) async fn client(&self) -> Result<&Docker, DockerError> {
        let limit = self.config.setup_limit;
        self.client
            .get_or_try_init(|| async {
                match timeout(limit, connect(&self.config.target)).await {
                    Ok(Ok(client)) => Ok(client),
                    Ok(Err(why)) => Err(DockerError::Unavailable(why)),
                    Err(_) => Err(slow(limit)),
                }
            })
            .await
    }

    /// A container that runs the wrapper and waits for its payload.
    pub(crate) async fn prepare(self: &Arc<Self>, spec: ContainerSpec) -> Result<Ready, DockerError> {
        self.runtime.get_or_init(Handle::current);
        let client = self.client().await?;
        if !self.swept.swap(true, Ordering::Relaxed) {
            let engine = Arc::clone(self);
            tokio::spawn(async move { engine.sweep().await });
        }
        let limit = self.config.setup_limit;
        timeout(limit, self.start(client, spec)).await.unwrap_or_else(|_| Err(slow(limit)))
    }

    async fn start(self: &Arc<Self>, client: &Docker, spec: ContainerSpec) -> Result<Ready, DockerError> {
        let number = self.counter.fetch_add(1, Ordering::Relaxed);
        let name = format!("ferrule-{}-{number}", self.config.id);
        self.live().insert(name.clone());
        let mut container = Container { engine: Arc::clone(self), name: name.clone(), uncertain: true };
        let body = spec.create_body(WRAPPER, Output::Attached, self.owner.labels());
        let created = client
            .create_container(Some(CreateContainerOptionsBuilder::new().name(&name).build()), body)
            .await;
        container.uncertain = created.as_ref().is_err_and(|error| status(error).is_none());
        created.map_err(|error| refused(&error))?;
        let streams = AttachContainerOptionsBuilder::new().stream(true).stdin(true).stdout(true).stderr(true);
        let attached =
            client.attach_container(&name, Some(streams.build())).await.map_err(|error| refused(&error))?;
        client
            .start_container(&name, None::<StartContainerOptions>)
            .await
            .map_err(|error| refused(&error))?;
        Ok(Ready { container, output: attached.output, input: attached.input })
    }

    /// Removes a container, until the daemon confirms that there is none.
    async fn remove(self: Arc<Self>, name: String, uncertain: bool) {
        if let Some(client) = self.client.get() {
            let options = RemoveContainerOptionsBuilder::new().force(true).build();
            for attempt in 0..REMOVE_ATTEMPTS {
                let answer =
                    timeout(REMOVE_LIMIT, client.remove_container(&name, Some(options.clone()))).await;
                match answer {
                    Ok(Ok(())) => break,
                    // A create that is still under way would make it after this answer.
                    Ok(Err(error)) if status(&error) == Some(404) && !uncertain => break,
                    _ => tokio::time::sleep(Duration::from_millis(50 << attempt)).await,
                }
            }
        }
        self.live().remove(&name);
    }

    async fn sweep(self: &Arc<Self>) -> Result<usize, DockerError> {
        let client = self.client().await?;
        let filters = HashMap::from([("label", vec![format!("{LABEL}=1")])]);
        let options = ListContainersOptionsBuilder::new().all(true).filters(&filters).build();
        let limit = self.config.setup_limit;
        let listed = timeout(limit, client.list_containers(Some(options))).await.map_err(|_| slow(limit))?;
        let mut swept = 0;
        for found in listed.map_err(|error| refused(&error))? {
            let labels = found.labels.unwrap_or_default();
            debug_assert!(labels.contains_key(HOST_LABEL) && labels.contains_key(OWNER_LABEL));
            if let Some(id) = found.id.filter(|_| self.owner.is_orphan(&labels)) {
                Arc::clone(self).remove(id, false).await;
                swept += 1;
            }
        }
        Ok(swept)
    }
}

fn slow(limit: Duration) -> DockerError {
    DockerError::Slow(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))
}

/// The HTTP status of a refusal; none when the daemon was not reached or its answer was not read.
pub(crate) fn status(error: &ClientError) -> Option<u16> {
    match error {
        ClientError::DockerResponseServerError { status_code, .. } => Some(*status_code),
        _ => None,
    }
}

fn refused(error: &ClientError) -> DockerError {
    DockerError::Refused(reason(error))
}
