//! This machine as a whole: what it offers, and one driver over its processes, containers and GPUs.

use super::{
    Cgroups, ContainerSettings, Containers, GpuSettings, Gpus, OutputLimits, ProcessSettings, Processes, ShimCommand, cgroups,
    folder,
};
use crate::{Cleanliness, Driver, Failure, Listing, LogRequest, Observed, Order, Session};
use protocol::{Capability, Instance, NodeReport, Usage};
use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::Read,
    path::PathBuf,
    sync::Arc,
    thread,
};
use units::{Runtime, Time};

/// Places where engines listen when nobody says otherwise.
const SOCKETS: [&str; 3] = ["/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock"];

/// How leases are run on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSettings {
    /// Where workloads and their output are kept.
    pub state: PathBuf,
    /// The command that runs as a shim.
    pub shim: ShimCommand,
    /// How much output is kept of each workload.
    pub output: OutputLimits,
    /// Most processes and threads of one workload; 0 for no limit.
    pub max_processes: u32,
    /// User and group that process leases run as; `None` for the agent's own.
    pub run_as: Option<(u32, u32)>,
    /// The container engine's socket, if there is to be one.
    pub socket: Option<PathBuf>,
    /// The engine's network that containers join; `None` for its default one.
    pub network: Option<String>,
    /// The kind that devices have in the Container Device Interface.
    pub device_kind: String,
    /// How GPUs are looked at.
    pub gpus: GpuSettings,
}

impl HostSettings {
    /// The usual ones, with what the environment says: `SUANZU_CONTAINER_SOCKET`, `DOCKER_HOST` (`unix://` only),
    /// `SUANZU_NVML`.
    pub fn from_environment(state: PathBuf, shim: ShimCommand) -> HostSettings {
        HostSettings {
            state,
            shim,
            output: OutputLimits::default(),
            // What Kubernetes recommends per pod is 1,024 to 4,096; data loaders of one training start hundreds.
            max_processes: 4_096,
            run_as: None,
            socket: find_socket(),
            network: None,
            device_kind: "nvidia.com/gpu".into(),
            gpus: GpuSettings { library: env::var_os("SUANZU_NVML").map(PathBuf::from), ..GpuSettings::default() },
        }
    }

    fn processes(&self) -> ProcessSettings {
        ProcessSettings {
            state: self.state.join("processes"),
            shim: self.shim.clone(),
            output: self.output,
            max_processes: self.max_processes,
            run_as: self.run_as,
        }
    }

    fn containers(&self) -> Option<ContainerSettings> {
        Some(ContainerSettings {
            socket: self.socket.clone()?,
            state: self.state.join("containers"),
            shim: self.shim.clone(),
            output: self.output,
            max_processes: self.max_processes,
            network: self.network.clone(),
            device_kind: self.device_kind.clone(),
        })
    }
}

/// The socket that the environment names, else the first usual one that exists.
fn find_socket() -> Option<PathBuf> {
    let named = env::var_os("SUANZU_CONTAINER_SOCKET").map(PathBuf::from);
    let docker = || env::var("DOCKER_HOST").ok().and_then(|host| host.strip_prefix("unix://").map(PathBuf::from));
    let usual = || SOCKETS.iter().map(PathBuf::from).find(|path| path.exists());
    named.or_else(docker).or_else(usual)
}

/// What was found on this machine.
#[derive(Clone)]
pub struct Machine {
    settings: HostSettings,
    cgroups: Cgroups,
    /// None where there is no driver; why not.
    gpus: Result<Arc<Gpus>, String>,
}

impl Machine {
    /// Looks at what is there. What is missing is no failure: it is said in [`Machine::capabilities`].
    pub fn survey(settings: HostSettings) -> Machine {
        let gpus = Gpus::open(settings.gpus.clone()).map(Arc::new).map_err(|failure| failure.to_string());
        Machine { cgroups: Cgroups::detect("suanzu"), gpus, settings }
    }

    /// Its report under this name: all cores, all memory, every GPU that answers.
    pub fn node(&self, name: &str, labels: Vec<String>) -> Result<NodeReport, Failure> {
        let cores = thread::available_parallelism().map_err(|source| Failure::passing("count cores", source))?;
        Ok(NodeReport {
            name: name.to_owned(),
            cpu_milli: u32::try_from(cores.get()).unwrap_or(u32::MAX / 1_000).saturating_mul(1_000),
            memory_mib: memory_mib()?,
            labels,
            devices: self.gpus.as_ref().map_or(Ok(Vec::new()), |gpus| gpus.devices())?,
        })
    }

    /// What it can and cannot do for a lease, with the reasons.
    pub fn capabilities(&self) -> Vec<Capability> {
        let (gpu, reason) = match &self.gpus {
            Ok(_) => (true, "NVML answers".to_owned()),
            Err(reason) => (false, reason.clone()),
        };
        let own = [
            Capability { name: "processes".into(), available: true, reason: "each under a shim of its own".into() },
            Capability { name: "gpu".into(), available: gpu, reason },
        ];
        own.into_iter().chain(self.cgroups.capabilities()).chain(self.container_capabilities()).collect()
    }

    fn container_capabilities(&self) -> Vec<Capability> {
        let none = |reason| vec![Capability { name: "containers".into(), available: false, reason }];
        // The log matters to what is started only; here nothing is.
        match self.settings.containers().map(|settings| Containers::new("0", settings)) {
            None => none("no container engine's socket was found or named".into()),
            Some(Err(failure)) => none(failure.to_string()),
            Some(Ok(containers)) => containers.capabilities(),
        }
    }

    /// The driver of this machine for the log of this id.
    pub fn driver(&self, log: &str) -> Result<Host, Failure> {
        Ok(Host {
            log: log.to_owned(),
            processes: Processes::new(log, self.settings.processes(), self.cgroups.clone())?,
            containers: None,
            settings: self.settings.clone(),
            gpus: self.gpus.clone().ok(),
        })
    }
}

/// What the processes in some control groups use.
fn usage(instance: Instance, leaves: &[PathBuf], gpu_memory: &BTreeMap<i32, u32>) -> Usage {
    let (cpu_ms, memory_mib) = cgroups::usage(leaves);
    let pids: BTreeSet<i32> = cgroups::processes(leaves).into_iter().collect();
    let gpu_memory_mib = pids.iter().filter_map(|pid| gpu_memory.get(pid)).sum();
    Usage { instance, cpu_ms, memory_mib, gpu_memory_mib }
}

/// `MemTotal` of `/proc/meminfo` (proc_meminfo(5)), in MiB.
fn memory_mib() -> Result<u32, Failure> {
    let failed = |source| Failure::passing("read the size of main memory", source);
    let text = fs::read_to_string("/proc/meminfo").map_err(failed)?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse::<u64>().ok());
    let kib = total.ok_or_else(|| Failure::lasting("read the size of main memory", "there is no MemTotal"))?;
    Ok(u32::try_from(kib / 1_024).unwrap_or(u32::MAX))
}

/// The driver of one machine.
pub struct Host {
    log: String,
    settings: HostSettings,
    processes: Processes,
    /// None until the engine has answered once.
    containers: Option<Containers>,
    gpus: Option<Arc<Gpus>>,
}

impl Host {
    /// The driver of containers; dials the engine if it has not answered yet.
    fn containers(&mut self) -> Result<&mut Containers, Failure> {
        if self.containers.is_none() {
            let settings = self.settings.containers();
            let settings = settings.ok_or_else(|| Failure::lasting("run a container", "there is no container engine here"))?;
            self.containers = Some(Containers::new(&self.log, settings)?);
        }
        Ok(self.containers.as_mut().expect("it was made above"))
    }

    /// Whether any container may be ours: each has a watcher's folder before it runs.
    fn may_have_containers(&self) -> bool {
        let settings = self.settings.containers();
        settings.is_some_and(|settings| folder::list(&settings.state).map_or(true, |folders| !folders.is_empty()))
    }

    /// Who answers for an instance: containers where they know it, else processes.
    fn of(&mut self, instance: Instance, now: Time) -> Result<&mut dyn Driver, Failure> {
        if self.processes.look(instance, now)?.is_none() && (self.containers.is_some() || self.may_have_containers()) {
            return Ok(self.containers()?);
        }
        Ok(&mut self.processes)
    }
}

impl Driver for Host {
    fn observe(&mut self, now: Time) -> Listing {
        let mut listing = self.processes.observe(now);
        if self.containers.is_none() && !self.may_have_containers() {
            return listing;
        }
        let containers = match self.containers() {
            Ok(containers) => containers.observe(now),
            Err(failure) => Listing { seen: Vec::new(), failures: vec![failure] },
        };
        listing.seen.extend(containers.seen);
        // An engine that is down hides nothing where nothing of ours can be on it; process leases go on as ever.
        if self.may_have_containers() {
            listing.failures.extend(containers.failures);
        }
        listing
    }

    fn look(&mut self, instance: Instance, now: Time) -> Result<Option<Observed>, Failure> {
        match self.processes.look(instance, now)? {
            Some(seen) => Ok(Some(seen)),
            None => self.of(instance, now)?.look(instance, now),
        }
    }

    fn start(&mut self, order: &Order, now: Time) -> Result<(), Failure> {
        match order.workload.runtime {
            Runtime::Process => self.processes.start(order, now),
            Runtime::Container(_) => self.containers()?.start(order, now),
        }
    }

    fn end(&mut self, instance: Instance, now: Time) -> Result<(), Failure> {
        self.of(instance, now)?.end(instance, now)
    }

    fn set_deadline(&mut self, instance: Instance, stop_by: Option<Time>, now: Time) -> Result<(), Failure> {
        self.of(instance, now)?.set_deadline(instance, stop_by, now)
    }

    fn measure_clean(&mut self, uuid: &str, _now: Time) -> Result<Cleanliness, Failure> {
        match &self.gpus {
            Some(gpus) => gpus.measure_clean(uuid),
            None => Err(Failure::lasting("measure a GPU", "there is no GPU driver here any more")),
        }
    }

    fn faults(&mut self, _now: Time) -> Vec<(String, String)> {
        self.gpus.as_ref().map(|gpus| gpus.faults()).unwrap_or_default()
    }

    fn usage(&mut self, _now: Time) -> Vec<Usage> {
        let gpu_memory = self.gpus.as_ref().map(|gpus| gpus.memory_by_process()).unwrap_or_default();
        let containers = self.containers.as_ref().map(Containers::groups).unwrap_or_default();
        let groups = self.processes.groups().into_iter().chain(containers);
        groups.map(|(instance, leaves)| usage(instance, &leaves, &gpu_memory)).collect()
    }

    fn logs(&mut self, instance: Instance, request: LogRequest) -> Result<Box<dyn Read + Send>, Failure> {
        self.of(instance, Time::default())?.logs(instance, request)
    }

    fn exec(&mut self, instance: Instance, argv: &[String], tty: bool) -> Result<Session, Failure> {
        self.of(instance, Time::default())?.exec(instance, argv, tty)
    }
}
