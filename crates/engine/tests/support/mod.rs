//! A small world for the writer's tests: one pool, one node with cores, prices, one tenant with money.

#![allow(dead_code)] // Each test file uses its part of it.

pub mod mixed;
pub mod verdict;

use engine::{Answer, Engine, Rejected, Submission};
use placement::NodeSpec;
use rental::{Command, fleet, lease, market, money, tenancy};
use std::path::Path;
use units::{AgentId, Ask, Beside, Interval, Micro, PoolId, ProjectId, Size, TenantId, Ticks, Time, UnitKind};

/// The tenant of the small world.
pub const TENANT: TenantId = TenantId(1);
/// His project.
pub const PROJECT: ProjectId = ProjectId(1);

/// Builds the small world and commits it.
pub fn furnish(engine: &mut Engine, now: Time) {
    let spec = NodeSpec { pool: PoolId(1), cpu_milli: 8_000, memory_mib: 16_384, labels: Vec::new(), devices: Vec::new() };
    let price = market::Price { sku: billing::Sku::Cpu, micro: Micro::from_cny(36) };
    let commands = [
        Command::Fleet(fleet::Command::AddPool { name: "host".into() }),
        Command::Fleet(fleet::Command::JoinAgent { name: "agent".into() }),
        Command::Fleet(fleet::Command::AddNode { pool: PoolId(1), agent: AgentId(1), name: "node".into(), spec }),
        Command::Market(market::Command::PublishPrices { from: now, prices: vec![price] }),
        Command::Tenancy(tenancy::Command::CreateTenant),
        Command::Money(money::Command::TopUp { tenant: TENANT, payment: "first".into(), ticks: Ticks::from_cny(1_000) }),
    ];
    for command in commands {
        engine.submit(now, Submission::plain("operator", command)).expect("the small world is accepted");
    }
    engine.commit().expect("the store works");
}

/// An order of one core.
pub fn order() -> Command {
    let ask = Ask {
        size: Size::Units(UnitKind::Cpu, 1_000),
        models: Vec::new(),
        card_memory_mib: 0,
        beside: Beside::default(),
        pool: None,
        labels: Vec::new(),
        interval: Interval { from: Time(0), until: None },
    };
    Command::Lease(lease::Command::Request(Box::new(lease::Request {
        tenant: TENANT,
        project: PROJECT,
        ask,
        wait: false,
        on_failure: lease::OnFailure::End,
        most: None,
    })))
}

/// Submits an order under an idempotency key.
pub fn order_with_key(engine: &mut Engine, now: Time, key: u8, request: u8) -> Result<Answer, Rejected> {
    let idempotency = engine::Idempotency { owner: TENANT.into(), key: [key; 32], request: [request; 32] };
    engine.submit(now, Submission { idempotency: Some(idempotency), ..Submission::plain("key-1", order()) })
}

/// Every row of every table of a database.
pub fn dump(path: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let select = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let names: Vec<String> =
        connection.prepare(select).unwrap().query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
    let mut rows = Vec::new();
    for name in names {
        let mut statement = connection.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let values: Vec<rusqlite::types::Value> = (0..columns).map(|c| row.get(c).unwrap()).collect();
            Ok(format!("{name} {values:?}"))
        };
        rows.extend(statement.query_map([], row).unwrap().map(Result::unwrap));
    }
    rows.sort();
    rows
}
