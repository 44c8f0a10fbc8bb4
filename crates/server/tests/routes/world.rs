//! A small world behind the router: one pool, one simulated node with two cards and cores, prices, two tenants with money.

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Method, Request, StatusCode, header},
};
use engine::{Clock, Engine, Follower, Handle, Settings};
use http_body_util::BodyExt;
use journal::{Options, Sqlite, Synchronous};
use protocol::{DeviceReport, Join, Joined, NodeReport};
use serde_json::{Value, json};
use server::{App, Config};
use std::sync::Mutex;
use tempfile::TempDir;
use tower::ServiceExt;
use units::AgentId;

/// The world and everybody's secrets.
pub struct World {
    pub app: App,
    pub router: Router,
    pub operator: String,
    pub agent: String,
    pub agent_id: AgentId,
    pub joined: Joined,
    pub a: Tenant,
    pub b: Tenant,
    counter: Mutex<u64>,
    _folder: TempDir,
}

/// A tenant with one key per role.
#[derive(Clone)]
pub struct Tenant {
    pub id: String,
    pub project: String,
    pub admin: String,
    pub member: String,
    pub viewer: String,
}

/// What came back.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("{}: {}", self.status, self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The body, once the status is as expected.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        if self.bytes.is_empty() { Value::Null } else { self.json() }
    }

    /// The problem's code, once the status is as expected.
    #[track_caller]
    pub fn problem(&self, status: u16) -> String {
        let body = self.expect(status);
        assert_eq!(self.headers[header::CONTENT_TYPE], "application/problem+json");
        assert_eq!(body["request_id"], self.headers["x-request-id"].to_str().unwrap());
        body["code"].as_str().unwrap().to_owned()
    }
}

impl World {
    /// The furnished world; each tenant has 1000 CNY.
    pub async fn new() -> World {
        World::with_balance("1000").await
    }

    pub async fn with_balance(balance: &str) -> World {
        let mut world = World::open(|_| {}).await;
        world.furnish(balance).await;
        world
    }

    /// A world whose journal holds what `past` wrote, and nothing else but the operator's key.
    pub async fn open(past: impl FnOnce(&mut Engine)) -> World {
        crate::access_log::collect();
        let folder = tempfile::tempdir().unwrap();
        let options = Options { synchronous: Synchronous::Off, ..Options::default() };
        let store = Sqlite::open(folder.path(), &options).unwrap();
        let reader = || store.reader().unwrap();
        let (first, second, mut third) = (reader(), reader(), reader());
        let mut engine = Engine::open(Box::new(store), None, &mut third).unwrap();
        past(&mut engine);
        engine.commit().unwrap();
        let handle = Handle::spawn(engine, Settings { snapshots: None, reader: first, clock: Clock::start() });
        let views = Follower::spawn(&folder.path().join("views.db"), second, &handle).unwrap();
        let app = App::new(handle, views, Config { public_url: "http://127.0.0.1:1".into() });
        let router = server::router(app.clone());
        let (_, operator) = app.issue_operator_key("test").await.unwrap();
        let nobody = Tenant {
            id: String::new(),
            project: String::new(),
            admin: String::new(),
            member: String::new(),
            viewer: String::new(),
        };
        World {
            app,
            router,
            operator,
            agent: String::new(),
            agent_id: AgentId(0),
            joined: Joined { agent: AgentId(0), log: String::new(), nodes: Vec::new() },
            a: nobody.clone(),
            b: nobody,
            counter: Mutex::new(0),
            _folder: folder,
        }
    }

    async fn furnish(&mut self, balance: &str) {
        let operator = self.operator.clone();
        let agent = self.post(&operator, "/v1/agents", json!({ "name": "agent" })).await.expect(201);
        self.agent = agent["secret"].as_str().unwrap().to_owned();
        self.agent_id = agent["agent"].as_str().unwrap().parse().unwrap();
        let joined = self.post(&self.agent.clone(), "/v1/agent/join", serde_json::to_value(join()).unwrap()).await.expect(200);
        self.joined = serde_json::from_value(joined).unwrap();
        let prices = json!({ "prices": [
            { "sku": "card/SIM-80GB", "price": "20" }, { "sku": "unit/cpu", "price": "2" }, { "sku": "server/SIM-80GB", "price": "35" },
        ] });
        self.post(&operator, "/v1/prices", prices).await.expect(201);
        self.a = self.tenant("A", balance).await;
        self.b = self.tenant("B", balance).await;
        self.until_priced().await;
    }

    /// A list that was published holds from an instant on that is a few milliseconds away.
    async fn until_priced(&self) {
        for _ in 0..500 {
            let offers = self.get(&self.operator, "/v1/offers").await.expect(200);
            if offers["items"].as_array().unwrap().len() == 3 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        panic!("the prices never came into force");
    }

    pub async fn tenant(&self, name: &str, balance: &str) -> Tenant {
        let made = self.post(&self.operator, "/v1/tenants", json!({ "name": name })).await.expect(201);
        let id = made["tenant"]["id"].as_str().unwrap().to_owned();
        let project = made["project"].as_str().unwrap().to_owned();
        let admin = made["secret"].as_str().unwrap().to_owned();
        let top_up = json!({ "tenant": id, "payment": format!("first-{name}"), "amount": balance });
        self.post(&self.operator, "/v1/wallet/top-ups", top_up).await.expect(201);
        let member = self.key(&admin, "member").await;
        let viewer = self.key(&admin, "viewer").await;
        Tenant { id, project, admin, member, viewer }
    }

    /// A further key of this role.
    pub async fn key(&self, by: &str, role: &str) -> String {
        let made = self.post(by, "/v1/keys", json!({ "role": role, "name": role })).await.expect(201);
        made["secret"].as_str().unwrap().to_owned()
    }

    /// An order of one core.
    pub async fn order(&self, by: &str) -> String {
        self.post(by, "/v1/leases", core()).await.expect(201)["id"].as_str().unwrap().to_owned()
    }

    /// The state as it is now, to compare with what it is later.
    pub fn state(&self) -> rental::State {
        self.app.handle().read(Clone::clone)
    }

    /// Reports that a lease is usable.
    pub async fn start(&self, lease: &str) {
        self.report(lease, json!("ready")).await.expect(204);
    }

    /// Reports what was seen of a lease's newest attempt.
    pub async fn report(&self, lease: &str, phase: Value) -> Answer {
        let node = self.joined.nodes[0].node;
        let id = lease.parse().unwrap();
        let attempt = self.app.handle().read(|state| state.lease.get(id).map_or(1, |lease| lease.attempt));
        let seen = json!({ "lease": lease, "attempt": attempt, "node": node, "phase": phase, "ago_ms": 0 });
        self.post(&self.agent, "/v1/agent/report", json!({ "agent": self.agent_id, "observations": [seen] })).await
    }

    pub async fn get(&self, by: &str, path: &str) -> Answer {
        self.send((Method::GET, by), path, None, &[]).await
    }

    /// Posts under a fresh idempotency key.
    pub async fn post(&self, by: &str, path: &str, body: Value) -> Answer {
        let key = self.fresh();
        self.send((Method::POST, by), path, Some(body), &[("idempotency-key", &key)]).await
    }

    pub fn fresh(&self) -> String {
        let mut counter = self.counter.lock().unwrap();
        *counter += 1;
        format!("key-{counter}")
    }

    /// Sends a request with somebody's secret.
    pub async fn send(&self, (method, by): (Method, &str), path: &str, body: Option<Value>, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !by.is_empty() {
            request = request.header(header::AUTHORIZATION, format!("Bearer {by}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        self.raw(request.body(body).unwrap()).await
    }

    pub async fn raw(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: parts.status, headers: parts.headers, bytes }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.app.handle().shut_down();
    }
}

/// An order of one core.
pub fn core() -> Value {
    json!({ "size": { "units": { "kind": "cpu", "amount": "1" } }, "wait": false })
}

fn join() -> Join {
    let device = |index| DeviceReport {
        uuid: format!("SIM-{index}"),
        model: "SIM-80GB".into(),
        memory_mib: 81_920,
        tflops_milli: 312_000,
        max_shares: 8,
        index,
    };
    let node = NodeReport {
        name: "node".into(),
        cpu_milli: 64_000,
        memory_mib: 262_144,
        labels: vec!["simulated".into()],
        devices: vec![device(0), device(1)],
    };
    Join { version: protocol::VERSION, hostname: "host".into(), nodes: vec![node], capabilities: Vec::new() }
}
