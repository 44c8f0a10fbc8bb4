//! `/v1/leases`.

use crate::world::{World, core};
use axum::http::Method;
use serde_json::json;

#[tokio::test]
async fn a_lease_goes_from_order_to_receipt() {
    let world = World::new().await;
    let member = world.a.member.clone();
    let ordered = world.post(&member, "/v1/leases", core()).await;
    let body = ordered.expect(201);
    assert_eq!(body["state"], "starting");
    assert_eq!(body["price_per_hour"]["amount"], "2.000000");
    assert_eq!(body["cost_so_far"]["ticks"], "0");
    assert_eq!(ordered.headers["x-suanzu-seq"].to_str().unwrap(), body["seq"].to_string());
    let lease = body["id"].as_str().unwrap();

    world.start(lease).await;
    let running = world.get(&member, &format!("/v1/leases/{lease}?wait=5s&state=running")).await.expect(200);
    assert_eq!(running["state"], "running");
    assert!(running["funded_until"].is_string());

    let stopped = world.post(&member, &format!("/v1/leases/{lease}/destroy"), json!({})).await.expect(200);
    assert_eq!(stopped["state"], "stopping");
    world.report(lease, json!("gone")).await.expect(204);
    let ended = world.get(&member, &format!("/v1/leases/{lease}?wait=5s&state=ended")).await.expect(200);
    assert_eq!((&ended["state"], &ended["reason"]), (&json!("ended"), &json!("destroyed")));

    let receipt = world.get(&member, &format!("/v1/leases/{lease}/receipt")).await.expect(200);
    assert_eq!(receipt["total"], ended["cost_so_far"]);
    assert_eq!(receipt["proof"]["bundle"]["format"], "suanzu/bundle@1");
    let why = world.get(&member, &format!("/v1/leases/{lease}/why")).await.expect(200);
    assert!(why["sentences"][0].as_str().unwrap().contains("you ended it for good"));
    let again = world.post(&member, &format!("/v1/leases/{lease}/destroy"), json!({})).await.expect(200);
    assert_eq!(again["state"], "ended");
    let listed = world.get(&member, "/v1/leases?state=ended").await.expect(200);
    assert_eq!(listed["items"][0]["id"], lease);
}

#[tokio::test]
async fn an_order_without_a_promise_or_with_another_wish_under_it_changes_nothing() {
    let world = World::new().await;
    let member = world.a.member.clone();
    let seq = world.app.handle().head().size;
    let bare = world.send((Method::POST, &member), "/v1/leases", Some(core()), &[]).await;
    assert_eq!(bare.problem(422), "invalid");
    assert_eq!(world.app.handle().head().size, seq);

    let first = world.send((Method::POST, &member), "/v1/leases", Some(core()), &[("idempotency-key", "k")]).await;
    let again = world.send((Method::POST, &member), "/v1/leases", Some(core()), &[("idempotency-key", "k")]).await;
    assert_eq!((first.status, &first.bytes), (again.status, &again.bytes));
    assert_eq!(world.app.handle().head().size, seq + 1);
    let other = json!({ "size": { "units": { "kind": "cpu", "amount": "2" } } });
    let other = world.send((Method::POST, &member), "/v1/leases", Some(other), &[("idempotency-key", "k")]).await;
    assert_eq!(other.problem(409), "key_reused");
    assert_eq!(world.app.handle().head().size, seq + 1);
}
