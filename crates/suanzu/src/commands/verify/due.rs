//! What a receipt must say: the auditor's record in the words of the API, and what of a receipt no part proves.

use auditor::{Ask, Grant, Line, LineKind, OnFailure, Reason, Record, Size, Sku, Standing, Then, UnitKind};
use serde_json::{Value, json};
use units::{DeviceId, Micro, NodeId, Owner, PoolId, TenantId, Ticks, Time};

/// The receipt of a lease, all of it but what [`not_proven`] names.
pub fn receipt(record: &Record, owner: Owner) -> Value {
    json!({
        "lease": lease(record, owner),
        "lines": record.lines.iter().map(line).collect::<Vec<_>>(),
        "total": money(record.total),
        "runs": record.attempt,
        "reason": record.reason.map(sentence),
        "proof": { "bundle": null },
    })
}

/// Fields of a receipt that no part of a tenant's proves: what lies beside the journal, and what goes on after its last entry.
pub fn not_proven(record: &Record) -> Vec<&'static str> {
    let is = |standing| record.standing == standing;
    let live = !is(Standing::Ended);
    let unless = [
        (true, "lease.name"),
        (true, "lease.last_seen"),
        (!record.grants.is_empty(), "lease.simulated"),
        (is(Standing::Starting), "lease.progress"),
        (is(Standing::Queued), "lease.place_in_queue"),
        (live, "lease.as_of"),
        (live, "lease.seq"),
        (is(Standing::Running), "lease.cost_so_far"),
        (is(Standing::Running), "lease.funded_until"),
    ];
    unless.into_iter().filter(|(holds, _)| *holds).map(|(_, field)| field).collect()
}

/// An amount as the API says it. Sums so large that they cannot be rounded are said in ticks.
pub fn money(ticks: Ticks) -> Value {
    let small = ticks.0.checked_abs().is_some_and(|ticks| ticks < i128::MAX / 2);
    let amount = if small { ticks.amount() } else { ticks.0.to_string() };
    json!({ "amount": amount, "currency": "CNY", "ticks": ticks.0.to_string() })
}

/// Where a lease is, in a word of the API.
pub fn state(standing: Standing) -> &'static str {
    match standing {
        Standing::Ordered | Standing::Queued => "queued",
        Standing::Starting => "starting",
        Standing::Running => "running",
        Standing::Stopping(_) => "stopping",
        Standing::Stopped => "stopped",
        Standing::Ended => "ended",
    }
}

fn lease(record: &Record, owner: Owner) -> Value {
    let over = record.standing == Standing::Ended;
    // Of a lease that is over the whole of its life is told, of another its present run.
    let (requested, ready) = if over { (record.ordered, record.first_ready) } else { (record.requested, record.ready) };
    json!({
        "id": record.lease,
        "name": null,
        "tenant": TenantId(owner.0),
        "project": record.project,
        "state": state(record.standing),
        "reason": record.reason.map(word),
        "detail": record.detail,
        "since": record.since,
        "requested": requested,
        "ready": ready,
        "ended": record.ended,
        "ask": ask(&record.ask),
        "grants": record.grants.iter().map(grant).collect::<Vec<_>>(),
        "simulated": null,
        "on_failure": match record.on_failure {
            OnFailure::End => "end",
            OnFailure::Requeue => "requeue",
        },
        "sku": record.sku.as_ref().map(sku),
        "price_per_hour": record.per_hour().map(money),
        "cost_so_far": money(record.total),
        "as_of": record.ended,
        "funded_until": null,
        "until": record.ask.interval.until.map(Time),
        "attempt": record.attempt,
        "last_seen": null,
        "progress": null,
        "place_in_queue": null,
        "actions": actions(record.standing),
        "seq": record.seq,
    })
}

fn line(line: &Line) -> Value {
    let ms = line.until.since(line.from);
    json!({
        "kind": match line.kind {
            LineKind::Charged => "charged",
            LineKind::Reversed => "reversed",
            LineKind::Lost => "lost",
        },
        "from": line.from,
        "until": line.until,
        "seconds": format!("{}.{:03}", ms / 1000, ms % 1000),
        "sku": line.sku.as_ref().map(sku),
        "quantity": thousandths(line.milli),
        "unit_price": Micro(line.micro).to_string(),
        "amount": money(line.ticks),
        "seq": line.seq,
    })
}

fn ask(ask: &Ask) -> Value {
    json!({
        "size": match ask.size {
            Size::Servers(n) => json!({ "servers": n }),
            Size::Cards(n) => json!({ "cards": n }),
            Size::Share(share) => json!({ "share": { "compute": share.compute, "memory_mib": share.memory } }),
            Size::Units(kind, milli) => {
                let kind = match kind {
                    UnitKind::Tflops => "tflops",
                    UnitKind::Cpu => "cpu",
                };
                json!({ "units": { "kind": kind, "amount": thousandths(milli) } })
            }
        },
        "models": ask.models.iter().map(|accept| accept.model.as_str()).collect::<Vec<_>>(),
        "card_memory_mib": ask.card_memory,
        "cpu": thousandths(ask.beside.cpu.into()),
        "memory_mib": ask.beside.memory,
        "pool": ask.pool.map(PoolId),
        "labels": ask.labels,
    })
}

fn grant(grant: &Grant) -> Value {
    let devices = grant.slices.iter().map(
        |slice| json!({ "device": DeviceId(slice.device), "compute": slice.share.compute, "memory_mib": slice.share.memory }),
    );
    json!({
        "node": NodeId(grant.node),
        "cpu": thousandths(grant.cpu.into()),
        "memory_mib": grant.memory,
        "devices": devices.collect::<Vec<_>>(),
        "exclusive": grant.exclusive,
    })
}

fn sku(sku: &Sku) -> String {
    match sku {
        Sku::Card(model) => format!("card/{model}"),
        Sku::Server(model) => format!("server/{model}"),
        Sku::Tflops => "unit/tflops".into(),
        Sku::Cpu => "unit/cpu".into(),
    }
}

/// As a decimal without zeros at its end.
fn thousandths(milli: u64) -> String {
    match milli % 1000 {
        0 => (milli / 1000).to_string(),
        rest => format!("{}.{rest:03}", milli / 1000).trim_end_matches('0').to_owned(),
    }
}

fn actions(standing: Standing) -> &'static [&'static str] {
    match standing {
        Standing::Ordered | Standing::Queued => &["stop", "destroy", "extend", "resize"],
        Standing::Starting => &["stop", "destroy", "extend", "logs"],
        Standing::Running => &["stop", "destroy", "extend", "resize", "logs", "exec"],
        Standing::Stopping(Then::End) | Standing::Ended => &[],
        Standing::Stopping(_) => &["destroy"],
        Standing::Stopped => &["start", "destroy", "extend", "resize"],
    }
}

fn word(reason: Reason) -> &'static str {
    match reason {
        Reason::Stopped => "stopped",
        Reason::Destroyed => "destroyed",
        Reason::Cancelled => "cancelled",
        Reason::Completed => "completed",
        Reason::BalanceExhausted => "balance_exhausted",
        Reason::EndReached => "end_reached",
        Reason::StartFailed => "start_failed",
        Reason::Failed => "failed",
        Reason::Lost => "lost",
    }
}

fn sentence(reason: Reason) -> &'static str {
    match reason {
        Reason::Stopped => "you stopped it",
        Reason::Destroyed => "you ended it for good",
        Reason::Cancelled => "you ended it before it was ready",
        Reason::Completed => "its workload ended by itself",
        Reason::BalanceExhausted => "balance, credit and grace had ended",
        Reason::EndReached => "its own end had come",
        Reason::StartFailed => "it could not be started",
        Reason::Failed => "the platform failed it",
        Reason::Lost => "its node was not seen for too long",
    }
}
