//! The driver of container leases: one container and one watcher for each workload.
//!
//! The engine keeps what runs and how it ended; labels say whose it is. The watcher is a shim that keeps the
//! deadline when no agent is there.

mod body;
mod ended;
mod engine;
mod starts;
mod streams;

pub(crate) use engine::{dial, is_already, is_missing};

use super::{
    cgroups, clock,
    folder::{self, Control, Folder, OutputLimits},
    record::{End, Record, State},
    shim::{ShimCommand, WatchOrder},
};
use crate::{Driver, Failure, Listing, LogRequest, Observed, Order, Session};
use body::Marks;
use bollard::{
    models::{
        ContainerInspectResponse, ContainerState, ContainerStateStatusEnum as Status, ContainerSummary,
        ContainerSummaryStateEnum as Listed,
    },
    query_parameters::{ListContainersOptions, RemoveContainerOptions, StopContainerOptions},
};
use engine::Engine;
use protocol::{Capability, Generation, Instance};
use starts::Starts;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs::OpenOptions,
    io::Read,
    path::PathBuf,
    process::{Child, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use units::{Phase, Runtime, Time};

/// How container leases are run on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerSettings {
    /// The engine's socket.
    pub socket: PathBuf,
    /// Where the watchers' state folders are.
    pub state: PathBuf,
    /// The command that runs as a shim.
    pub shim: ShimCommand,
    /// How much output the engine keeps of each container.
    pub output: OutputLimits,
    /// Most processes and threads of one container; 0 for no limit.
    pub max_processes: u32,
    /// The engine's network that containers join; `None` for its default one.
    pub network: Option<String>,
    /// The kind that devices have in the Container Device Interface, such as `nvidia.com/gpu`.
    pub device_kind: String,
}

/// The driver of container leases.
pub struct Containers {
    log: Arc<str>,
    settings: ContainerSettings,
    engine: Engine,
    starts: Starts,
    /// Being stopped in the background, which takes up to the grace.
    stopping: Arc<Mutex<BTreeSet<Instance>>>,
    /// How containers ended, by id: it never changes, so that each is asked for once.
    ended: BTreeMap<String, Phase>,
    /// Since when each is in its phase, in milliseconds since the machine's start: of an earlier one where it is negative.
    since: BTreeMap<Instance, (Phase, i64)>,
    /// Watchers that this agent started, to be waited for.
    watchers: Arc<Mutex<Vec<Child>>>,
}

impl Containers {
    /// A driver for the log of this id, on an engine that answers.
    pub fn new(log: &str, settings: ContainerSettings) -> Result<Containers, Failure> {
        super::check_log(log)?;
        let (socket, state) = (super::absolute(&settings.socket)?, super::absolute(&settings.state)?);
        let settings = ContainerSettings { socket, state, ..settings };
        let engine = Engine::connect(&settings.socket)?;
        Ok(Containers {
            log: log.into(),
            settings,
            engine,
            starts: Starts::default(),
            stopping: Arc::default(),
            ended: BTreeMap::new(),
            since: BTreeMap::new(),
            watchers: Arc::default(),
        })
    }

    /// What the engine can do here.
    pub fn capabilities(&self) -> Vec<Capability> {
        let kind = self.engine.kind();
        let (available, reason) = match kind.gives_devices() {
            Ok(()) => (true, kind.to_string()),
            Err(reason) => (false, reason),
        };
        vec![
            Capability {
                name: "containers".into(),
                available: true,
                reason: format!("{kind} at {}", self.settings.socket.display()),
            },
            Capability { name: "containers.gpu".into(), available, reason },
        ]
    }

    fn name(&self, instance: Instance) -> String {
        Marks::name(&self.log, instance)
    }

    /// The control groups of each running container.
    pub(super) fn groups(&self) -> Vec<(Instance, Vec<PathBuf>)> {
        let folders = folder::list(&self.settings.state).unwrap_or_default().into_iter();
        let ours = folders.filter(|(log, ..)| **log == *self.log);
        let groups = |instance| {
            let pid = self.inspect(&self.name(instance)).ok()??.state?.pid.filter(|pid| *pid > 0)?;
            Some((instance, cgroups::of_process(pid)))
        };
        ours.filter_map(|(_, instance, _)| groups(instance)).collect()
    }

    fn folder(&self, instance: Instance) -> Folder {
        Folder::at(self.settings.state.join(&*self.log).join(folder::name(instance)))
    }

    fn inspect(&self, name: &str) -> Result<Option<ContainerInspectResponse>, Failure> {
        self.engine.find("look at a container", self.engine.docker().inspect_container(name, None))
    }

    fn list(&self) -> Result<Vec<ContainerSummary>, Failure> {
        let filters = HashMap::from([("label".to_owned(), vec![body::ANY_LOG.to_owned()])]);
        let options = ListContainersOptions { all: true, filters: Some(filters), ..ListContainersOptions::default() };
        self.engine.ask("list containers", self.engine.docker().list_containers(Some(options)))
    }

    /// One container of the listing; `None` where it is not one of anybody's leases, or is gone meanwhile.
    fn observed(&mut self, container: ContainerSummary) -> Result<Option<Observed>, Failure> {
        let Some(marks) = container.labels.as_ref().and_then(Marks::read) else { return Ok(None) };
        let id = container.id.unwrap_or_default();
        if let Some(phase) = self.ended.get(&id) {
            return Ok(Some(self.seen(marks, phase.clone(), None)));
        }
        let state = if container.state == Some(Listed::RUNNING) {
            // The usual case costs no further question.
            ContainerState { status: Some(Status::RUNNING), ..ContainerState::default() }
        } else {
            let Some(state) = self.inspect(&id)?.and_then(|container| container.state) else { return Ok(None) };
            state
        };
        let phase = self.phase(&marks, &state);
        if matches!(state.status, Some(Status::EXITED)) {
            self.ended.insert(id, phase.clone());
        }
        Ok(Some(self.seen(marks, phase, Some(&state))))
    }

    fn phase(&self, marks: &Marks, state: &ContainerState) -> Phase {
        let ours = *marks.log == *self.log;
        let start = if ours { self.starts.get(marks.instance) } else { None };
        let folder = self.folder(marks.instance);
        let record = if ours { folder.record().ok().flatten() } else { None };
        let out_of_funds = record.is_some_and(|record| is_out_of_funds(&record));
        let lost = || ours && ended::with_the_machine(&folder, state);
        let code = || state.exit_code.and_then(|code| i32::try_from(code).ok()).unwrap_or(-1);
        match (state.status, start) {
            // What the starter knows is nearer to the truth: the engine shows a failed start as merely created.
            (Some(Status::CREATED), Some(start)) => start.phase,
            _ if out_of_funds => Phase::OutOfFunds,
            (Some(Status::CREATED), None) if !ended::had_started(state) => Phase::Failed("its start was interrupted".into()),
            (Some(Status::CREATED), None) => Phase::Failed("the machine was restarted".into()),
            (Some(Status::EXITED), _) if lost() => Phase::Failed("the machine was restarted".into()),
            (Some(Status::EXITED), _) => Phase::Exited(code()),
            (Some(Status::DEAD), _) => Phase::Failed("the container engine could not end it cleanly".into()),
            _ => Phase::Ready,
        }
    }

    /// What was seen, with the time since its phase began: that of an end from whoever saw it, any other from the first look.
    fn seen(&mut self, marks: Marks, phase: Phase, state: Option<&ContainerState>) -> Observed {
        let Marks { log, instance, born, .. } = marks;
        if *log != *self.log {
            return Observed { instance, log: log.into(), born, phase, ago_ms: 0 };
        }
        let now = clock::since_boot_ms().cast_signed();
        let known = self.since.get(&instance).filter(|(known, _)| *known == phase).map(|(_, since)| *since);
        let since = known
            .unwrap_or_else(|| now.saturating_sub_unsigned(state.map_or(0, |state| self.began_ago_ms(instance, &phase, state))));
        self.since.insert(instance, (phase.clone(), since));
        let ago_ms = u64::try_from(now.saturating_sub(since)).unwrap_or(0);
        Observed { instance, log: log.into(), born, phase, ago_ms }
    }

    fn began_ago_ms(&self, instance: Instance, phase: &Phase, state: &ContainerState) -> u64 {
        let folder = self.folder(instance);
        match phase {
            Phase::Starting(_) | Phase::Ready => 0,
            // The watcher writes down when it ends it.
            Phase::OutOfFunds => folder.record().ok().flatten().map_or(0, |record| record.since.ago_ms()),
            _ => ended::ago_ms(&folder, state),
        }
    }

    fn started(&mut self) -> Vec<Observed> {
        let starts = self.starts.all();
        starts.into_iter().map(|start| self.seen(start.marks, start.phase, None)).collect()
    }

    /// Every running container of ours has a living watcher: one that was killed is replaced.
    fn tend_watchers(&self, seen: &[Observed]) {
        let mut watchers = lock(&self.watchers);
        watchers.retain_mut(|watcher| matches!(watcher.try_wait(), Ok(None)));
        for seen in seen.iter().filter(|seen| *seen.log == *self.log && seen.phase == Phase::Ready) {
            let folder = self.folder(seen.instance);
            let dead = |record: &Record| !record.shim.is_alive() && !record.has_ended();
            if folder.record().ok().flatten().is_some_and(|record| dead(&record)) {
                // One that could not be started is tried again at the next listing.
                watchers.extend(start_watcher(&self.settings.shim, &folder, seen.born));
            }
        }
    }

    /// Stops a container in the background, once.
    fn stop(&self, instance: Instance, grace_ms: u64) {
        if !lock(&self.stopping).insert(instance) {
            return;
        }
        let (docker, name, stopping) = (self.engine.docker().clone(), self.name(instance), self.stopping.clone());
        self.engine.handle().spawn(async move {
            // A stop that fails is asked for again: the container is seen to run on.
            let _ = docker.stop_container(&name, Some(stop_options(grace_ms))).await;
            lock(&stopping).remove(&instance);
        });
    }

    fn remove(&mut self, instance: Instance, id: Option<String>) -> Result<(), Failure> {
        let options = RemoveContainerOptions { force: true, v: true, ..RemoveContainerOptions::default() };
        let name = self.name(instance);
        let removed = self.engine.docker().remove_container(&name, Some(options));
        self.engine.find("remove a container", removed)?;
        self.starts.give_up(instance);
        self.ended.remove(&id.unwrap_or_default());
        self.since.remove(&instance);
        Ok(())
    }
}

fn is_out_of_funds(record: &Record) -> bool {
    matches!(record.state, State::Ending(End::OutOfFunds) | State::Ended(End::OutOfFunds))
}

/// What is behind it is changed in one step only: a panic elsewhere leaves it whole.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whole seconds, as the API counts them; not less than was promised.
pub(crate) fn stop_options(grace_ms: u64) -> StopContainerOptions {
    StopContainerOptions { t: Some(i32::try_from(grace_ms.div_ceil(1_000)).unwrap_or(i32::MAX)), ..Default::default() }
}

/// Starts a watcher. Until it has written its own record, this process stands in it.
fn start_watcher(shim: &ShimCommand, folder: &Folder, born: Generation) -> Result<Child, Failure> {
    folder.set_record(&Record::now(born, State::Starting))?;
    let failed = |source| Failure::passing("start a watcher", source);
    let complaints = OpenOptions::new().create(true).append(true).open(folder.path().join("shim.log")).map_err(failed)?;
    let mut watcher = shim.command("watch");
    watcher.arg(folder.path()).env_clear().current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(complaints);
    watcher.spawn().map_err(failed)
}

impl Driver for Containers {
    fn observe(&mut self, _now: Time) -> Listing {
        let mut listing = Listing::default();
        match self.list() {
            Err(failure) => listing.failures.push(failure),
            Ok(containers) => {
                for container in containers {
                    match self.observed(container) {
                        Ok(seen) => listing.seen.extend(seen),
                        Err(failure) => listing.failures.push(failure),
                    }
                }
            }
        }
        let listed: BTreeSet<Instance> = listing.seen.iter().filter(|s| *s.log == *self.log).map(|s| s.instance).collect();
        listing.seen.extend(self.started().into_iter().filter(|start| !listed.contains(&start.instance)));
        self.tend_watchers(&listing.seen);
        listing
    }

    fn look(&mut self, instance: Instance, _now: Time) -> Result<Option<Observed>, Failure> {
        if let Some(start) = self.starts.get(instance) {
            return Ok(Some(self.seen(start.marks, start.phase, None)));
        }
        let Some(container) = self.inspect(&self.name(instance))? else { return Ok(None) };
        let marks = container.config.and_then(|config| Marks::read(&config.labels?));
        // Of our name and not marked as ours: whatever it is, it is there.
        let marks = marks.ok_or_else(|| Failure::lasting("look at a container", "it does not carry its marks"))?;
        let state = container.state.unwrap_or_default();
        let phase = self.phase(&marks, &state);
        Ok(Some(self.seen(marks, phase, Some(&state))))
    }

    fn start(&mut self, order: &Order, now: Time) -> Result<(), Failure> {
        let Runtime::Container(image) = &order.workload.runtime else {
            return Err(Failure::lasting("start a container", "the workload names no image"));
        };
        let marks = Marks::of(&self.log, order);
        let body = body::body(&marks, order, image, &self.settings, self.engine.kind())?;
        let folder = self.folder(order.instance);
        // Of an earlier start that got no further than this.
        folder.remove()?;
        let control = Control { stop_at_ms: super::deadline(order.stop_by, now), end: false };
        let (shim, socket, grace_ms) = (self.settings.shim.clone(), self.settings.socket.clone(), marks.grace_ms);
        let (born, watchers) = (order.born, self.watchers.clone());
        self.starts.begin(&self.engine, marks, body, move |container| {
            folder.create(&WatchOrder { born, socket, container, grace_ms }, &control)?;
            start_watcher(&shim, &folder, born).map(|watcher| lock(&watchers).push(watcher))
        });
        Ok(())
    }

    fn end(&mut self, instance: Instance, _now: Time) -> Result<(), Failure> {
        let Some(container) = self.inspect(&self.name(instance))? else {
            return if self.starts.give_up(instance) { self.folder(instance).remove() } else { Ok(()) };
        };
        // Anything else may have a process: Podman says of one that it is stopping that it is not running.
        let still =
            matches!(container.state.and_then(|state| state.status), Some(Status::CREATED | Status::EXITED | Status::DEAD));
        if still {
            return self.remove(instance, container.id);
        }
        let marks = container.config.and_then(|config| Marks::read(&config.labels?));
        self.stop(instance, marks.map_or(0, |marks| marks.grace_ms));
        Ok(())
    }

    fn set_deadline(&mut self, instance: Instance, stop_by: Option<Time>, now: Time) -> Result<(), Failure> {
        let folder = self.folder(instance);
        folder.set_control(&Control { stop_at_ms: super::deadline(stop_by, now), end: false })
    }

    fn logs(&mut self, instance: Instance, request: LogRequest) -> Result<Box<dyn Read + Send>, Failure> {
        match self.inspect(&self.name(instance))? {
            None => Err(Failure::lasting("read the output", format!("there is no {instance} here"))),
            Some(_) => Ok(streams::logs(&self.engine, &self.name(instance), request)),
        }
    }

    fn exec(&mut self, instance: Instance, argv: &[String], tty: bool) -> Result<Session, Failure> {
        streams::exec(&self.engine, &self.name(instance), argv, tty)
    }
}
