//! The state folder of one workload: the files by which agent and shim speak, and that outlive both.
//!
//! The agent writes the order once and the control file when its wish changes; the shim writes the record. Each
//! file is replaced as a whole, so that a reader never sees half of one.

use super::{clock, processes::Mark};
use crate::Failure;
use protocol::{Generation, Instance};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};
use units::Phase;

/// What the shim is to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ShimOrder {
    pub(crate) instance: Instance,
    pub(crate) born: Generation,
    /// Command and arguments; empty for a placeholder that waits.
    pub(crate) argv: Vec<String>,
    /// Arguments that make this binary a shim.
    pub(crate) shim: Vec<String>,
    /// The whole environment of the workload.
    pub(crate) env: BTreeMap<String, String>,
    /// The line of the environment by which its processes are found when their shim is dead.
    pub(crate) mark: String,
    pub(crate) grace_ms: u64,
    /// Leaf folders that its processes are put into.
    pub(crate) cgroups: Vec<PathBuf>,
    pub(crate) output: OutputLimits,
    /// User and group to run as; `None` for the agent's own.
    pub(crate) run_as: Option<(u32, u32)>,
    pub(crate) created_ms: u64,
    pub(crate) boot: String,
}

/// How much of a workload's output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputLimits {
    /// Bytes of one file.
    pub max_bytes: u64,
    /// Files, the one being written included.
    pub files: u32,
}

impl Default for OutputLimits {
    /// What the kubelet keeps by default (`containerLogMaxSize` 10Mi), over three files.
    fn default() -> Self {
        OutputLimits { max_bytes: 10 << 20, files: 3 }
    }
}

/// What the agent wants of a running shim.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Control {
    /// When the money ends, in milliseconds since the machine's start.
    pub(crate) stop_at_ms: Option<u64>,
    /// Whether the workload is to be ended now.
    pub(crate) end: bool,
}

/// What the shim knows of its workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) shim: Mark,
    pub(crate) born: Generation,
    pub(crate) state: State,
    /// Since when, in milliseconds since the machine's start.
    pub(crate) since_ms: u64,
}

/// Where a workload is in its life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Starting,
    Running,
    /// Its tree is being ended.
    Ending(End),
    /// Nothing of its tree is left.
    Ended(End),
}

/// Why a workload ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    Exited(i32),
    Failed(String),
    OutOfFunds,
    /// The agent wanted it so.
    Requested,
}

impl End {
    fn phase(&self) -> Phase {
        match self {
            End::Exited(code) => Phase::Exited(*code),
            End::Failed(reason) => Phase::Failed(reason.clone()),
            End::OutOfFunds => Phase::OutOfFunds,
            // As a shell says it of a command that was told to terminate: 128 + SIGTERM.
            End::Requested => Phase::Exited(143),
        }
    }
}

impl Record {
    /// A record of the calling process, from now on.
    pub(crate) fn now(born: Generation, state: State) -> Record {
        Record { shim: Mark::own(), born, state, since_ms: clock::since_boot_ms() }
    }

    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended(_))
    }

    /// The phase that the record stands for now, with the milliseconds since.
    pub(crate) fn phase(&self) -> (Phase, u64) {
        let ago = clock::since_boot_ms().saturating_sub(self.since_ms);
        let phase = match &self.state {
            State::Ended(end) => return (end.phase(), ago),
            _ if self.shim.boot != clock::boot_id() => return (Phase::Failed("the machine was restarted".into()), 0),
            _ if !self.shim.is_alive() => return (Phase::Failed("its shim was killed".into()), 0),
            State::Starting => Phase::Starting("starting".into()),
            // While the agent has it ended it is still there.
            State::Running | State::Ending(End::Requested) => Phase::Ready,
            State::Ending(end) => end.phase(),
        };
        (phase, ago)
    }
}

/// The folder itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(crate) fn at(path: impl Into<PathBuf>) -> Folder {
        Folder { path: path.into() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn exists(&self) -> bool {
        self.path.is_dir()
    }

    /// Where the workload starts, and its home.
    pub(crate) fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    pub(crate) fn output(&self) -> PathBuf {
        self.path.join("output.log")
    }

    pub(crate) fn control_file(&self) -> PathBuf {
        self.path.join("control.json")
    }

    /// Makes the folder with everything in it at once, or not at all.
    pub(crate) fn create(&self, order: &impl Serialize, control: &Control) -> Result<(), Failure> {
        let doing = || format!("create {}", self.path.display());
        let parent = self.path.parent().expect("a state folder lies in the log's folder");
        let draft = Folder::at(self.draft());
        let make = || {
            fs::DirBuilder::new().recursive(true).mode(0o711).create(parent)?;
            clear(&draft.path)?;
            // Others may pass through to their own work folder, and see nothing beside it.
            fs::DirBuilder::new().mode(0o711).create(&draft.path)?;
            fs::DirBuilder::new().mode(0o700).create(draft.work())?;
            write(&draft.path.join("order.json"), order)?;
            write(&draft.control_file(), control)?;
            fs::rename(&draft.path, &self.path)
        };
        make().map_err(|source| Failure::passing(doing(), source))
    }

    pub(crate) fn order<T: DeserializeOwned>(&self) -> Result<Option<T>, Failure> {
        read(&self.path.join("order.json"))
    }

    pub(crate) fn control(&self) -> Result<Control, Failure> {
        Ok(read(&self.control_file())?.unwrap_or_default())
    }

    pub(crate) fn set_control(&self, control: &Control) -> Result<(), Failure> {
        self.replace("control.json", control)
    }

    pub(crate) fn record(&self) -> Result<Option<Record>, Failure> {
        read(&self.path.join("record.json"))
    }

    pub(crate) fn set_record(&self, record: &Record) -> Result<(), Failure> {
        self.replace("record.json", record)
    }

    /// Removes the folder; removing what is not there is no failure. It is renamed first, so that it is there as a
    /// whole or not at all.
    pub(crate) fn remove(&self) -> Result<(), Failure> {
        let remove = || {
            clear(&self.draft())?;
            match fs::rename(&self.path, self.draft()) {
                Ok(()) => clear(&self.draft()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(error) => Err(error),
            }
        };
        remove().map_err(|source| Failure::passing(format!("remove {}", self.path.display()), source))
    }

    /// What a folder is called while it is made or removed, and after an agent was killed in the middle of it.
    fn draft(&self) -> PathBuf {
        self.path.with_extension("draft")
    }

    fn replace(&self, name: &str, value: &impl Serialize) -> Result<(), Failure> {
        let path = self.path.join(name);
        write(&path, value).map_err(|source| Failure::passing(format!("write {}", path.display()), source))
    }
}

fn clear(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Replaces a file as a whole. Only its owner may read it: orders hold credentials.
fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let draft = path.with_extension("new");
    let file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    serde_json::to_writer(file, value)?;
    fs::rename(draft, path)
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Failure> {
    let doing = || format!("read {}", path.display());
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|source| Failure::passing(doing(), source)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::passing(doing(), error)),
    }
}

/// All state folders beneath `root`, as (log, instance, folder); a folder of another name is not one.
pub(crate) fn list(root: &Path) -> Result<Vec<(String, Instance, Folder)>, Failure> {
    let mut found = Vec::new();
    for log in names(root)? {
        for name in names(&root.join(&log))? {
            if let Some(instance) = parse(&name) {
                found.push((log.clone(), instance, Folder::at(root.join(&log).join(name))));
            }
        }
    }
    Ok(found)
}

fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    let failed = |source| Failure::passing(format!("list {}", folder.display()), source);
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry.map_err(failed)?.file_name().to_string_lossy().into_owned())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed(error)),
    }
}

/// The folder name of an instance: no dot in it, so that a draft's extension cannot be mistaken for part of it.
pub(crate) fn name(instance: Instance) -> String {
    format!("{}_{}_{}", instance.lease, instance.attempt, instance.node)
}

fn parse(name: &str) -> Option<Instance> {
    let mut parts = name.split('_');
    let instance =
        Instance { lease: parts.next()?.parse().ok()?, attempt: parts.next()?.parse().ok()?, node: parts.next()?.parse().ok()? };
    // One spelling only: what does not come out as it went in is not ours.
    (self::name(instance) == name).then_some(instance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{LeaseId, NodeId};

    #[test]
    fn an_instance_is_read_back_from_its_folder_name_and_nothing_else_is_one() {
        let instance = Instance { lease: LeaseId(1042), attempt: 3, node: NodeId(7) };
        assert_eq!(parse(&name(instance)), Some(instance));
        for other in ["lease-1042_03_node-7", "lease-1042_3_node-7_x", "lease-1042_3", "..", "lease-1042_3_node-7.draft", ""] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_folder_is_there_as_a_whole_or_not_at_all() {
        let root = tempfile::tempdir().expect("a scratch folder");
        let folder = Folder::at(root.path().join("aa").join("lease-1_1_node-1"));
        folder.create(&"order", &Control { stop_at_ms: Some(5), end: false }).expect("it is new");
        assert_eq!(folder.control().expect("it was written").stop_at_ms, Some(5));
        assert_eq!(list(root.path()).expect("it is readable").len(), 1);
        assert!(folder.create(&"order", &Control::default()).is_err(), "a second one of the same name");
        folder.remove().expect("it is there");
        folder.remove().expect("removing again changes nothing");
        assert!(list(root.path()).expect("it is readable").is_empty());
    }
}
