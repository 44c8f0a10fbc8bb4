//! The replay itself: time moves from one happening to the next; what the journal says is followed, never guessed.

use super::{
    Options, ReplayError,
    house::{self, AGENT, Tenants},
    report::{BillLine, Occupancy, Report, Waiting},
    trace::{Job, Trace},
};
use crate::{
    audit::{Audited, audit},
    random::Random,
};
use engine::{Attach, Engine, Rejected, Submission};
use journal::{Keys, Memory};
use rental::{Command, Event, Part, State, fleet, lease};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    ops::ControlFlow,
    time::Instant,
};
use units::{DeviceId, Grant, HOUR_MS, Interval, LeaseId, NodeId, Observation, Phase, Time};

/// When every replay begins: 2026-01-01T00:00:00Z.
const START: Time = Time(1_767_225_600_000);
/// Lines of the occupancy table.
const SAMPLES: i64 = 24;

/// What happens next.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    /// A job comes.
    Arrive(usize),
    /// A job is withdrawn if it still waits.
    GiveUp(usize),
    /// Something is seen of a lease on a node.
    Seen(LeaseId, u32, NodeId, Sight),
    /// Freed cards are clean.
    Clean(Vec<DeviceId>),
}

/// The phases that these machines know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sight {
    Ready,
    Exited,
    Gone,
}

pub(super) fn replay(trace: Trace, options: &Options, progress: &dyn Fn(u64, u64)) -> Result<Report, ReplayError> {
    let began = Instant::now();
    let mut run = Run::new(&trace, options)?;
    run.all(progress)?;
    let replay_seconds = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let state = run.engine.state().clone();
    let audited = audit(run.engine.source(), &state).map_err(ReplayError::Unsound)?;
    let audit_seconds = began.elapsed().as_secs_f64();
    Ok(run.report(&audited, (replay_seconds, audit_seconds)))
}

struct Run<'a> {
    trace: &'a Trace,
    factor: i64,
    engine: Engine,
    tenants: Tenants,
    random: Random,
    now: Time,
    coming: BinaryHeap<Reverse<(Time, u64, Happening)>>,
    planned: u64,
    /// The last entry that was followed.
    seen: u64,
    job_of: BTreeMap<LeaseId, usize>,
    lease_of: BTreeMap<usize, LeaseId>,
    /// Where each lease is, until it ends.
    places: BTreeMap<LeaseId, (u32, Vec<NodeId>)>,
    told: Told,
}

/// What the report will say.
#[derive(Default)]
struct Told {
    waits_ms: Vec<i64>,
    refused: BTreeMap<String, u64>,
    finished: u64,
    withdrawn: u64,
    occupancy: Vec<Occupancy>,
    /// Permille of cards and of cores in use, and jobs that run.
    cards: u64,
    cores: u64,
    running: u64,
    /// Permille of cards × milliseconds, up to `counted`, and not beyond the last arrival.
    card_time: u128,
    counted: Time,
    last: Time,
}

impl<'a> Run<'a> {
    fn new(trace: &'a Trace, options: &Options) -> Result<Run<'a>, ReplayError> {
        let setup = |e: &dyn std::fmt::Display| ReplayError::Setup(e.to_string());
        let store = Memory::new(Keys::from_seed(options.seed));
        let mut engine = Engine::with_state(Box::new(store), State::default()).map_err(|e| setup(&e))?;
        let factor = options.divide_by.max(1);
        let tenants = house::set_up(&mut engine, START, trace, factor)?;
        engine.commit().map_err(|e| setup(&e))?;
        let seen = engine.head().size;
        let mut run = Run {
            trace,
            factor,
            engine,
            tenants,
            random: Random::of(options.seed, 0),
            now: START,
            coming: BinaryHeap::new(),
            planned: 0,
            seen,
            job_of: BTreeMap::new(),
            lease_of: BTreeMap::new(),
            places: BTreeMap::new(),
            told: Told { counted: START, last: START.plus_ms(last_arrival(trace) / factor), ..Told::default() },
        };
        for (n, job) in trace.jobs.iter().enumerate() {
            run.plan(run.at(job.at_ms), Happening::Arrive(n));
        }
        Ok(run)
    }

    /// An instant of the trace in the replay's time.
    fn at(&self, trace_ms: i64) -> Time {
        START.plus_ms(trace_ms / self.factor)
    }

    fn plan(&mut self, at: Time, what: Happening) {
        self.planned += 1;
        self.coming.push(Reverse((at, self.planned, what)));
    }

    /// Plans something for a moment of the trace's seconds later.
    fn soon(&mut self, seconds: (i64, i64), what: Happening) {
        let ms = self.random.within(seconds.0 * 1000, seconds.1 * 1000) / self.factor;
        self.plan(self.now.plus_ms(ms.max(1)), what);
    }

    fn all(&mut self, progress: &dyn Fn(u64, u64)) -> Result<(), ReplayError> {
        let jobs = self.trace.jobs.len() as u64;
        let last = last_arrival(self.trace);
        let mut sample = 0;
        while let Some(Reverse((next, ..))) = self.coming.peek() {
            let wakeup = self.engine.next_wakeup(self.now).unwrap_or(Time::MAX).max(self.now.plus_ms(1));
            let at = (*next).min(wakeup).max(self.now);
            while sample <= SAMPLES && self.at(last * sample / SAMPLES) <= at {
                self.sample(last * sample / SAMPLES);
                sample += 1;
            }
            self.told.count_to(at);
            self.now = at;
            while self.coming.peek().is_some_and(|Reverse((when, ..))| *when <= at) {
                let Some(Reverse((_, _, what))) = self.coming.pop() else { break };
                if let Happening::Arrive(n) = &what
                    && n % 64 == 0
                {
                    progress(*n as u64, jobs);
                }
                self.happen(what)?;
            }
            self.engine.liveness().heard(AGENT, at, Some(at));
            self.engine.tick(at);
            self.engine.commit().map_err(|e| ReplayError::Unsound(e.to_string()))?;
            self.follow()?;
        }
        progress(jobs, jobs);
        Ok(())
    }

    fn happen(&mut self, what: Happening) -> Result<(), ReplayError> {
        match what {
            Happening::Arrive(n) => self.arrive(n),
            Happening::GiveUp(n) => self.give_up(n),
            Happening::Seen(lease, attempt, node, sight) => {
                let phase = match sight {
                    Sight::Ready => Phase::Ready,
                    Sight::Exited => Phase::Exited(0),
                    Sight::Gone => Phase::Gone,
                };
                let seen = Observation { lease, attempt, node, phase, ago_ms: 0 };
                let since = self.now;
                self.submit(Command::Lease(lease::Command::report(seen, since)))
            }
            Happening::Clean(devices) => self.submit(Command::Fleet(fleet::Command::Clear { devices, heard: None })),
        }
    }

    /// A report that is refused is a mistake of the replay.
    fn submit(&mut self, command: Command) -> Result<(), ReplayError> {
        let answer = self.engine.submit(self.now, Submission::plain(AGENT.to_string(), command));
        answer.map(|_| ()).map_err(|e| ReplayError::Unsound(format!("a report is refused: {e}")))
    }

    fn arrive(&mut self, n: usize) -> Result<(), ReplayError> {
        let job = &self.trace.jobs[n];
        let Some((tenant, project)) = self.tenants.get(&job.owner).copied() else { return Ok(()) };
        let request = lease::Request {
            tenant,
            project,
            ask: ask(job, self.now),
            wait: true,
            on_failure: lease::OnFailure::End,
            most: None,
        };
        let command = Command::Lease(lease::Command::Request(Box::new(request)));
        let submission = Submission { attach: Attach::Nothing, ..Submission::plain(tenant.to_string(), command) };
        match self.engine.submit(self.now, submission) {
            Ok(answer) => {
                let requested = answer.events().find_map(requested);
                let lease = requested.ok_or_else(|| ReplayError::Unsound("an order has no lease".into()))?;
                self.job_of.insert(lease, n);
                self.lease_of.insert(n, lease);
                let waits = answer.events().any(|event| matches!(event, Event::Lease(_, lease::Event::Queued(_))));
                if let Some(end) = job.given_up_ms.filter(|_| waits) {
                    self.plan(self.at(end).max(self.now.plus_ms(1)), Happening::GiveUp(n));
                }
            }
            Err(Rejected::Refused(refusal)) => *self.told.refused.entry(refusal.code().into()).or_default() += 1,
            Err(other) => return Err(ReplayError::Unsound(other.to_string())),
        }
        Ok(())
    }

    fn give_up(&mut self, n: usize) -> Result<(), ReplayError> {
        let Some(lease) = self.lease_of.get(&n).copied() else { return Ok(()) };
        let waits = self.engine.state().lease.get(lease).filter(|l| l.status == lease::Status::Queued).map(|l| l.tenant);
        // Placed a moment ago: it runs.
        let Some(tenant) = waits else { return Ok(()) };
        self.submit(Command::Lease(lease::Command::Destroy { tenant, lease }))
    }

    /// Reads what became durable, and plans what machines do about it.
    fn follow(&mut self) -> Result<(), ReplayError> {
        if self.engine.head().size == self.seen {
            return Ok(());
        }
        let mut parts = Vec::new();
        let mut wrong = None;
        let read = self.engine.source().read(self.seen + 1, &mut |stored| {
            for part in &stored.parts {
                match Part::decode(part.bytes, part.owner) {
                    Ok(part) => parts.push(part),
                    Err(error) => wrong = Some(error),
                }
            }
            ControlFlow::Continue(())
        });
        read.map_err(|e| ReplayError::Unsound(e.to_string()))?;
        if let Some(error) = wrong {
            return Err(ReplayError::Unsound(error.to_string()));
        }
        self.seen = self.engine.head().size;
        for event in parts.into_iter().flat_map(|part| part.events) {
            match event {
                Event::Lease(_, event) => self.follow_lease(event),
                Event::Fleet(event) => self.follow_fleet(event),
                _ => {}
            }
        }
        Ok(())
    }

    fn follow_lease(&mut self, event: lease::Event) {
        match event {
            lease::Event::Placed(e) => {
                let nodes: Vec<NodeId> = e.grants.iter().map(|grant| grant.node).collect();
                for node in &nodes {
                    self.soon((5, 30), Happening::Seen(e.lease, e.attempt, *node, Sight::Ready));
                }
                self.places.insert(e.lease, (e.attempt, nodes));
                if let Some(n) = self.job_of.get(&e.lease) {
                    let waited = self.now.since(self.at(self.trace.jobs[*n].at_ms));
                    self.told.waits_ms.push(waited * self.factor);
                }
            }
            lease::Event::Started(e) => {
                self.told.running += 1;
                let runs = self.job_of.get(&e.lease).map_or(0, |n| self.trace.jobs[*n].runs_ms) / self.factor;
                if let Some((attempt, node)) = self.first_place(e.lease) {
                    self.plan(self.now.plus_ms(runs.max(1)), Happening::Seen(e.lease, attempt, node, Sight::Exited));
                }
            }
            lease::Event::Stopping(e) => {
                self.told.running = self.told.running.saturating_sub(u64::from(e.served_until.is_some()));
                let Some((attempt, nodes)) = self.places.get(&e.lease).cloned() else { return };
                for node in nodes {
                    self.soon((1, 10), Happening::Seen(e.lease, attempt, node, Sight::Gone));
                }
            }
            lease::Event::Ended(e) => {
                self.places.remove(&e.lease);
                let finished = e.reason == lease::Reason::Completed;
                *(if finished { &mut self.told.finished } else { &mut self.told.withdrawn }) += 1;
            }
            _ => {}
        }
    }

    fn first_place(&self, lease: LeaseId) -> Option<(u32, NodeId)> {
        let (attempt, nodes) = self.places.get(&lease)?;
        Some((*attempt, *nodes.first()?))
    }

    fn follow_fleet(&mut self, event: fleet::Event) {
        match event {
            fleet::Event::Taken(e) => {
                self.told.cards += compute(&e.grants);
                self.told.cores += cores(&e.grants);
            }
            fleet::Event::Freed(e) => {
                self.told.cards -= compute(&e.grants);
                self.told.cores -= cores(&e.grants);
                let devices: Vec<DeviceId> = {
                    let state = self.engine.state();
                    e.grants.iter().flat_map(|grant| state.fleet.whole_cards(grant)).collect()
                };
                if !devices.is_empty() {
                    self.soon((1, 5), Happening::Clean(devices));
                }
            }
            _ => {}
        }
    }

    fn sample(&mut self, trace_ms: i64) {
        let (cards, cores) = self.capacity();
        let percent = |part: u64, all: u64| if all == 0 { 0.0 } else { part as f64 * 100.0 / all as f64 };
        let waiting = self.engine.state().lease.queue_len() as u64;
        self.told.occupancy.push(Occupancy {
            hours: trace_ms as f64 / HOUR_MS as f64,
            cards_percent: percent(self.told.cards, cards * 1000),
            cores_percent: percent(self.told.cores, cores),
            running: self.told.running,
            waiting,
        });
    }

    /// Cards, and thousandths of cores.
    fn capacity(&self) -> (u64, u64) {
        let cards = self.trace.nodes.iter().filter_map(|node| node.cards.as_ref()).map(|(_, n)| u64::from(*n)).sum();
        (cards, self.trace.nodes.iter().map(|node| u64::from(node.cpu_milli)).sum())
    }

    fn report(mut self, audited: &Audited, (replay_seconds, audit_seconds): (f64, f64)) -> Report {
        let (cards, _) = self.capacity();
        let span = u128::from(self.told.last.since(START).max(1).unsigned_abs()) * u128::from(cards.max(1)) * 1000;
        let waiting = waiting(&mut self.told.waits_ms);
        let owner =
            |tenant| self.tenants.iter().find(|(_, of)| of.0 == tenant).map_or_else(String::new, |(name, _)| name.clone());
        let mut by_tenant: BTreeMap<String, units::Ticks> = BTreeMap::new();
        for bill in audited.bills.values() {
            *by_tenant.entry(owner(bill.tenant)).or_default() += bill.ticks;
        }
        let mut bills: Vec<_> = audited.bills.iter().collect();
        bills.sort_by_key(|(lease, bill)| (Reverse(bill.ticks), **lease));
        let line = |(lease, bill): &(&LeaseId, &auditor::Bill)| BillLine {
            lease: lease.to_string(),
            job: self.job_of.get(lease).map_or_else(String::new, |n| self.trace.jobs[*n].name.clone()),
            tenant: owner(bill.tenant),
            hours: bill.intervals.iter().map(|i| i.until.since(i.from) * self.factor).sum::<i64>() as f64 / HOUR_MS as f64,
            amount: bill.ticks.amount(),
        };
        Report {
            trace: self.trace.name.clone(),
            divided_by: self.factor,
            assumed: self.trace.assumed.clone(),
            nodes: self.trace.nodes.len() as u64,
            cards,
            jobs: self.trace.jobs.len() as u64,
            finished: self.told.finished,
            withdrawn: self.told.withdrawn,
            refused: self.told.refused.clone(),
            waiting,
            occupancy: self.told.occupancy.clone(),
            mean_cards_percent: self.told.card_time as f64 * 100.0 / span as f64,
            revenue: audited.charged.amount(),
            by_tenant: by_tenant.into_iter().map(|(name, ticks)| (name, ticks.amount())).collect(),
            largest_bills: bills.iter().take(10).map(line).collect(),
            audited_entries: self.seen,
            replay_seconds,
            audit_seconds,
        }
    }
}

impl Told {
    fn count_to(&mut self, now: Time) {
        let now = now.min(self.last).max(self.counted);
        self.card_time += u128::from(self.cards) * u128::from(now.since(self.counted).unsigned_abs());
        self.counted = now;
    }
}

fn last_arrival(trace: &Trace) -> i64 {
    trace.jobs.iter().map(|job| job.at_ms).max().unwrap_or(0)
}

fn ask(job: &Job, now: Time) -> units::Ask {
    units::Ask {
        size: job.size,
        models: job.models.iter().map(|model| units::Accept { model: model.clone(), rank: 0 }).collect(),
        card_memory_mib: 0,
        beside: job.beside,
        pool: None,
        labels: Vec::new(),
        interval: Interval { from: now, until: None },
    }
}

fn requested(event: &Event) -> Option<LeaseId> {
    match event {
        Event::Lease(_, lease::Event::Requested(e)) => Some(e.lease),
        _ => None,
    }
}

fn compute(grants: &[Grant]) -> u64 {
    grants.iter().flat_map(|grant| &grant.slices).map(|slice| u64::from(slice.share.compute)).sum()
}

fn cores(grants: &[Grant]) -> u64 {
    grants.iter().map(|grant| u64::from(grant.cpu_milli)).sum()
}

fn waiting(waits: &mut [i64]) -> Waiting {
    waits.sort_unstable();
    let seconds = |ms: i64| ms as f64 / 1000.0;
    let at =
        |permille: usize| waits.get((waits.len() * permille / 1000).min(waits.len().saturating_sub(1))).copied().unwrap_or(0);
    Waiting {
        placed: waits.len() as u64,
        waited: waits.iter().filter(|ms| **ms > 0).count() as u64,
        p50_seconds: seconds(at(500)),
        p95_seconds: seconds(at(950)),
        most_seconds: seconds(waits.last().copied().unwrap_or(0)),
    }
}
