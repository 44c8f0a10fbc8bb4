//! A small world run by the real core: commands in, entries out, entries to the auditor.
#![allow(dead_code)]

use auditor::{Auditor, Finding, Report};
use billing::Sku;
use journal::{Header, LogId, header::FORMAT};
use placement::{DeviceSpec, NodeSpec};
use rental::{Command, Event, Failed, Part, Refusal, State, apply, decide, due, fleet, lease, market, money, seal, tenancy};
use units::{
    AgentId, Ask, Beside, DeviceId, Interval, LeaseId, Micro, NodeId, Observation, Owner, Phase, PoolId, ProjectId, Share, Size,
    TenantId, Ticks, Time,
};

/// The journal begins here: 2026-01-01T00:00:00Z.
pub const START: i64 = 1_767_225_600_000;
/// Milliseconds in a minute.
pub const MINUTE: i64 = 60_000;
/// Milliseconds in an hour.
pub const HOUR: i64 = 3_600_000;

/// An entry as it goes to the auditor, its parts still open to change.
#[derive(Clone)]
pub struct Entry {
    pub header: Header,
    pub parts: Vec<Part>,
}

/// The core's state and all entries so far.
pub struct World {
    pub state: State,
    pub now: Time,
    pub entries: Vec<Entry>,
    failed: Failed,
}

impl World {
    /// Nothing yet, at [`START`].
    pub fn empty() -> World {
        World { state: State::default(), now: Time(START), entries: Vec::new(), failed: Failed::default() }
    }

    /// Two nodes of two cards, a node of cores, prices, and a tenant with 100 yuan.
    pub fn new() -> World {
        let mut world = World::empty();
        world.run(Command::Fleet(fleet::Command::AddPool { name: "p".into() }));
        world.run(Command::Fleet(fleet::Command::JoinAgent { name: "a".into() }));
        for name in ["n1", "n2"] {
            world.add_node(name, &["A100", "A100"]);
        }
        world.add_node("n3", &[]);
        world.publish(START, &[("card/A100", 10), ("unit/cpu", 1), ("unit/tflops", 1)]);
        world.tenant(100);
        world
    }

    /// Another tenant, with so many yuan.
    pub fn tenant(&mut self, cny: i64) -> TenantId {
        self.run(Command::Tenancy(tenancy::Command::CreateTenant));
        let tenant = *self.state.tenancy.tenants.keys().last().unwrap();
        if cny > 0 {
            self.pay(tenant, cny);
        }
        tenant
    }

    pub fn pay(&mut self, tenant: TenantId, cny: i64) {
        let payment = format!("pay-{}", self.entries.len());
        self.run(Command::Money(money::Command::TopUp { tenant, payment, ticks: Ticks::from_cny(cny) }));
    }

    pub fn add_node(&mut self, name: &str, models: &[&str]) {
        let device = |model: &&str| DeviceSpec {
            id: DeviceId(0),
            model: (*model).into(),
            memory_mib: 81_920,
            tflops_milli: 312_000,
            max_shares: 8,
        };
        let devices = models.iter().map(device).collect();
        let spec = NodeSpec { pool: PoolId(1), cpu_milli: 64_000, memory_mib: 262_144, labels: vec!["rack=1".into()], devices };
        self.run(Command::Fleet(fleet::Command::AddNode { pool: PoolId(1), agent: AgentId(1), name: name.into(), spec }));
    }

    pub fn publish(&mut self, from: i64, prices: &[(&str, i64)]) {
        let price = |(sku, cny): &(&str, i64)| market::Price { sku: sku.parse::<Sku>().unwrap(), micro: Micro::from_cny(*cny) };
        let prices = prices.iter().map(price).collect();
        self.run(Command::Market(market::Command::PublishPrices { from: Time(from), prices }));
    }

    /// Carries a command out; it must not be refused.
    pub fn run(&mut self, command: Command) {
        if let Err(refusal) = self.attempt(command.clone()) {
            panic!("{command:?} is refused: {refusal}");
        }
    }

    /// Carries a command out, or says why not.
    pub fn attempt(&mut self, command: Command) -> Result<(), Refusal> {
        let events = decide(&self.state, self.now, &command)?;
        self.append(command.kind(), events);
        Ok(())
    }

    fn append(&mut self, command: &str, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let parts = seal(&self.state, self.now, events);
        apply(&mut self.state, parts.clone());
        let header = Header {
            format: FORMAT,
            log: LogId([7; 16]),
            epoch: 1,
            seq: self.state.seq,
            time: self.now,
            command: command.into(),
            actor: "key-1".into(),
            key: None,
            request: None,
        };
        self.entries.push(Entry { header, parts });
    }

    /// Carries out what time demands.
    pub fn due(&mut self) {
        while let Some(command) = due(&self.state, self.now, &mut self.failed) {
            self.run(command);
        }
    }

    /// Time goes by, minute by minute, with all that it demands.
    pub fn pass(&mut self, ms: i64) {
        let end = self.now.plus_ms(ms);
        while self.now < end {
            self.now = self.now.plus_ms(MINUTE).min(end);
            self.due();
        }
    }

    pub fn ask(size: Size) -> Ask {
        Ask {
            size,
            models: Vec::new(),
            card_memory_mib: 0,
            beside: Beside { cpu_milli: 4_000, memory_mib: 16_384 },
            pool: None,
            labels: Vec::new(),
            interval: Interval { from: Time(0), until: None },
        }
    }

    pub fn request(tenant: TenantId, ask: Ask) -> lease::Request {
        let project = ProjectId(tenant.0);
        lease::Request { tenant, project, ask, wait: true, on_failure: lease::OnFailure::Requeue, most: None }
    }

    /// Orders so much for the first tenant and starts it on every node that it gets.
    pub fn start(&mut self, size: Size) -> LeaseId {
        let lease = self.order(size);
        self.report(lease, &Phase::Ready, 0);
        lease
    }

    pub fn order(&mut self, size: Size) -> LeaseId {
        let request = Self::request(TenantId(1), Self::ask(size));
        self.run(Command::Lease(lease::Command::Request(Box::new(request))));
        LeaseId(self.state.lease.last)
    }

    /// Every node of a lease reports a phase that began some time ago.
    pub fn report(&mut self, lease: LeaseId, phase: &Phase, ago_ms: i64) {
        let Some(known) = self.state.lease.get(lease) else { return };
        let (attempt, nodes): (u32, Vec<NodeId>) = (known.attempt, known.members.iter().map(|m| m.grant.node).collect());
        for node in nodes {
            let seen = Observation { lease, attempt, node, phase: phase.clone(), ago_ms: 0 };
            self.run(Command::Lease(lease::Command::report(seen, self.now.plus_ms(-ago_ms))));
        }
    }

    pub fn stop(&mut self, lease: LeaseId) {
        self.run(Command::Lease(lease::Command::Stop { tenant: TenantId(1), lease }));
    }

    /// Whatever waits to be measured clean is clean.
    pub fn clear(&mut self) {
        let devices = self.state.fleet.unclean_of(AgentId(1));
        self.run(Command::Fleet(fleet::Command::Clear { devices, heard: None }));
    }

    pub fn report_of(&self) -> Report {
        audit(&self.entries)
    }

    /// The parts that speak of a lease, each with its entry.
    pub fn parts_of(&self, lease: LeaseId) -> Vec<(u64, Vec<u8>)> {
        let parts = self.entries.iter().flat_map(|entry| entry.parts.iter().map(|part| (entry.seq(), part)));
        let of_lease = parts.filter(|(_, part)| part.events.iter().any(|event| concerns(event) == Some(lease)));
        of_lease.map(|(seq, part)| (seq, minicbor::to_vec(part).unwrap())).collect()
    }

    /// A lease as the auditor works it out from its parts alone.
    pub fn record_of(&self, lease: LeaseId) -> (Option<auditor::Record>, Vec<Finding>) {
        let owners = self.entries.iter().flat_map(|entry| &entry.parts);
        let owner = owners.filter(|part| part.events.iter().any(|e| concerns(e) == Some(lease))).map(|part| part.owner).next();
        let parts = self.parts_of(lease);
        let parts: Vec<(u64, &[u8])> = parts.iter().map(|(seq, bytes)| (*seq, bytes.as_slice())).collect();
        auditor::Record::read(lease, owner.expect("a lease was ordered"), &parts)
    }

    /// The entry of the newest event of this kind.
    pub fn last(&mut self, kind: &str) -> &mut Entry {
        self.entries.iter_mut().rev().find(|entry| entry.events().any(|e| e.kind() == kind)).expect("such an event was written")
    }
}

impl Entry {
    pub fn seq(&self) -> u64 {
        self.header.seq
    }

    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.parts.iter().flat_map(|part| &part.events)
    }

    /// The part of an owner.
    pub fn part(&mut self, owner: u64) -> &mut Part {
        self.parts.iter_mut().find(|part| part.owner == Owner(owner)).expect("the owner has a part")
    }

    /// The money event of this kind in the first tenant's part.
    pub fn money(&mut self, kind: &str) -> &mut money::Event {
        let seq = self.header.seq;
        let found = self.part(1).events.iter_mut().find(|e| e.kind() == kind);
        match found {
            Some(Event::Money(_, event)) => event,
            _ => panic!("there is no {kind} in entry {seq}"),
        }
    }

    /// Leaves out the events of this kind.
    pub fn drop_events(&mut self, kind: &str) {
        for part in &mut self.parts {
            part.events.retain(|e| e.kind() != kind);
        }
    }

    /// Its parts as they are stored, with their owners.
    pub fn bytes(&self) -> Vec<(u64, Vec<u8>)> {
        self.parts.iter().map(|p| (p.owner.0, minicbor::to_vec(p).unwrap())).collect()
    }

    /// Feeds it, as it stands, to an auditor.
    pub fn feed(&self, auditor: &mut Auditor) -> Result<(), Finding> {
        let bytes = self.bytes();
        let parts: Vec<(u64, &[u8])> = bytes.iter().map(|(owner, bytes)| (*owner, bytes.as_slice())).collect();
        auditor.feed(self.header.seq, &self.header.encode(), &parts)
    }
}

/// What an auditor says of these entries.
pub fn audit(entries: &[Entry]) -> Report {
    let mut auditor = Auditor::new();
    for entry in entries {
        let _ = entry.feed(&mut auditor);
    }
    auditor.finish()
}

/// A quarter of a card.
pub const QUARTER: Size = Size::Share(Share { compute: 250, memory_mib: 20_480 });

/// The lease that an event is about.
fn concerns(event: &Event) -> Option<LeaseId> {
    match event {
        Event::Lease(_, event) => Some(event.lease()),
        Event::Money(_, money::Event::Held(e)) => Some(e.lease),
        Event::Money(_, money::Event::Charged(e)) => Some(e.lease),
        Event::Money(_, money::Event::Reversed(e)) => Some(e.lease),
        Event::Money(_, money::Event::Released(e)) => Some(e.lease),
        Event::Money(_, money::Event::Lost(e)) => Some(e.lease),
        _ => None,
    }
}
