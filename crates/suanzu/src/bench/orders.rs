//! Durable orders through HTTP: 64 connections of a client in this process order shares, then stop one for each that they
//! order, and in the end stop all.
//!
//! What counts is a `201` whose lease has a place and money held, within the time; a sync of the disk lies under each.

use super::{disk, wire::Wire, world};
use crate::serve::open;
use anyhow::{Context as _, bail, ensure};
use engine::{Follower, Handle};
use serde::Deserialize;
use std::{
    collections::VecDeque,
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::net::TcpListener;

/// Leases that the fleet has room for, per second that is ordered in: more than are ordered, so that none is refused.
const ROOM: u64 = 20_000;
/// An agent looks so often, as a real one does at most.
const POLL: Duration = Duration::from_millis(50);

/// How to run it.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How long it orders only; after that it orders and stops for as long.
    pub time: Duration,
    /// Connections at the same time.
    pub connections: usize,
}

/// What was measured.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Orders that count, per second, while it orders only.
    pub per_second: f64,
    /// The same while each follows the stop of an older lease.
    pub turnover_per_second: f64,
    /// Orders that were answered with a refusal.
    pub refused: u64,
    /// Entries the journal holds at the end.
    pub entries: u64,
    /// The most that views were behind, in milliseconds.
    pub views_behind_ms: i64,
    /// Median and 99th percentile of an order, in milliseconds, while it orders only.
    pub latency_ms: (f64, f64),
    /// The disk under it.
    pub file_system: String,
    /// Median of a sync, in milliseconds.
    pub sync_p50_ms: f64,
    /// Nodes and cards.
    pub fleet: String,
}

/// Runs it in `folder`, which must be on a disk.
pub fn run(folder: &Path, options: Options) -> anyhow::Result<Figures> {
    let disk = disk::look(folder)?;
    let (handle, views) = open(folder)?;
    let nodes = world::nodes_for(ROOM * options.time.as_secs().max(1));
    let secret = world::furnish(&handle, nodes)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("starting the runtime")?;
    let mut figures = runtime.block_on(measure(&handle, &views, &secret, options))?;
    figures.file_system = disk.kind;
    figures.sync_p50_ms = disk.sync_p50_ms;
    figures.entries = handle.head().size;
    figures.fleet = world::described(nodes);
    handle.shut_down();
    Ok(figures)
}

async fn measure(handle: &Handle, views: &Follower, secret: &str, options: Options) -> anyhow::Result<Figures> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("listening")?;
    let address = listener.local_addr().context("asking where we listen")?;
    let config = server::Config { public_url: format!("http://{address}") };
    let app = server::App::new(handle.clone(), views.clone(), config);
    let serving = tokio::spawn(server::serve(app.clone(), listener, None, std::future::pending()));
    let over = Arc::new(AtomicBool::new(false));
    let agents = tokio::spawn(world::serve_leases(handle.clone(), Arc::clone(&over), POLL));
    let behind = tokio::spawn(watch_views(views.clone(), Arc::clone(&over)));
    let refused = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let until = [begun + options.time, begun + 2 * options.time];
    let clients: Vec<_> = (0..options.connections)
        .map(|client| tokio::spawn(order(address, secret.to_owned(), client, until, Arc::clone(&refused))))
        .collect();
    let (mut times, mut turned_over) = (Vec::new(), 0);
    for client in clients {
        let [ordered, replaced] = client.await.context("a client's task")??;
        times.extend(ordered);
        turned_over += replaced.len();
    }
    over.store(true, Ordering::Relaxed);
    agents.await.context("the agents' task")??;
    let views_behind_ms = behind.await.context("the watch over views")?;
    serving.abort();
    let per_second = |orders: usize| orders as f64 / options.time.as_secs_f64();
    times.sort_unstable();
    let at = |permille: usize| times.get(times.len() * permille / 1000).map_or(0.0, |t| t.as_secs_f64() * 1e3);
    Ok(Figures {
        per_second: per_second(times.len()),
        turnover_per_second: per_second(turned_over),
        refused: refused.load(Ordering::Relaxed),
        entries: 0,
        views_behind_ms,
        latency_ms: (at(500), at(990)),
        file_system: String::new(),
        sync_p50_ms: 0.0,
        fleet: String::new(),
    })
}

/// The most that views were behind while it ran.
async fn watch_views(views: Follower, over: Arc<AtomicBool>) -> i64 {
    let mut most = 0;
    while !over.load(Ordering::Relaxed) {
        most = most.max(views.lag().ms);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    most
}

/// Only what is looked at.
#[derive(Deserialize)]
struct Ordered {
    id: String,
    state: String,
}

/// Orders until the first instant, stops its oldest lease before each order until the second, then stops what is left.
/// Gives the time of each order that counts, of before and after the first instant.
async fn order(
    address: SocketAddr,
    secret: String,
    client: usize,
    until: [Instant; 2],
    refused: Arc<AtomicU64>,
) -> anyhow::Result<[Vec<Duration>; 2]> {
    let mut wire = Wire::connect(address, &secret).await?;
    let mut kept = VecDeque::new();
    let mut times = [Vec::new(), Vec::new()];
    for n in 0.. {
        let now = Instant::now();
        let Some(part) = until.iter().position(|until| now < *until) else { break };
        if part > 0 {
            stop(&mut wire, kept.pop_front()).await?;
        }
        let begun = Instant::now();
        let (status, answer) = wire.post("/v1/leases", Some(&format!("{client}-{n}")), world::ORDER).await?;
        match status {
            201 => {
                let ordered: Ordered = serde_json::from_slice(answer).context("reading a lease")?;
                ensure!(ordered.state == "starting" || ordered.state == "running", "a 201 has its place: {}", ordered.state);
                let done = Instant::now();
                if done < until[part] {
                    times[part].push(done - begun);
                }
                kept.push_back(ordered.id);
            }
            409 => {
                refused.fetch_add(1, Ordering::Relaxed);
                stop(&mut wire, kept.pop_front()).await?;
            }
            other => bail!("an order was answered {other}: {}", String::from_utf8_lossy(answer)),
        }
    }
    while !kept.is_empty() {
        stop(&mut wire, kept.pop_front()).await?;
    }
    Ok(times)
}

async fn stop(wire: &mut Wire, lease: Option<String>) -> anyhow::Result<()> {
    let Some(lease) = lease else { return Ok(()) };
    let (status, answer) = wire.post(&format!("/v1/leases/{lease}/destroy"), None, "{}").await?;
    ensure!(status == 200, "a stop was answered {status}: {}", String::from_utf8_lossy(answer));
    Ok(())
}
