//! `/metrics`: the text that Prometheus reads. Gauges are read off the state, so that they cannot be out of step with it.

use crate::{App, Caller, Problem, counters::BOUNDS, serve::Peer};
use axum::{
    Extension,
    extract::{ConnectInfo, State},
    http::header,
    response::{IntoResponse, Response},
};
use rental::{
    State as Core,
    lease::{Lease, Status},
    tenancy::Act,
};
use std::{
    collections::BTreeMap,
    fmt::{Display, Write},
    sync::atomic::Ordering::Relaxed,
};
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(metrics))
}

/// Gauges and counters; for the operator's key, or without one from this machine itself.
#[utoipa::path(get, path = "/metrics", tag = "health", responses((status = OK, body = str, content_type = "text/plain")))]
async fn metrics(
    State(app): State<App>,
    caller: Result<Caller, Problem>,
    peer: Option<Extension<ConnectInfo<Peer>>>,
    headers: header::HeaderMap,
) -> Result<Response, Problem> {
    // A proxy on this machine is no visitor from it: it says for whom it asks.
    let forwarded = ["forwarded", "x-forwarded-for", "x-real-ip", "via"].iter().any(|name| headers.contains_key(*name));
    let local = !forwarded && peer.is_some_and(|Extension(ConnectInfo(Peer(address)))| address.ip().is_loopback());
    match caller {
        Ok(caller) => caller.may(Act::Operate)?,
        Err(_) if local => {}
        Err(problem) => return Err(problem),
    }
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text(&app)).into_response())
}

fn text(app: &App) -> String {
    let mut page = Text::default();
    app.handle().read(|state| {
        leases(&mut page, state);
        fleet(&mut page, state);
    });
    workloads(&mut page, app);
    journal(&mut page, app);
    requests(&mut page, app);
    page.0
}

fn leases(page: &mut Text, state: &Core) {
    let word = |lease: &Lease| match lease.status {
        Status::Queued => "queued",
        Status::Starting => "starting",
        Status::Running => "running",
        Status::Stopping(_) => "stopping",
        Status::Stopped => "stopped",
    };
    let mut counts = BTreeMap::from(["queued", "running", "starting", "stopped", "stopping"].map(|word| (word, 0_u64)));
    state.lease.all().for_each(|lease| *counts.entry(word(lease)).or_default() += 1);
    page.head("suanzu_leases", "gauge", "Leases that are not ended, by state.");
    counts.iter().for_each(|(word, count)| page.value("suanzu_leases", &[("state", word)], count));
    page.one("suanzu_tenants", "gauge", "Tenants.", state.tenancy.tenants.len());
}

fn fleet(page: &mut Text, state: &Core) {
    let occupancy = state.fleet.devices().occupancy();
    page.head("suanzu_cards", "gauge", "Cards in the fleet, by model.");
    occupancy.iter().for_each(|o| page.value("suanzu_cards", &[("model", &o.model)], o.cards));
    page.head("suanzu_card_share", "gauge", "Cards by what they are used for, in whole cards; the sum is suanzu_cards.");
    for o in &occupancy {
        for (use_, permille) in [("free", o.free), ("taken", o.taken), ("unclean", o.unclean), ("withheld", o.withheld)] {
            let cards = format!("{}.{:03}", permille / 1000, permille % 1000);
            page.value("suanzu_card_share", &[("model", &o.model), ("use", use_)], cards);
        }
    }
    let mut marks = BTreeMap::from(["draining", "lost", "offered", "unfit"].map(|mark| (mark.to_owned(), 0_u64)));
    for node in state.fleet.nodes.values() {
        *marks.entry(format!("{:?}", node.mark).to_lowercase()).or_default() += 1;
    }
    page.head("suanzu_nodes", "gauge", "Nodes, by standing.");
    marks.iter().for_each(|(mark, count)| page.value("suanzu_nodes", &[("mark", mark)], count));
}

fn workloads(page: &mut Text, app: &App) {
    let usage = app.handle().read(|state| app.agents().usage(|lease| state.lease.get(lease).is_some()));
    page.head("suanzu_lease_memory_bytes", "gauge", "Main memory that a lease uses on a node, where it is measured.");
    for u in &usage {
        let (lease, node) = (u.instance.lease.to_string(), u.instance.node.to_string());
        page.value("suanzu_lease_memory_bytes", &[("lease", &lease), ("node", &node)], u64::from(u.memory_mib) << 20);
    }
    page.head("suanzu_lease_cpu_seconds_total", "counter", "CPU time that a lease has used on a node since it started there.");
    for u in &usage {
        let (lease, node) = (u.instance.lease.to_string(), u.instance.node.to_string());
        let seconds = format!("{}.{:03}", u.cpu_ms / 1000, u.cpu_ms % 1000);
        page.value("suanzu_lease_cpu_seconds_total", &[("lease", &lease), ("node", &node)], seconds);
    }
}

fn journal(page: &mut Text, app: &App) {
    let lag = app.views().lag();
    page.one("suanzu_journal_entries_total", "counter", "Entries in the journal.", app.handle().head().size);
    page.one(
        "suanzu_writes_stopped",
        "gauge",
        "1 if the store failed and nothing is written.",
        u8::from(app.handle().stopped().is_some()),
    );
    page.one("suanzu_views_lag_entries", "gauge", "Entries that the views have not folded yet.", lag.entries);
    let failed = app.views().failure().is_some();
    page.one("suanzu_views_stopped", "gauge", "1 if the views cannot be folded.", u8::from(failed));
    page.one(
        "suanzu_clock_drift_seconds",
        "gauge",
        "How far the machine's clock moved away from the clock of bills.",
        seconds(app.handle().clock().drift_ms()),
    );
}

fn requests(page: &mut Text, app: &App) {
    let counters = app.counters();
    page.head("suanzu_http_requests_total", "counter", "Requests answered, by the first digit of the status.");
    for (digit, count) in counters.statuses.iter().enumerate().skip(1) {
        page.value("suanzu_http_requests_total", &[("status", &format!("{digit}xx"))], count.load(Relaxed));
    }
    let name = "suanzu_http_request_duration_seconds";
    page.head(name, "histogram", "Time to answer, long polls included.");
    let mut sum = 0;
    for (bound, count) in BOUNDS.iter().zip(&counters.buckets) {
        sum += count.load(Relaxed);
        page.value(&format!("{name}_bucket"), &[("le", &bound.to_string())], sum);
    }
    let all: u64 = counters.statuses.iter().map(|count| count.load(Relaxed)).sum();
    page.value(&format!("{name}_bucket"), &[("le", "+Inf")], all);
    let micros = counters.micros.load(Relaxed);
    page.value(&format!("{name}_sum"), &[], format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000));
    page.value(&format!("{name}_count"), &[], all);
}

fn seconds(ms: i64) -> String {
    let sign = if ms < 0 { "-" } else { "" };
    format!("{sign}{}.{:03}", ms.abs() / 1000, ms.abs() % 1000)
}

/// The exposition format.
#[derive(Default)]
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, what: &str) {
        writeln!(self.0, "# HELP {name} {what}\n# TYPE {name} {kind}").expect("a String takes every text");
    }

    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        writeln!(self.0, "{name}{labels} {value}").expect("a String takes every text");
    }

    fn one(&mut self, name: &str, kind: &str, what: &str, value: impl Display) {
        self.head(name, kind, what);
        self.value(name, &[], value);
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
