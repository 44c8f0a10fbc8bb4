//! How fast a journal is folded again, and how long a restart takes: from SQLite, with 100,000 leases alive.

use super::BenchReport;
use engine::{Engine, Image, Snapshots, Submission};
use journal::{Options as StoreOptions, Source, Sqlite, Store, Synchronous};
use placement::NodeSpec;
use rental::{Command, Part, State, apply, fleet, lease, market, money, tenancy};
use std::{
    collections::VecDeque,
    ffi::OsString,
    io::{self, BufRead, BufReader},
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::{Command as Process, Stdio},
    time::Instant,
};
use units::{
    AgentId, Ask, Beside, Interval, LeaseId, Micro, NodeId, Observation, Phase, PoolId, ProjectId, Size, TenantId, Ticks, Time,
    UnitKind,
};

/// Entries in one append while the journal is built: nobody waits for them.
const BATCH: u64 = 4_096;
/// Entries that are decoded before they are applied, as in a fold.
const CHUNK: usize = 512;
/// Leases per tenant: what a part's owner costs shows only with many of them.
const PER_TENANT: u64 = 10;
/// Cores of a node; each lease has one.
const CORES: u32 = 128;

/// What is measured.
#[derive(Debug, Clone)]
pub struct Options {
    /// Entries of the journal.
    pub entries: u64,
    /// Leases that live at its end.
    pub live: u64,
    /// An empty folder to build it in, which stays; a temporary one if `None`.
    pub folder: Option<PathBuf>,
    /// A program and its first arguments that takes the folder as its last one, opens it and prints `ready`: so that a
    /// restart is measured from its start. `None`: within this process.
    pub exec: Option<Vec<OsString>>,
    /// How often each figure is taken; the median counts.
    pub rounds: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options { entries: 1_000_000, live: 100_000, folder: None, exec: None, rounds: 3 }
    }
}

/// A benchmark that could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The journal could not be built or opened.
    #[error("the journal: {0}")]
    Journal(#[from] journal::Failure),
    /// It could not be folded.
    #[error("folding: {0}")]
    Fold(#[from] engine::FoldError),
    /// The folder, or the program that is started anew.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The core refused what the benchmark asks for.
    #[error("refused: {0}")]
    Refused(#[from] engine::Rejected),
}

/// Measures `journal.fold_entries_per_second` and `restart.seconds`. `progress` is told how many entries are built.
pub fn replay(options: &Options, progress: &dyn Fn(u64)) -> Result<BenchReport, BenchError> {
    let temporary;
    let folder = match &options.folder {
        Some(folder) => folder.as_path(),
        None => {
            // Beside the working directory: a temporary folder of the system may lie in memory.
            temporary = tempfile::Builder::new().prefix("suanzu-bench-").tempdir_in(".")?;
            temporary.path()
        }
    };
    let snapshots = Snapshots::new(folder.join(SNAPSHOTS));
    build(folder, options, &snapshots, progress)?;
    let mut report = BenchReport::new("replay", folder);
    let (entries, live) = (options.entries.to_string(), options.live.to_string());
    let labels = [("entries", entries.as_str()), ("live", live.as_str()), ("store", "sqlite")];
    let seconds = median(options.rounds, || fold_once(folder))?;
    report.add(
        "journal.fold_entries_per_second",
        &labels,
        f64::from(u32::try_from(options.entries).unwrap_or(u32::MAX)) / seconds,
        "1/s",
    );
    let halves = (0..options.rounds.max(1)).map(|_| halves_once(folder)).collect::<Result<Vec<_>, _>>()?;
    for (metric, seconds) in [
        ("journal.decode_entries_per_second", halves.iter().map(|h| h.decode).fold(f64::MAX, f64::min)),
        ("core.apply_entries_per_second", halves.iter().map(|h| h.apply).fold(f64::MAX, f64::min)),
    ] {
        report.add(metric, &labels, f64::from(u32::try_from(options.entries).unwrap_or(u32::MAX)) / seconds, "1/s");
    }
    for (name, with) in [("one interval old", true), ("none", false)] {
        let seconds = median(options.rounds, || restart_once(folder, options, with))?;
        report.add("restart.seconds", &[labels[0], labels[1], ("snapshot", name)], seconds, "s");
    }
    Ok(report)
}

const SNAPSHOTS: &str = "snapshots";

/// What the program named in [`Options::exec`] does: opens the folder as production does, and says how far it is.
pub fn open_and_say_ready(folder: &Path, with_snapshots: bool) -> Result<(), BenchError> {
    let engine = open(folder, with_snapshots)?;
    println!("ready at entry {}", engine.head().size);
    Ok(())
}

fn open(folder: &Path, with_snapshots: bool) -> Result<Engine, BenchError> {
    let store = Sqlite::open(folder, &StoreOptions::default())?;
    let mut reader = store.reader()?;
    let snapshots = Snapshots::new(folder.join(SNAPSHOTS));
    Ok(Engine::open(Box::new(store), with_snapshots.then_some(&snapshots), &mut reader)?)
}

fn median(rounds: u32, mut take: impl FnMut() -> Result<f64, BenchError>) -> Result<f64, BenchError> {
    let mut all = (0..rounds.max(1)).map(|_| take()).collect::<Result<Vec<f64>, _>>()?;
    all.sort_by(f64::total_cmp);
    Ok(all[all.len() / 2])
}

fn fold_once(folder: &Path) -> Result<f64, BenchError> {
    let store = Sqlite::open(folder, &StoreOptions::default())?;
    let mut reader = store.reader()?;
    let mut state = State::default();
    let start = Instant::now();
    engine::fold(&mut state, &mut reader)?;
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(state.seq, store.head().size, "all of it was folded");
    Ok(seconds)
}

/// Seconds of one thread for each half of a fold.
#[derive(Default)]
struct Halves {
    decode: f64,
    apply: f64,
}

fn halves_once(folder: &Path) -> Result<Halves, BenchError> {
    let store = Sqlite::open(folder, &StoreOptions::default())?;
    let mut state = State::default();
    let mut halves = Halves::default();
    let mut entries: Vec<Vec<Part>> = Vec::with_capacity(CHUNK);
    let mut began = Instant::now();
    store.read(1, &mut |stored| {
        let part =
            |part: &journal::PartRef<'_>| Part::decode(part.bytes, part.owner).expect("the builder writes what it can read");
        entries.push(stored.parts.iter().map(part).collect());
        if entries.len() == CHUNK {
            halves.decode += began.elapsed().as_secs_f64();
            began = Instant::now();
            entries.drain(..).for_each(|parts| apply(&mut state, parts));
            halves.apply += began.elapsed().as_secs_f64();
            began = Instant::now();
        }
        ControlFlow::Continue(())
    })?;
    Ok(halves)
}

fn restart_once(folder: &Path, options: &Options, with_snapshots: bool) -> Result<f64, BenchError> {
    let start = Instant::now();
    match options.exec.as_deref() {
        Some([program, arguments @ ..]) => {
            let flag = if with_snapshots { "with" } else { "without" };
            let mut process = Process::new(program);
            let mut child = process.args(arguments).arg(flag).arg(folder).stdout(Stdio::piped()).spawn()?;
            let mut line = String::new();
            let output = child.stdout.take().ok_or_else(|| io::Error::other("the program has no output"))?;
            BufReader::new(output).read_line(&mut line)?;
            let seconds = start.elapsed().as_secs_f64();
            let status = child.wait()?;
            let ready = status.success() && line.starts_with("ready");
            if ready { Ok(seconds) } else { Err(io::Error::other(format!("the program said '{}'", line.trim())).into()) }
        }
        _ => {
            let engine = open(folder, with_snapshots)?;
            let seconds = start.elapsed().as_secs_f64();
            drop(engine);
            Ok(seconds)
        }
    }
}

/// Builds the journal: whole lives of leases, `live` of them at any time, the oldest ended first. Within one hour, so that
/// nothing is renewed. A snapshot is kept one interval before the end.
fn build(folder: &Path, options: &Options, snapshots: &Snapshots, progress: &dyn Fn(u64)) -> Result<(), BenchError> {
    let store = Sqlite::open(folder, &StoreOptions { synchronous: Synchronous::Off, ..StoreOptions::default() })?;
    let engine = Engine::with_state(Box::new(store), State::default())?;
    let mut builder = Builder { engine, now: Time(1_767_225_600_000), size: 0, committed: 0, living: VecDeque::new(), last: 0 };
    for command in furniture(options, builder.now) {
        builder.submit(command)?;
    }
    let mut snapshot_at = Some(options.entries.saturating_sub(Snapshots::INTERVAL));
    while builder.size + 4 <= options.entries {
        if builder.living.len() as u64 >= options.live {
            builder.end_oldest()?;
        }
        builder.begin(options)?;
        if builder.size - builder.committed >= BATCH {
            progress(builder.commit()?);
            if snapshot_at.is_some_and(|at| builder.committed >= at) {
                snapshots.save(&Image::of(&builder.engine.state())?, builder.engine.source())?;
                snapshot_at = None;
            }
        }
    }
    while builder.size < options.entries {
        builder.submit(Command::Tenancy(tenancy::Command::CreateProject { tenant: TenantId(1) }))?;
    }
    progress(builder.commit()?);
    Ok(())
}

struct Builder {
    engine: Engine,
    now: Time,
    size: u64,
    committed: u64,
    /// Leases that live, the oldest first, with whose they are and where.
    living: VecDeque<(LeaseId, TenantId, NodeId)>,
    last: u64,
}

impl Builder {
    fn submit(&mut self, command: Command) -> Result<engine::Answer, BenchError> {
        let answer = self.engine.submit(self.now, Submission::plain("key-1", command))?;
        self.size += u64::from(answer.seq.is_some());
        Ok(answer)
    }

    fn commit(&mut self) -> Result<u64, BenchError> {
        self.committed = self.engine.commit()?.size;
        Ok(self.committed)
    }

    fn begin(&mut self, options: &Options) -> Result<(), BenchError> {
        self.last += 1;
        // Three milliseconds each: a million entries stay within the first hour.
        self.now = self.now.plus_ms(3);
        let (lease, tenant) = (LeaseId(self.last), tenant_of(self.last, options));
        let answer = self.submit(order(tenant))?;
        let node = answer.events().find_map(placed_on).unwrap_or(NodeId(0));
        self.living.push_back((lease, tenant, node));
        self.report(lease, node, Phase::Ready)
    }

    fn end_oldest(&mut self) -> Result<(), BenchError> {
        let Some((lease, tenant, node)) = self.living.pop_front() else { return Ok(()) };
        self.submit(Command::Lease(lease::Command::Destroy { tenant, lease }))?;
        self.report(lease, node, Phase::Gone)
    }

    fn report(&mut self, lease: LeaseId, node: NodeId, phase: Phase) -> Result<(), BenchError> {
        let seen = Observation { lease, attempt: 1, node, phase, ago_ms: 0 };
        self.submit(Command::Lease(lease::Command::report(seen, self.now))).map(|_| ())
    }
}

fn placed_on(event: &rental::Event) -> Option<NodeId> {
    match event {
        rental::Event::Lease(_, lease::Event::Placed(e)) => e.grants.first().map(|grant| grant.node),
        _ => None,
    }
}

fn tenants(options: &Options) -> u64 {
    (options.live / PER_TENANT).max(1)
}

fn tenant_of(lease: u64, options: &Options) -> TenantId {
    TenantId(1 + lease % tenants(options))
}

fn order(tenant: TenantId) -> Command {
    let ask = Ask {
        size: Size::Units(UnitKind::Cpu, 1_000),
        models: Vec::new(),
        card_memory_mib: 0,
        beside: Beside { cpu_milli: 0, memory_mib: 1_024 },
        pool: None,
        labels: Vec::new(),
        interval: Interval { from: Time(0), until: None },
    };
    Command::Lease(lease::Command::Request(Box::new(lease::Request {
        tenant,
        // Each tenant's first project has his number, for tenants are made one after the other.
        project: ProjectId(tenant.0),
        ask,
        wait: false,
        on_failure: lease::OnFailure::End,
        most: None,
    })))
}

fn furniture(options: &Options, now: Time) -> Vec<Command> {
    let nodes = options.live.div_ceil(u64::from(CORES)) + 1;
    let spec =
        NodeSpec { pool: PoolId(1), cpu_milli: CORES * 1_000, memory_mib: 1 << 20, labels: Vec::new(), devices: Vec::new() };
    let node = |n: u64| {
        let spec = spec.clone();
        Command::Fleet(fleet::Command::AddNode { pool: PoolId(1), agent: AgentId(1), name: format!("n{n}"), spec })
    };
    let price = market::Price { sku: billing::Sku::Cpu, micro: Micro(120_000) };
    let tenant = |n: u64| {
        let (tenant, ticks) = (TenantId(n), Ticks::from_cny(100_000));
        [
            Command::Tenancy(tenancy::Command::CreateTenant),
            Command::Money(money::Command::TopUp { tenant, payment: "first".into(), ticks }),
        ]
    };
    let before = [
        Command::Fleet(fleet::Command::AddPool { name: "pool".into() }),
        Command::Fleet(fleet::Command::JoinAgent { name: "agent".into() }),
        Command::Market(market::Command::PublishPrices { from: now, prices: vec![price] }),
    ];
    before.into_iter().chain((1..=nodes).map(node)).chain((1..=tenants(options)).flat_map(tenant)).collect()
}
