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

#[tokio::test]
async fn a_trial_says_price_hold_and_place_or_why_not_and_writes_nothing() {
    let world = World::new().await;
    let before = world.state();
    let trial = async |body| world.send((Method::POST, &world.a.member), "/v1/leases?validate_only=true", Some(body), &[]).await;
    let fits = trial(json!({ "size": { "cards": 2 } })).await.expect(200);
    assert_eq!((&fits["state"], &fits["sku"]), (&json!("starting"), &json!("card/SIM-80GB")));
    assert_eq!((&fits["price_per_hour"]["amount"], &fits["hold"]["amount"]), (&json!("40.000000"), &json!("40.000000")));
    assert_eq!(fits["placement"][0]["devices"].as_array().unwrap().len(), 2);
    let never = trial(json!({ "size": { "cards": 3 } })).await.expect(200);
    assert_eq!((&never["state"], &never["refusal"]["code"]), (&json!(null), &json!("never_fits")));
    assert_eq!(never["refusal"]["alternatives"][0]["order"]["size"], json!({ "cards": 2 }));
    let dear = trial(json!({ "size": { "cards": 1 }, "max_price": "19.99" })).await.expect(200);
    assert_eq!(dear["refusal"]["code"], "too_dear");
    assert_eq!(trial(json!({ "size": { "cards": 0 } })).await.problem(422), "invalid");
    assert_eq!(world.state(), before);
}

#[tokio::test]
async fn a_waiting_lease_knows_its_place_and_why_and_what_would_fit() {
    let world = World::new().await;
    let member = &world.a.member;
    world.post(member, "/v1/leases", json!({ "size": { "cards": 1 }, "wait": false })).await.expect(201);
    let waiting = json!({ "size": { "cards": 2 }, "name": "large" });
    let waiting = world.post(member, "/v1/leases", waiting).await.expect(201);
    assert_eq!((&waiting["state"], &waiting["name"]), (&json!("queued"), &json!("large")));
    let lease = waiting["id"].as_str().unwrap();
    let shown = world.get(member, &format!("/v1/leases/{lease}")).await.expect(200);
    assert_eq!((&shown["place_in_queue"], &shown["name"]), (&json!(1), &json!("large")));
    let why = world.get(member, &format!("/v1/leases/{lease}/why")).await.expect(200);
    let text = why["sentences"].to_string();
    assert!(text.contains("there was no room") && text.contains("number 1 in the queue") && text.contains("1 full"), "{text}");
    assert_eq!(why["alternatives"][0]["order"]["size"], json!({ "cards": 1 }));
    let cancelled = world.post(member, &format!("/v1/leases/{lease}/stop"), json!({})).await.expect(200);
    assert_eq!((&cancelled["state"], &cancelled["reason"]), (&json!("ended"), &json!("cancelled")));
    assert_eq!(world.post(member, &format!("/v1/leases/{lease}/start"), json!({})).await.problem(409), "wrong_state");
}

#[tokio::test]
async fn a_stopped_lease_starts_again_extends_and_changes_its_size() {
    let world = World::new().await;
    let member = &world.a.member;
    let lease = world.order(member).await;
    let post = async |what: &str, body| world.post(member, &format!("/v1/leases/{lease}/{what}"), body).await;
    world.start(&lease).await;
    let larger = post("resize", json!({ "size": { "units": { "kind": "cpu", "amount": "2.5" } } })).await.expect(200);
    assert_eq!((&larger["price_per_hour"]["amount"], &larger["grants"][0]["cpu"]), (&json!("5.000000"), &json!("2.5")));
    let extended = post("extend", json!({ "until": "2100-01-01T00:00:00Z" })).await.expect(200);
    assert_eq!(extended["until"], "2100-01-01T00:00:00.000Z");
    assert_eq!(post("stop", json!({})).await.expect(200)["state"], "stopping");
    assert_eq!(post("stop", json!({})).await.expect(200)["state"], "stopping", "said twice, done once");
    assert_eq!(post("start", json!({})).await.problem(409), "wrong_state");
    world.report(&lease, json!("gone")).await.expect(204);
    assert_eq!(post("start", json!({ "wait": false })).await.expect(200)["state"], "starting");
}

#[tokio::test]
async fn a_list_comes_in_pages_and_by_state() {
    let world = World::new().await;
    let member = &world.a.member;
    let mut leases = Vec::new();
    for _ in 0..3 {
        leases.push(world.order(member).await);
    }
    world.start(&leases[1]).await;
    let ids = |page: &serde_json::Value| -> Vec<String> {
        page["items"].as_array().unwrap().iter().map(|lease| lease["id"].as_str().unwrap().to_owned()).collect()
    };
    let first = world.get(member, "/v1/leases?limit=2").await.expect(200);
    assert_eq!(ids(&first), leases[..2]);
    let token = first["next_page"].as_str().unwrap();
    let second = world.get(member, &format!("/v1/leases?limit=2&page_token={token}")).await.expect(200);
    assert_eq!((ids(&second), &second["next_page"]), (leases[2..].to_vec(), &json!(null)));
    let running = world.get(member, "/v1/leases?state=running").await.expect(200);
    assert_eq!(ids(&running), leases[1..2]);
    let seq = world.app.handle().head().size;
    let all = world.get(member, &format!("/v1/leases?state=all&at_least={seq}")).await.expect(200);
    assert_eq!(ids(&all), [leases[2].as_str(), &leases[1], &leases[0]]);
    assert_eq!(all["items"][1]["state"], "running");
}

#[tokio::test]
async fn the_cost_so_far_is_what_the_charge_will_be() {
    let world = World::new().await;
    let member = &world.a.member;
    let lease = world.order(member).await;
    world.start(&lease).await;
    let cost = async || {
        let shown = world.get(member, &format!("/v1/leases/{lease}")).await.expect(200);
        let at = |field: &str| shown[field].as_str().unwrap().parse::<units::Time>().unwrap();
        let ticks: i128 = shown["cost_so_far"]["ticks"].as_str().unwrap().parse().unwrap();
        // Two yuan an hour: 2,000,000 micro-yuan × 1000 thousandths × 90 ticks a millisecond.
        assert_eq!(ticks, i128::from(at("as_of").since(at("ready"))) * 2_000_000 * 1000 * 90);
        ticks
    };
    let (first, second) = (cost().await, cost().await);
    assert!(second >= first);
    let stopped = world.post(member, &format!("/v1/leases/{lease}/stop"), json!({})).await.expect(200);
    let charged: i128 = stopped["cost_so_far"]["ticks"].as_str().unwrap().parse().unwrap();
    assert!(charged >= second);
    let receipt = world.get(member, &format!("/v1/leases/{lease}/receipt?proof=false")).await.expect(200);
    assert_eq!(receipt["total"], stopped["cost_so_far"]);
    assert!(receipt["proof"].is_null());
}

#[tokio::test]
async fn who_says_again_what_was_done_is_answered_as_at_first_whatever_has_changed_since() {
    let world = World::new().await;
    let member = world.a.member.clone();
    let lease = world.order(&member).await;
    world.start(&lease).await;
    let path = format!("/v1/leases/{lease}/extend");
    let extend = async || {
        let body = json!({ "until": "2099-01-01T00:00:00Z" });
        world.send((Method::POST, &member), &path, Some(body), &[("idempotency-key", "once")]).await
    };
    let first = extend().await;
    first.expect(200);
    // The end that it has already, then another one: the repeat of what changed nothing does not change it now.
    let until = async |key: &str, until: &str| {
        let body = json!({ "until": until });
        let headers = [("idempotency-key", key)];
        world.send((Method::POST, &member), &path, Some(body), &headers).await.expect(200)["until"].clone()
    };
    until("the same", "2099-01-01T00:00:00Z").await;
    let moved = until("moved", "2098-01-01T00:00:00Z").await;
    assert_eq!(until("the same", "2099-01-01T00:00:00Z").await, moved);
    world.post(&member, &format!("/v1/leases/{lease}/destroy"), json!({})).await.expect(200);
    world.report(&lease, json!("gone")).await.expect(204);
    let again = extend().await;
    assert_eq!(again.expect(200)["state"], "ended");
    assert_eq!(again.headers["x-suanzu-seq"], first.headers["x-suanzu-seq"]);
    let new = world.post(&member, &path, json!({ "until": null })).await;
    assert_eq!(new.problem(409), "wrong_state");
    let destroy = format!("/v1/leases/{lease}/destroy");
    let other = world.send((Method::POST, &member), &destroy, Some(json!({})), &[("idempotency-key", "once")]).await;
    assert_eq!(other.problem(409), "key_reused");
    let foreign = world.send((Method::POST, &world.b.member), &path, Some(json!({ "until": null })), &[]).await;
    assert_eq!(foreign.problem(404), "not_found");
}

#[tokio::test]
async fn keys_of_two_projects_meet_neither_each_others_orders_nor_what_the_log_says_of_them() {
    let world = World::new().await;
    let second = world.post(&world.a.admin, "/v1/projects", json!({ "name": "second" })).await.expect(201);
    let key = async |project: &str| {
        let body = json!({ "role": "member", "name": "of a project", "project": project });
        world.post(&world.a.admin, "/v1/keys", body).await.expect(201)["secret"].as_str().unwrap().to_owned()
    };
    let (one, two) = (key(&world.a.project).await, key(second["id"].as_str().unwrap()).await);
    let order = async |by: &str| {
        let answer = world.send((Method::POST, by), "/v1/leases", Some(core()), &[("idempotency-key", "same")]).await;
        answer.expect(201)["id"].as_str().unwrap().to_owned()
    };
    let (first, other) = (order(&one).await, order(&two).await);
    assert_ne!(first, other);
    assert_eq!(order(&one).await, first);
    assert_eq!(world.get(&two, &format!("/v1/leases/{other}")).await.expect(200)["project"], second["id"]);

    let seq = world.app.handle().head().size;
    let receipt = async |by: &str| world.get(by, &format!("/v1/leases/{first}/receipt?at_least={seq}")).await.expect(200);
    assert!(receipt(&one).await["proof"].is_null());
    assert!(receipt(&world.a.viewer).await["proof"].is_object());
}
