//! What the demo needs before anybody can rent: a server, prices, a tenant with money.

use crate::{
    app::App,
    client::{Call, Client, Mode, Target},
    commands::{offer, price, wallet},
    failure::Failure,
    language::phrases as p,
    output::{Format, Screen, text_of},
    serve::{Config, Server, Simulated},
};
use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};
use std::{
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// CNY an hour. On demand a card costs more than in a whole server: 57.60 is 8 × 7.20.
const PRICES: [(&str, &str); 8] = [
    ("card/A100-80GB", "15"),
    ("card/H100-80GB", "30"),
    ("card/L40S", "10"),
    ("card/T4", "2.4"),
    ("server/A100-80GB", "57.6"),
    ("server/H100-80GB", "192"),
    ("unit/cpu", "0.36"),
    ("unit/tflops", "0.05"),
];

/// Enough for a month of the demo's lease.
const MONEY: &str = "500";
/// An agent joins within a moment; a machine under load may take longer.
const JOIN: Duration = Duration::from_secs(30);
/// What is left running at the end has so long to go.
const LAST: &str = "20s";

/// The demo's server and who is on it.
pub struct World {
    server: Option<Server>,
    /// The fresh folder; `None` where one was named, which stays.
    fresh: Option<TempDir>,
    /// The operator at the server.
    pub operator: App,
    /// The tenant at the server.
    pub tenant: App,
    /// The pool of this machine.
    pub pool: String,
}

impl World {
    /// Starts the server in a fresh folder on a free port, unless told otherwise, and furnishes it.
    pub fn build(listen: Option<SocketAddr>, app: &App) -> Result<World, Failure> {
        let fresh = app.data.is_none().then(|| tempfile::Builder::new().prefix("suanzu-demo-").tempdir()).transpose()?;
        let folder = fresh.as_ref().map(TempDir::path).or(app.data.as_deref()).context("a folder is fresh or named")?;
        let config = Config {
            listen: listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0))),
            simulated: Simulated { enabled: true },
            ..Config::default()
        };
        let server = Server::start(folder, &config)?;
        let secret = server.first_secret().ok_or_else(|| {
            anyhow!("{} holds a journal already; the demo begins a new one: name another folder", folder.display())
        })?;
        let operator = at(app, server.target(), secret);
        operator.send(price::publish(&PRICES.map(|(sku, price)| (sku.into(), price.into())), None))?;
        let founded = operator.send(Call::post("/v1/tenants").body(json!({ "name": "demo" })))?.body;
        let named = text_of(&founded["tenant"]["id"]).parse().map_err(anyhow::Error::from)?;
        operator.send(wallet::top_up(named, &wallet::Payment { amount: MONEY.into(), payment: "demo".into() }))?;
        let tenant = at(app, server.target(), &text_of(&founded["secret"]));
        let pool = joined(&operator)?;
        Ok(World { server: Some(server), fresh, operator, tenant, pool })
    }

    fn server(&self) -> &Server {
        self.server.as_ref().expect("it runs until `end` takes it")
    }

    /// Where the server listens.
    pub fn url(&self) -> String {
        self.server().target().url.clone()
    }

    /// The data folder.
    pub fn folder(&self) -> &Path {
        self.server().data()
    }

    /// A link that signs a browser in once.
    pub fn sign_in_link(&self) -> String {
        self.server().sign_in_link().unwrap_or_default()
    }

    /// Lists what can be rented, simulated or not.
    pub fn show_offers(&self) -> Result<(), Failure> {
        let offers = self.tenant.send(Call::get("/v1/offers"))?.body;
        self.tenant.screen.list(&offers, offer::COLUMNS)
    }

    /// Ends every lease that is left, stops the server, and removes a fresh folder.
    pub fn end(mut self) -> Result<(), Failure> {
        let left = self.operator.send(Call::get("/v1/leases"))?.body;
        for lease in left["items"].as_array().into_iter().flatten() {
            let path = format!("/v1/leases/{}", text_of(&lease["id"]));
            self.operator.send(Call::post(format!("{path}/destroy")).body(json!({})))?;
            self.operator.send(Call::get(path).query("wait", LAST).query("state", "ended"))?;
        }
        drop(self.server.take());
        match self.fresh.take() {
            Some(folder) => Ok(folder.close()?),
            None => Ok(()),
        }
    }
}

/// Somebody at this server. The demo is for people, so it shows tables wherever it writes.
fn at(app: &App, target: &Target, secret: &str) -> App {
    let target = Target { key: Some(secret.into()), ..target.clone() };
    let people = Screen { format: Format::Table, ids_only: false, ..app.screen.clone() };
    let client = Client::new(target, Mode::Send, people.language);
    app.before(people, client)
}

/// Waits until this machine and the simulated servers are on offer; gives the pool of this machine.
fn joined(operator: &App) -> Result<String, Failure> {
    let until = Instant::now() + JOIN;
    loop {
        let nodes = operator.send(Call::get("/v1/nodes"))?.body;
        let nodes: Vec<&Value> = nodes["items"].as_array().into_iter().flatten().collect();
        let simulated = |node: &&&Value| node["labels"].as_array().is_some_and(|labels| labels.contains(&json!("simulated")));
        let real = nodes.iter().find(|node| !simulated(node)).map(|node| text_of(&node["pool"]));
        if let Some(pool) = real.filter(|_| nodes.iter().any(|node| simulated(&node))) {
            return Ok(pool);
        }
        if Instant::now() >= until {
            return Err(Failure::TimedOut(operator.screen.language.say(&p::DEMO_NOBODY_JOINED).into()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
