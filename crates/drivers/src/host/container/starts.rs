//! Starts under way: pulling an image takes minutes, and the agent's steps must not wait for it.

use super::{
    body::{self, Marks},
    engine::{Engine, failing, is_already, is_missing},
};
use crate::Failure;
use bollard::{
    Docker,
    models::{ContainerCreateBody, CreateImageInfo},
    query_parameters::{CreateContainerOptions, CreateImageOptions},
};
use futures_util::StreamExt;
use protocol::Instance;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use units::Phase;

/// What is known of starts that the engine does not show, or not truly, yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Starts {
    shared: Arc<Mutex<BTreeMap<Instance, Start>>>,
}

#[derive(Debug, Clone)]
pub(super) struct Start {
    pub(super) marks: Marks,
    pub(super) phase: Phase,
    /// The engine has been asked for a container, which can no longer be taken back: it is ended once it exists.
    committed: bool,
}

impl Starts {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Instance, Start>> {
        // Every entry is replaced as a whole: a panic elsewhere leaves none half written.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that are known.
    pub(super) fn all(&self) -> Vec<Start> {
        self.lock().values().cloned().collect()
    }

    /// One, if it is known.
    pub(super) fn get(&self, instance: Instance) -> Option<Start> {
        self.lock().get(&instance).cloned()
    }

    /// Gives a start up; whether nothing of it can come to exist any more.
    pub(super) fn give_up(&self, instance: Instance) -> bool {
        let mut starts = self.lock();
        match starts.get(&instance) {
            Some(start) if start.committed && matches!(start.phase, Phase::Starting(_)) => false,
            _ => {
                starts.remove(&instance);
                true
            }
        }
    }

    fn note(&self, instance: Instance, text: String) {
        if let Some(start) = self.lock().get_mut(&instance) {
            start.phase = Phase::Starting(text);
        }
    }

    /// Whether it is still wanted; from now on it can only be ended.
    fn commit(&self, instance: Instance) -> bool {
        self.lock().get_mut(&instance).map(|start| start.committed = true).is_some()
    }

    fn is_wanted(&self, instance: Instance) -> bool {
        self.lock().contains_key(&instance)
    }

    /// Begins a start. `made` is called with the new container's id before it runs.
    pub(super) fn begin(
        &self,
        engine: &Engine,
        marks: Marks,
        body: ContainerCreateBody,
        made: impl FnOnce(String) -> Result<(), Failure> + Send + 'static,
    ) {
        let instance = marks.instance;
        let phase = Phase::Starting("starting".into());
        self.lock().insert(instance, Start { marks: marks.clone(), phase, committed: false });
        let (starts, docker) = (self.clone(), engine.docker().clone());
        engine.handle().spawn(async move {
            let done = run(&starts, &docker, &marks, body, made).await;
            let mut starts = starts.lock();
            match (done, starts.get_mut(&instance)) {
                // From now on the engine tells of it.
                (Ok(()), _) => drop(starts.remove(&instance)),
                (Err(failure), Some(start)) => start.phase = Phase::Failed(failure.to_string()),
                (Err(_), None) => {}
            }
        });
    }
}

async fn run(
    starts: &Starts,
    docker: &Docker,
    marks: &Marks,
    body: ContainerCreateBody,
    made: impl FnOnce(String) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let image = body.image.clone().unwrap_or_default();
    let missing = docker.inspect_image(&image).await.is_err_and(|error| is_missing(&error));
    if missing && !pull(starts, docker, marks.instance, &image).await? {
        return Ok(());
    }
    if !starts.commit(marks.instance) {
        return Ok(());
    }
    let name = body::Marks::name(&marks.log, marks.instance);
    let options = CreateContainerOptions { name: Some(name), ..CreateContainerOptions::default() };
    let created = match docker.create_container(Some(options), body).await {
        // An earlier start got as far as that: it is there, and the listing tells of it.
        Err(error) if is_already(&error) => return Ok(()),
        created => created.map_err(failing("create the container"))?,
    };
    made(created.id.clone())?;
    docker.start_container(&created.id, None).await.map_err(failing("start the container"))
}

/// Pulls an image; whether the start is still wanted.
async fn pull(starts: &Starts, docker: &Docker, instance: Instance, image: &str) -> Result<bool, Failure> {
    // Without a tag the engine would pull every tag there is.
    let named = image.rsplit('/').next().is_some_and(|last| last.contains([':', '@']));
    let from_image = if named { image.to_owned() } else { format!("{image}:latest") };
    let options = CreateImageOptions { from_image: Some(from_image), ..CreateImageOptions::default() };
    let mut progress = docker.create_image(Some(options), None, None);
    let mut layers = BTreeMap::new();
    while let Some(step) = progress.next().await {
        let step = step.map_err(failing(&format!("pull the image {image}")))?;
        starts.note(instance, format!("pulling image{}", percent(&mut layers, step)));
        if !starts.is_wanted(instance) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How much of the layers that are known has come, as ` 43 %`.
fn percent(layers: &mut BTreeMap<String, (i64, i64)>, step: CreateImageInfo) -> String {
    if let (Some(id), Some(detail)) = (step.id, step.progress_detail)
        && let (Some(current), Some(total)) = (detail.current, detail.total)
    {
        layers.insert(id, (current, total));
    }
    let (current, total) = layers.values().fold((0, 0), |sum, layer| (sum.0 + layer.0, sum.1 + layer.1));
    if total > 0 { format!(" {} %", current * 100 / total) } else { String::new() }
}
