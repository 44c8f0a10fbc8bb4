//! How fast an audit goes: `cargo run --release -p auditor --example rate [LEASES]`.
//!
//! The journal is made by the core: cards and shares ordered, started, renewed for hours, stopped, freed and cleared, by a
//! thousand tenants on sixteen hundred cards.

#[path = "../tests/world/mod.rs"]
mod world;

use auditor::{Auditor, Report};
use rental::{Command, lease};
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};
use units::{LeaseId, Phase, ProjectId, Size, TenantId};
use world::{MINUTE, QUARTER, World};

const TENANTS: u64 = 1_000;
const NODES: u64 = 200;
/// So many leases run at a time.
const RUNNING: usize = 1_000;
const ROUNDS: usize = 5;

/// Seq, header, and parts with their owners.
type Stored = (u64, Vec<u8>, Vec<(u64, Vec<u8>)>);

fn main() {
    let leases: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(50_000);
    let world = journal(leases);
    let stored: Vec<Stored> = world.entries.iter().map(|e| (e.seq(), e.header.encode(), e.bytes())).collect();
    let bytes: usize =
        stored.iter().map(|(_, header, parts)| header.len() + parts.iter().map(|(_, b)| b.len()).sum::<usize>()).sum();

    // The best of several: what else the machine does is not the audit's.
    let (report, took) = (0..ROUNDS).map(|_| audited(&stored)).min_by_key(|(_, took)| *took).expect("there are rounds");
    assert!(report.sound(), "{:?}", report.findings);
    let each = took.as_secs_f64() * 1e6 / report.entries as f64;
    println!("{} entries, {} leases, {bytes} bytes: {took:.2?}, {each:.2} µs an entry", report.entries, report.leases);
}

fn audited(stored: &[Stored]) -> (Report, Duration) {
    let begin = Instant::now();
    let mut auditor = Auditor::new();
    for (seq, header, parts) in stored {
        let parts: Vec<(u64, &[u8])> = parts.iter().map(|(owner, bytes)| (*owner, bytes.as_slice())).collect();
        auditor.feed(*seq, header, &parts).expect("the core's journal is sound");
    }
    (auditor.finish(), begin.elapsed())
}

fn journal(leases: u64) -> World {
    let mut world = World::new();
    for n in 1..NODES {
        world.add_node(&format!("m{n}"), &["A100"; 8]);
    }
    for _ in 1..TENANTS {
        world.tenant(10_000_000);
    }
    world.pay(TenantId(1), 10_000_000);
    let mut running = VecDeque::new();
    for n in 0..leases {
        let size = if n % 3 == 0 { QUARTER } else { Size::Cards(1) };
        let tenant = TenantId(n % TENANTS + 1);
        let request = lease::Request { project: ProjectId(tenant.0), wait: false, ..World::request(tenant, World::ask(size)) };
        world.run(Command::Lease(lease::Command::Request(Box::new(request))));
        let lease = LeaseId(world.state.lease.last);
        world.report(lease, &Phase::Ready, 0);
        running.push_back((tenant, lease));
        if running.len() > RUNNING {
            let (tenant, lease) = running.pop_front().expect("it is not empty");
            world.run(Command::Lease(lease::Command::Stop { tenant, lease }));
            world.report(lease, &Phase::Gone, 0);
            world.clear();
        }
        world.now = world.now.plus_ms(MINUTE / 6);
        world.due();
    }
    world
}
