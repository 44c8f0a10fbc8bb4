//! The demo's lease: quoted, ordered, watched while its cost runs, stopped, and billed.

use super::world::World;
use crate::{
    app::App,
    ask,
    client::Call,
    commands::{follow, order::Order, quote, receipt},
    failure::Failure,
    interrupt::Interrupt,
    language::phrases as p,
    output::{money_to, text_of},
};
use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long the workload is watched.
const WATCHED: Duration = Duration::from_secs(10);
/// Its cost is shown so often.
const TICK: Duration = Duration::from_secs(1);
/// A process starts within a second; a machine under load may take longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Rents, watches, stops. Gives the receipt.
pub fn play(world: &World, interrupt: &Interrupt) -> Result<Value, Failure> {
    let tenant = &world.tenant;
    let work = std::env::current_exe().context("finding this binary")?;
    let argv = vec![work.display().to_string(), "demo-work".into()];
    let order = Order {
        cpu: Some("1".into()),
        pool: Some(world.pool.clone()),
        name: Some("primes".into()),
        on_failure: "end".into(),
        grace: 2_000,
        argv,
        ..Order::default()
    };
    let call = order.call(&order.models(tenant)?)?;
    tenant.screen.say(&p::DEMO_QUOTE, &[]);
    quote::tell(&tenant.send(call.clone().query("validate_only", "true"))?.body, tenant);
    let lease = tenant.send(call)?.body;
    let id = text_of(&lease["id"]);
    tenant.screen.say(&p::DEMO_ORDERED, &[&id]);
    follow::until(lease, follow::READY, PATIENCE, tenant)?;
    watch(&id, tenant, interrupt)?;
    tenant.screen.say(&p::DEMO_STOPS, &[&id]);
    let stopping = tenant.send(Call::post(format!("/v1/leases/{id}/stop")).body(json!({})))?.body;
    let seq = stopping["seq"].as_u64();
    follow::until(stopping, follow::AT_REST, PATIENCE, tenant)?;
    let receipt = Call::get(format!("/v1/leases/{id}/receipt")).maybe("at_least", seq.map(|seq| seq.to_string()));
    let receipt = tenant.send(receipt)?.body;
    tenant.screen.write(&format!("\n{}", receipt::for_people(&receipt, &tenant.screen)))?;
    Ok(receipt)
}

/// Its cost by the second, beside what it wrote last.
fn watch(id: &str, tenant: &App, interrupt: &Interrupt) -> Result<(), Failure> {
    let began = Instant::now();
    while began.elapsed() < WATCHED {
        if interrupt.within(TICK) {
            return Err(Failure::Other(anyhow!("{}", tenant.screen.language.say(&p::DEMO_BROKEN_OFF))));
        }
        let lease = tenant.send(Call::get(format!("/v1/leases/{id}")))?.body;
        let logs = tenant.send(Call::get(format!("/v1/leases/{id}/logs")).query("tail", "1"))?.body;
        let ran = ask::spoken(i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX));
        let wrote = logs.as_str().unwrap_or_default().trim();
        tenant.screen.say(&p::DEMO_COST, &[&format!("{ran:>6}"), &money_to(&lease["cost_so_far"], follow::PLACES), wrote]);
    }
    Ok(())
}
