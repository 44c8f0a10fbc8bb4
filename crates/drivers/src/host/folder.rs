//! The state folder of one workload: the files by which agent and shim speak, and that outlive both.
//!
//! The agent writes the order once and the control file when its wish changes; the shim writes the record. Each
//! file is replaced as a whole, so that a reader never sees half of one.

use super::{record::Record, sign::Sign};
use crate::Failure;
use protocol::{Generation, Instance};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
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
    pub(crate) created: Sign,
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

    /// Where the last sign of life is.
    pub(crate) fn sign_file(&self) -> PathBuf {
        self.path.join("alive.json")
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
            write_synced(&draft.path.join("order.json"), order)?;
            write(&draft.control_file(), control)?;
            File::open(&draft.path)?.sync_all()?;
            fs::rename(&draft.path, &self.path)?;
            // A workload that a power cut took from the books would be started a second time, on the tenant's money.
            File::open(parent)?.sync_all()
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
        let path = self.control_file();
        write(&path, control).map_err(|source| Failure::passing(format!("write {}", path.display()), source))
    }

    pub(crate) fn record(&self) -> Result<Option<Record>, Failure> {
        read(&self.path.join("record.json"))
    }

    pub(crate) fn set_record(&self, record: &Record) -> Result<(), Failure> {
        let path = self.path.join("record.json");
        write_synced(&path, record).map_err(|source| Failure::passing(format!("write {}", path.display()), source))
    }

    /// The phase that a record of this folder stands for now, with the milliseconds since.
    pub(crate) fn phase(&self, record: &Record) -> (Phase, u64) {
        record.phase(&Sign::now(), || Sign::read(&self.sign_file()))
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
}

fn clear(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Replaces a file as a whole.
fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let (draft, _) = draft(path, value)?;
    fs::rename(draft, path)
}

/// The same, so that a power cut leaves the old or the new one under its name, and not an empty one.
fn write_synced(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let (draft, file) = draft(path, value)?;
    file.sync_data()?;
    fs::rename(draft, path)
}

/// A file that is to get this name. Only its owner may read it: orders hold credentials.
fn draft(path: &Path, value: &impl Serialize) -> io::Result<(PathBuf, File)> {
    let draft = path.with_extension("new");
    let file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    serde_json::to_writer(&file, value)?;
    Ok((draft, file))
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
