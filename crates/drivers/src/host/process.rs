//! The driver of process leases: one state folder and one shim for each workload.
//!
//! Nothing is held in memory that matters: a new agent finds everything in the folders.

use super::{
    cgroups::{self, Cgroups, Limits},
    folder::{self, Control, Folder, OutputLimits, ShimOrder},
    logs,
    record::{End, Record, State},
    session,
    shim::{LONGEST_SLEEP_MS, ShimCommand, kill, kill_leftovers},
    sign::Sign,
};
use crate::{Driver, Failure, Listing, LogRequest, Observed, Order, Session};
use protocol::Instance;
use rustix::process::Signal;
use std::{
    collections::BTreeMap,
    fs::OpenOptions,
    io::Read,
    path::PathBuf,
    process::{Child, Stdio},
    sync::Arc,
};
use units::{Phase, Time};

/// A shim writes its first record within milliseconds; one that has not by then was never started, or died at once.
const SHIM_COMES_UP_MS: u64 = 10_000;

/// A shim that gave no sign of life for three of its intervals may have been stopped, by its own workload too.
const SILENT_MS: u64 = 3 * LONGEST_SLEEP_MS;

/// What a shim is given beyond the grace to end its tree and to keep the last output. Then the agent ends it.
const SHIM_ENDS_MS: u64 = 5_000;

/// How process leases are run on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSettings {
    /// Where the state folders are.
    pub state: PathBuf,
    /// The command that runs as a shim.
    pub shim: ShimCommand,
    /// How much output is kept of each workload.
    pub output: OutputLimits,
    /// Most processes and threads of one workload; 0 for no limit.
    pub max_processes: u32,
    /// User and group that workloads run as; `None` for the agent's own.
    pub run_as: Option<(u32, u32)>,
}

/// The driver of process leases.
pub struct Processes {
    log: Arc<str>,
    settings: ProcessSettings,
    cgroups: Cgroups,
    /// Shims that this agent started, to be waited for.
    shims: Vec<Child>,
    /// Since when each is to end. A new agent counts anew.
    ends: BTreeMap<Instance, Sign>,
}

impl Processes {
    /// A driver for the log of this id: 1 to 64 lower-case hexadecimal digits, since it names a folder.
    pub fn new(log: &str, settings: ProcessSettings, cgroups: Cgroups) -> Result<Processes, Failure> {
        super::check_log(log)?;
        let settings = ProcessSettings { state: super::absolute(&settings.state)?, ..settings };
        Ok(Processes { log: log.into(), settings, cgroups, shims: Vec::new(), ends: BTreeMap::new() })
    }

    fn folder(&self, instance: Instance) -> Folder {
        Folder::at(self.settings.state.join(&*self.log).join(folder::name(instance)))
    }

    /// The name of its control groups: of a log and an instance, on one level.
    fn group(&self, instance: Instance) -> String {
        let short = &self.log[..self.log.len().min(16)];
        format!("{short}_{}", folder::name(instance))
    }

    pub(super) fn order(&self, order: &Order) -> Result<ShimOrder, Failure> {
        let mark = format!("SUANZU_WORKLOAD={}/{}", self.log, folder::name(order.instance));
        let mut env = super::environment(order)?;
        env.insert("SUANZU_WORKLOAD".into(), mark["SUANZU_WORKLOAD=".len()..].into());
        env.entry("HOME".into()).or_insert_with(|| self.folder(order.instance).work().display().to_string());
        env.entry("PATH".into()).or_insert_with(|| "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into());
        Ok(ShimOrder {
            instance: order.instance,
            born: order.born,
            argv: order.workload.argv.clone(),
            shim: self.settings.shim.args.clone(),
            env,
            mark,
            grace_ms: super::grace_ms(order),
            cgroups: self.cgroups.leaves(&self.group(order.instance)),
            output: self.settings.output,
            run_as: self.settings.run_as,
            created: Sign::now(),
        })
    }

    /// The control groups of each workload.
    pub(super) fn groups(&self) -> Vec<(Instance, Vec<PathBuf>)> {
        let folders = folder::list(&self.settings.state).unwrap_or_default().into_iter();
        let ours = folders.filter(|(log, ..)| **log == *self.log);
        ours.map(|(_, instance, _)| (instance, self.cgroups.leaves(&self.group(instance)))).collect()
    }

    fn spawn_shim(&mut self, folder: &Folder) -> Result<(), Failure> {
        let failed = |source| Failure::passing("start a shim", source);
        let complaints = OpenOptions::new().create(true).append(true).open(folder.path().join("shim.log")).map_err(failed)?;
        let mut shim = self.settings.shim.command("run");
        // Nothing of the agent's surroundings reaches it: no credentials, no working folder that cannot be unmounted.
        shim.arg(folder.path()).env_clear().current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(complaints);
        self.shims.push(shim.spawn().map_err(failed)?);
        Ok(())
    }

    /// Hears of shims that have ended, so that none stays a zombie.
    fn wait_for_shims(&mut self) {
        self.shims.retain_mut(|shim| matches!(shim.try_wait(), Ok(None)));
    }

    fn observed(&self, log: &str, instance: Instance, folder: &Folder) -> Result<Option<Observed>, Failure> {
        let seen = |(phase, ago_ms), born| Observed { instance, log: log.into(), born, phase, ago_ms };
        if let Some(record) = folder.record()? {
            if log == &*self.log {
                rouse(folder, &record);
            }
            return Ok(Some(seen(folder.phase(&record), record.born)));
        }
        // No record: the shim is coming up, or never did. No order: the folder was removed meanwhile.
        let Some(order) = folder.order::<ShimOrder>()? else { return Ok(None) };
        Ok(Some(seen(without_record(&order), order.born)))
    }
}

/// Continues a shim that lives and is silent; it changes nothing for one that was not stopped.
fn rouse(folder: &Folder, record: &Record) {
    if !record.has_ended() && record.last_alive_ms(&Sign::now(), Sign::read(&folder.sign_file())) > SILENT_MS {
        record.shim.signal(Signal::CONT);
    }
}

/// Ends a workload whose shim was told at `asked` and has not. Repeated until nothing is left.
fn end_for_shim(folder: &Folder, order: &ShimOrder, record: Record, asked: &Sign) -> Result<(), Failure> {
    record.shim.signal(Signal::CONT);
    // The shim comes last: while it lives, whatever detaches itself stays its descendant.
    if kill(order, record.shim.pid) || !record.shim.kill() {
        return Ok(());
    }
    let (end, since) = match record.state {
        State::Ending(end) => (end, record.since),
        _ => (End::Requested, asked.clone()),
    };
    folder.set_record(&Record { state: State::Ended(end), since, ..record })
}

fn without_record(order: &ShimOrder) -> (Phase, u64) {
    let now = Sign::now();
    let age = order.created.until(&now);
    if order.created.is_same_boot(&now) && age < SHIM_COMES_UP_MS {
        return (Phase::Starting("starting".into()), age);
    }
    (Phase::Failed("its shim did not come up".into()), age)
}

impl Driver for Processes {
    fn observe(&mut self, _now: Time) -> Listing {
        self.wait_for_shims();
        let mut listing = Listing::default();
        match folder::list(&self.settings.state) {
            Err(failure) => listing.failures.push(failure),
            Ok(folders) => {
                for (log, instance, folder) in folders {
                    match self.observed(&log, instance, &folder) {
                        Ok(seen) => listing.seen.extend(seen),
                        Err(failure) => listing.failures.push(failure),
                    }
                }
            }
        }
        listing
    }

    fn look(&mut self, instance: Instance, _now: Time) -> Result<Option<Observed>, Failure> {
        self.observed(&self.log, instance, &self.folder(instance))
    }

    fn start(&mut self, order: &Order, now: Time) -> Result<(), Failure> {
        let folder = self.folder(order.instance);
        if folder.exists() {
            return Ok(());
        }
        let limits = Limits {
            cpu_milli: order.grant.cpu_milli,
            memory_mib: order.grant.memory_mib,
            processes: self.settings.max_processes,
        };
        let shim_order = self.order(order)?;
        self.cgroups.create(&self.group(order.instance), limits)?;
        folder.create(&shim_order, &Control { stop_at_ms: super::deadline(order.stop_by, now), end: false })?;
        if let Some((user, group)) = self.settings.run_as {
            std::os::unix::fs::chown(folder.work(), Some(user), Some(group))
                .map_err(|source| Failure::passing("give the workload its folder", source))?;
        }
        self.spawn_shim(&folder).or_else(|failure| {
            // It exists already: said in its record, it is ended like any other.
            let end = State::Ended(End::Failed(failure.to_string()));
            folder.set_record(&Record::now(order.born, end))
        })
    }

    fn end(&mut self, instance: Instance, _now: Time) -> Result<(), Failure> {
        self.wait_for_shims();
        let folder = self.folder(instance);
        let Some(order) = folder.order::<ShimOrder>()? else {
            self.ends.remove(&instance);
            return folder.remove();
        };
        let asked = self.ends.entry(instance).or_insert_with(Sign::now);
        let record = folder.record()?;
        let alive = match &record {
            Some(record) => record.shim.is_alive() && !record.has_ended(),
            None => matches!(without_record(&order).0, Phase::Starting(_)),
        };
        if let Some(record) = record.filter(|_| alive && asked.ago_ms() > order.grace_ms.saturating_add(SHIM_ENDS_MS)) {
            return end_for_shim(&folder, &order, record, asked);
        }
        if alive {
            let control = folder.control()?;
            return if control.end { Ok(()) } else { folder.set_control(&Control { end: true, ..control }) };
        }
        if kill_leftovers(&order) {
            // They are looked for again at the next call, and the folder stays until there is none.
            return Ok(());
        }
        cgroups::remove(&order.cgroups)?;
        folder.remove()?;
        self.ends.remove(&instance);
        Ok(())
    }

    fn set_deadline(&mut self, instance: Instance, stop_by: Option<Time>, now: Time) -> Result<(), Failure> {
        let folder = self.folder(instance);
        let control = folder.control()?;
        folder.set_control(&Control { stop_at_ms: super::deadline(stop_by, now), ..control })
    }

    fn logs(&mut self, instance: Instance, request: LogRequest) -> Result<Box<dyn Read + Send>, Failure> {
        let folder = self.folder(instance);
        if !folder.exists() {
            return Err(Failure::lasting("read the output", format!("there is no {instance} here")));
        }
        logs::open(folder, self.settings.output.files, request)
    }

    fn exec(&mut self, instance: Instance, argv: &[String], tty: bool) -> Result<Session, Failure> {
        let folder = self.folder(instance);
        match folder.record()? {
            Some(record) if folder.phase(&record).0 == Phase::Ready => session::open(&self.settings.shim, &folder, argv, tty),
            _ => Err(Failure::lasting("run a command", format!("{instance} is not running"))),
        }
    }
}
