//! From an order to its readiness on this host: through HTTP, the journal, the agent, the shim or the container engine.

use crate::{
    client::{Call, Client, Mode, Target},
    failure::Failure,
    language::Language,
    output::text_of,
    serve::{Config, Server},
};
use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Longer than a start should take on a machine under load.
const PATIENCE: Duration = Duration::from_secs(30);
/// The image that measurements run; it must be on the machine, so that no pull is measured.
pub const IMAGE: &str = "localhost/suanzu-busybox:1";

/// Starts and ends a lease so often, one after the other; gives the seconds from order to ready, ascending.
pub fn run(folder: &Path, times: usize, container: bool) -> Result<Vec<f64>, Failure> {
    let config = Config { listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
    let server = Server::start(folder, &config)?;
    let secret = server.first_secret().context("a fresh folder has a first key")?.to_owned();
    let operator = at(server.target(), secret);
    operator.send(Call::post("/v1/prices").body(json!({ "prices": [{ "sku": "unit/cpu", "price": "1" }] })))?;
    let founded = operator.send(Call::post("/v1/tenants").body(json!({ "name": "measured" })))?.body;
    let money = json!({ "tenant": founded["tenant"]["id"], "payment": "all", "amount": "1000" });
    operator.send(Call::post("/v1/wallet/top-ups").body(money))?;
    joined(&operator)?;
    let tenant = at(server.target(), text_of(&founded["secret"]));
    let mut seconds = (0..times).map(|_| once(&tenant, container)).collect::<Result<Vec<f64>, _>>()?;
    seconds.sort_by(f64::total_cmp);
    Ok(seconds)
}

fn at(target: &Target, secret: String) -> Client {
    Client::new(Target { key: Some(secret), ..target.clone() }, Mode::Send, Language::English)
}

fn joined(operator: &Client) -> Result<(), Failure> {
    let until = Instant::now() + PATIENCE;
    while operator.send(Call::get("/v1/nodes"))?.body["items"].as_array().is_none_or(Vec::is_empty) {
        if Instant::now() >= until {
            return Err(anyhow!("this host did not join within {} s", PATIENCE.as_secs()).into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn once(tenant: &Client, container: bool) -> Result<f64, Failure> {
    let runtime = if container { json!({ "container": IMAGE }) } else { json!("process") };
    let workload = json!({ "runtime": runtime, "argv": ["sleep", "600"], "grace_ms": 100 });
    let size = json!({ "units": { "kind": "cpu", "amount": "0.1" } });
    let order = json!({ "size": size, "wait": false, "workload": workload });
    let begun = Instant::now();
    let lease = tenant.send(Call::post("/v1/leases").body(order))?.body;
    let path = format!("/v1/leases/{}", text_of(&lease["id"]));
    let ready = waited(tenant, &path, "running")?;
    let took = begun.elapsed().as_secs_f64();
    if ready["state"] != "running" {
        return Err(anyhow!("the lease is {}: {}", text_of(&ready["state"]), text_of(&ready["detail"])).into());
    }
    tenant.send(Call::post(format!("{path}/destroy")).body(json!({})))?;
    waited(tenant, &path, "ended")?;
    Ok(took)
}

fn waited(tenant: &Client, path: &str, state: &str) -> Result<Value, Failure> {
    let wait = format!("{}s", PATIENCE.as_secs());
    Ok(tenant.send(Call::get(path).query("wait", wait).query("state", state))?.body)
}
