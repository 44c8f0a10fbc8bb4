//! `/v1/agent`: what an agent asks and says.

use crate::world::{World, core};
use protocol::{Changes, Generation, Poll};
use serde_json::{Value, json};
use std::time::Duration;
use units::{AgentId, Phase, Wanted};

async fn poll(world: &World, generation: Generation, digest: u64, wait: &str) -> Changes {
    let poll = Poll { agent: world.agent_id, generation, digest, clock: world.app.handle().now() };
    let answer = world.post(&world.agent, &format!("/v1/agent/poll?wait={wait}"), serde_json::to_value(poll).unwrap()).await;
    serde_json::from_value(answer.expect(200)).unwrap()
}

#[tokio::test]
async fn an_agent_hears_what_to_run_and_until_when_and_only_what_is_new() {
    let world = World::with_balance("4").await;
    let empty = poll(&world, Generation::NONE, 0, "0s").await;
    assert!(empty.full && empty.assignments.is_empty());
    let mut order = core();
    order["workload"] = json!({ "argv": ["sleep", "1"], "env": { "A": "b" } });
    let lease = world.post(&world.a.member, "/v1/leases", order).await.expect(201);
    let lease = lease["id"].as_str().unwrap();
    let news = poll(&world, empty.generation, empty.digest, "10s").await;
    assert!(!news.full && news.generation > empty.generation);
    let [body] = &news.assignments[..] else { panic!("{news:?}") };
    assert_eq!((body.assignment.lease.to_string().as_str(), body.assignment.wanted), (lease, Wanted::Run));
    assert_eq!(body.workload.as_ref().unwrap().argv, ["sleep", "1"]);
    let own = world.get(&body.env["SUANZU_KEY"], &format!("/v1/leases/{lease}")).await.expect(200);
    assert_eq!(own["id"], lease);

    // Usable: 4 yuan at 2 an hour end in two hours.
    world.start(lease).await;
    let moved = poll(&world, news.generation, news.digest, "10s").await;
    let stop = moved.deadlines[0].stop_in_ms.unwrap();
    assert!(moved.assignments.is_empty() && (7_190_000..=7_200_000).contains(&stop), "{moved:?}");
    // Money comes in: the deadline moves.
    let top_up = json!({ "tenant": world.a.id, "payment": "more", "amount": "2" });
    world.post(&world.operator, "/v1/wallet/top-ups", top_up).await.expect(201);
    let later = poll(&world, moved.generation, moved.digest, "10s").await;
    assert!(later.deadlines[0].stop_in_ms.unwrap() > stop + 3_500_000, "{later:?}");
    // An answer that was lost on the way is said again.
    let again = poll(&world, moved.generation, moved.digest, "10s").await;
    assert_eq!(again.deadlines.len(), 1);
    // Nothing new: the poll waits and says nothing.
    let quiet = poll(&world, again.generation, again.digest, "100ms").await;
    assert!(!quiet.full && quiet.assignments.is_empty() && quiet.deadlines.is_empty());
    // An agent that holds something else gets all of it.
    let whole = poll(&world, quiet.generation, quiet.digest ^ 1, "10s").await;
    assert!(whole.full && whole.assignments.len() == 1);
}

#[tokio::test]
async fn a_card_comes_back_once_its_agent_has_measured_it_clean() {
    let world = World::new().await;
    let order = json!({ "size": { "cards": 2 }, "wait": false });
    let lease = world.post(&world.a.member, "/v1/leases", order.clone()).await.expect(201)["id"].as_str().unwrap().to_owned();
    world.start(&lease).await;
    world.post(&world.a.member, &format!("/v1/leases/{lease}/destroy"), json!({})).await.expect(200);
    world.report(&lease, json!("gone")).await.expect(204);
    let refused = world.post(&world.a.member, "/v1/leases", order.clone()).await;
    assert_eq!(refused.problem(409), "no_capacity");
    assert_eq!(refused.json()["reasons"][0], "1 not yet clean");
    let told = poll(&world, Generation::NONE, 0, "0s").await;
    assert_eq!(told.measure_clean.len(), 2);
    let report = json!({ "agent": world.agent_id, "generation": told.generation, "clean": told.measure_clean });
    world.post(&world.agent, "/v1/agent/report", report).await.expect(204);
    world.post(&world.a.member, "/v1/leases", order).await.expect(201);
}

#[tokio::test]
async fn what_a_node_says_of_its_start_and_its_faults_is_shown() {
    let world = World::new().await;
    let lease = world.order(&world.a.member).await;
    let starting = serde_json::to_value(Phase::Starting("pulling image 43 %".into())).unwrap();
    let entries = world.app.handle().head().size;
    world.report(&lease, starting).await.expect(204);
    assert_eq!(world.app.handle().head().size, entries, "progress is not journaled");
    let shown = world.get(&world.a.viewer, &format!("/v1/leases/{lease}")).await.expect(200);
    assert_eq!(shown["progress"], "pulling image 43 %");
    let device = world.joined.nodes[0].devices[0].device;
    let report = json!({ "agent": world.agent_id, "faults": [{ "device": device, "reason": "fell off the bus" }] });
    world.post(&world.agent, "/v1/agent/report", report).await.expect(204);
    let node = world.get(&world.operator, "/v1/nodes/node-1").await.expect(200);
    assert_eq!(node["devices"][0]["offered"], false);
    assert!(node["last_heard"].is_string());
}

#[tokio::test]
async fn an_agent_speaks_for_itself_and_its_own_nodes_only() {
    let world = World::new().await;
    let lease = world.order(&world.a.member).await;
    let other = world.post(&world.operator, "/v1/agents", json!({ "name": "other" })).await.expect(201);
    let (secret, id) = (other["secret"].as_str().unwrap(), &other["agent"]);
    let before = world.state();
    let node = world.joined.nodes[0].node;
    let seen = json!({ "lease": lease, "attempt": 1, "node": node, "phase": "ready", "ago_ms": 0 });
    let report = async |agent: &Value, more: Value| {
        let mut body = json!({ "agent": agent });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.post(secret, "/v1/agent/report", body).await
    };
    assert_eq!(report(id, json!({ "observations": [seen] })).await.problem(404), "not_found");
    assert_eq!(report(id, json!({ "clean": ["device-1"] })).await.problem(404), "not_found");
    assert_eq!(report(id, json!({ "faults": [{ "device": "device-1", "reason": "x" }] })).await.problem(404), "not_found");
    assert_eq!(report(&json!(world.agent_id), json!({})).await.problem(403), "forbidden");
    let poll = Poll { agent: world.agent_id, generation: Generation::NONE, digest: 0, clock: world.app.handle().now() };
    let foreign = world.post(secret, "/v1/agent/poll", serde_json::to_value(poll).unwrap()).await;
    assert_eq!(foreign.problem(403), "forbidden");
    assert_eq!(world.state(), before);
}

#[tokio::test]
async fn joining_again_keeps_every_id_and_other_cards_are_refused() {
    let world = World::new().await;
    let node = |uuid: &str| {
        json!({ "version": protocol::VERSION, "hostname": "h", "nodes": [{ "name": "n", "cpu_milli": 1000, "memory_mib": 1024,
            "devices": [{ "uuid": uuid, "model": "M", "memory_mib": 8, "tflops_milli": 0, "max_shares": 1, "index": 0 }] }] })
    };
    let join = async |body: Value| world.post(&world.agent, "/v1/agent/join", body).await;
    let first = join(node("U-1")).await.expect(200);
    let entries = world.app.handle().head().size;
    assert_eq!(join(node("U-1")).await.expect(200), first);
    assert_eq!(world.app.handle().head().size, entries);
    assert_eq!(join(node("U-2")).await.problem(409), "exists");
    let mut old = node("U-1");
    old["version"] = json!(99);
    assert_eq!(join(old).await.problem(409), "version_mismatch");
    assert_eq!(first["agent"], json!(AgentId(1)));
}

#[tokio::test]
async fn a_poll_that_waits_ends_when_the_server_does() {
    let world = World::new().await;
    let empty = poll(&world, Generation::NONE, 0, "0s").await;
    let app = world.app.clone();
    let closing = async {
        tokio::task::yield_now().await;
        app.close();
    };
    let waiting = tokio::time::timeout(Duration::from_secs(10), poll(&world, empty.generation, empty.digest, "50s"));
    let (answer, ()) = tokio::join!(waiting, closing);
    assert!(answer.expect("it does not wait on").assignments.is_empty());
}
