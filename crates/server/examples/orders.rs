//! How many durable orders a second the server answers over HTTP: `cargo run --release -p server --example orders -- [SECONDS] [CONNECTIONS]`.
//!
//! Server and client share this process and its cores. Each order is durable (`synchronous=FULL`) before it is answered.

use engine::{Clock, Engine, Follower, Handle, Settings};
use journal::{Options, Sqlite, Store};
use protocol::{Join, NodeReport};
use rental::{Command, billing::Sku, market, money, tenancy};
use server::{App, Config};
use std::{
    error::Error,
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use units::{Micro, TenantId, Ticks};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Enough that no order waits for room: a node has this many cores, and an order takes a tenth of one.
const CORES: u32 = 1_000_000;
const NODES: usize = 100;
const TENANTS: u64 = 64;

#[tokio::main]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1).filter_map(|text| text.parse::<u64>().ok());
    let (seconds, connections) = (arguments.next().unwrap_or(10), arguments.next().unwrap_or(64));
    let folder = tempfile::tempdir()?;
    let app = open(folder.path())?;
    let secrets = furnish(&app).await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server::serve(app.clone(), listener, None, async {
        let _ = stopped.await;
    }));
    let before = app.handle().head().size;
    let began = Instant::now();
    let end = began + Duration::from_secs(seconds);
    let mut clients = JoinSet::new();
    for n in 0..connections {
        clients.spawn(client(address, secrets[n as usize % secrets.len()].clone(), n, end));
    }
    let mut latencies = Vec::new();
    while let Some(client) = clients.join_next().await {
        latencies.extend(client??);
    }
    let took = began.elapsed().as_secs_f64();
    let entries = app.handle().head().size - before;
    latencies.sort_unstable();
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize] as f64 / 1000.0;
    let rate = latencies.len() as f64 / took;
    println!("{} orders in {took:.2} s: {rate:.0} orders/s, p50 {:.2} ms, p99 {:.2} ms", latencies.len(), at(0.5), at(0.99));
    assert_eq!(entries, latencies.len() as u64, "each answered order is one entry");
    let _ = stop.send(());
    serving.await??;
    app.handle().shut_down();
    Ok(())
}

fn open(folder: &Path) -> Outcome<App> {
    let store = Sqlite::open(folder, &Options::default())?;
    let log = store.keys().log();
    let (directory, views, mut fold) = (store.reader()?, store.reader()?, store.reader()?);
    let engine = Engine::open(Box::new(store), None, &mut fold)?;
    let handle = Handle::spawn(engine, Settings { snapshots: None, reader: directory, clock: Clock::start() });
    let views = Follower::spawn(&folder.join("views.db"), log, views, handle.follow())?;
    Ok(App::new(handle, views, Config { public_url: String::new() }))
}

async fn furnish(app: &App) -> Outcome<Vec<String>> {
    let refused = |problem: server::Problem| problem.detail().to_owned();
    let agent = server::agents::enroll(app, "bench").await.map_err(refused)?;
    let node = |n| NodeReport {
        name: format!("node-{n}"),
        cpu_milli: CORES * 1000,
        memory_mib: 1 << 30,
        labels: Vec::new(),
        devices: Vec::new(),
    };
    let join = Join {
        version: protocol::VERSION,
        hostname: "bench".into(),
        nodes: (0..NODES).map(node).collect(),
        capabilities: Vec::new(),
    };
    server::agents::join(app, agent, &join).await.map_err(refused)?;
    let submit = async |command| app.handle().submit(engine::Submission::plain("bench", command)).await;
    let price = market::Price { sku: Sku::Cpu, micro: Micro::from_cny(1) };
    submit(Command::Market(market::Command::PublishPrices { from: app.handle().now().plus_ms(50), prices: vec![price] })).await?;
    let mut secrets = Vec::new();
    for tenant in (1..=TENANTS).map(TenantId) {
        submit(Command::Tenancy(tenancy::Command::CreateTenant)).await?;
        let ticks = Ticks::from_cny(1_000_000_000);
        submit(Command::Money(money::Command::TopUp { tenant, payment: "first".into(), ticks })).await?;
        secrets.push(app.issue_tenant_key(tenant, tenancy::Role::Member).await.map_err(refused)?.1);
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    Ok(secrets)
}

/// Orders until `end` on one connection; the microseconds that each answer took.
async fn client(address: SocketAddr, secret: String, number: u64, end: Instant) -> Outcome<Vec<u64>> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let body = r#"{"size":{"units":{"kind":"cpu","amount":"0.1"}},"wait":false}"#;
    let (mut latencies, mut buffer) = (Vec::new(), Vec::with_capacity(8192));
    for order in 0_u64.. {
        let began = Instant::now();
        if began >= end {
            break;
        }
        let request = format!(
            "POST /v1/leases HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {secret}\r\nidempotency-key: {number}-{order}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await?;
        read_answer(&mut stream, &mut buffer).await?;
        latencies.push(u64::try_from(began.elapsed().as_micros())?);
    }
    Ok(latencies)
}

async fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Outcome<()> {
    buffer.clear();
    loop {
        if stream.read_buf(buffer).await? == 0 {
            return Err("the server closed the connection".into());
        }
        let Some(head) = buffer.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let text = std::str::from_utf8(&buffer[..head])?;
        let length: usize = text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0").parse()?;
        if buffer.len() >= head + 4 + length {
            let created = text.starts_with("HTTP/1.1 201");
            return if created { Ok(()) } else { Err(String::from_utf8_lossy(buffer).into_owned().into()) };
        }
    }
}
