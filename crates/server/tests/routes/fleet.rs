//! `/v1/pools`, `/v1/nodes`, `/v1/devices`, `/v1/offers`, `/v1/prices`.

use crate::world::World;
use serde_json::json;

#[tokio::test]
async fn an_offer_says_what_there_is_what_is_free_and_what_it_costs() {
    let world = World::new().await;
    let order = json!({ "size": { "share": { "compute": 250, "memory_mib": 20480 } }, "wait": false });
    world.post(&world.a.member, "/v1/leases", order).await.expect(201);
    let offers = world.get(&world.a.viewer, "/v1/offers").await.expect(200);
    let card = offers["items"].as_array().unwrap().iter().find(|offer| offer["sku"] == "card/SIM-80GB").unwrap();
    assert_eq!((&card["total"], &card["free"], &card["simulated"]), (&json!("2"), &json!("1"), &json!(true)));
    assert_eq!((&card["price_per_hour"]["amount"], &card["memory_mib"]), (&json!("20.000000"), &json!(81_920)));
    assert_eq!(card["smallest_share"], json!({ "compute": 100, "memory_mib": 4096 }));
    let cores = offers["items"].as_array().unwrap().iter().find(|offer| offer["sku"] == "unit/cpu").unwrap();
    assert_eq!((&cores["total"], &cores["free"]), (&json!("64"), &json!("64")));
}

#[tokio::test]
async fn a_drained_node_takes_nothing_and_a_returned_one_does() {
    let world = World::new().await;
    let order = json!({ "size": { "servers": 1 }, "wait": false });
    let post = async |path: &str| world.post(&world.operator, path, json!({})).await.expect(200);
    assert_eq!(post("/v1/nodes/node-1/drain").await["mark"], "draining");
    assert_eq!(world.post(&world.a.member, "/v1/leases", order.clone()).await.problem(409), "no_capacity");
    assert_eq!(post("/v1/nodes/node-1/return").await["mark"], "offered");
    assert_eq!(post("/v1/devices/device-1/drain").await["devices"][0]["offered"], false);
    assert_eq!(world.post(&world.a.member, "/v1/leases", order.clone()).await.problem(409), "no_capacity");
    assert_eq!(post("/v1/devices/device-1/return").await["devices"][0]["offered"], true);
    world.post(&world.a.member, "/v1/leases", order).await.expect(201);
    let removed = world.post(&world.operator, "/v1/nodes/node-1/remove", json!({})).await;
    assert_eq!(removed.problem(409), "wrong_state");
    let listed = world.get(&world.operator, "/v1/nodes").await.expect(200);
    assert_eq!(listed["items"][0]["leases"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_lost_node_ends_its_leases_at_the_last_proof_of_their_service() {
    let world = World::new().await;
    let lease = world.order(&world.a.member).await;
    world.start(&lease).await;
    world.post(&world.operator, "/v1/nodes/node-1/lose", json!({})).await.expect(200);
    let shown = world.get(&world.a.viewer, &format!("/v1/leases/{lease}")).await.expect(200);
    assert_eq!((&shown["state"], &shown["reason"]), (&json!("stopping"), &json!("lost")));
    assert_eq!(shown["cost_so_far"]["ticks"], "0", "nobody saw it serve");
}

#[tokio::test]
async fn a_price_to_come_stands_in_the_history_and_one_in_force_cannot_be_rewritten() {
    let world = World::new().await;
    let later = world.app.handle().now().plus_ms(3_600_000);
    let list = |effective| json!({ "effective": effective, "prices": [{ "sku": "unit/cpu", "price": "3" }] });
    let published = world.post(&world.operator, "/v1/prices", list(json!(later))).await.expect(201);
    assert_eq!(published["effective"], json!(later));
    let history = world.get(&world.a.viewer, "/v1/prices/history?sku=unit/cpu").await.expect(200);
    let amounts: Vec<_> = history["items"].as_array().unwrap().iter().map(|p| &p["price_per_hour"]["amount"]).collect();
    assert_eq!(amounts, ["2.000000", "3.000000"]);
    let prices = world.get(&world.a.viewer, "/v1/prices").await;
    assert!(prices.headers.contains_key("etag"));
    let past = list(json!("2001-01-01T00:00:00Z"));
    assert_eq!(world.post(&world.operator, "/v1/prices", past).await.problem(409), "price_in_force");
    let negative = json!({ "prices": [{ "sku": "unit/cpu", "price": "-3" }] });
    assert_eq!(world.post(&world.operator, "/v1/prices", negative).await.problem(422), "invalid");
}

#[tokio::test]
async fn a_pool_of_one_name_is_made_once() {
    let world = World::new().await;
    let made = world.post(&world.operator, "/v1/pools", json!({ "name": "east" })).await.expect(201);
    let again = world.post(&world.operator, "/v1/pools", json!({ "name": "east" })).await.expect(201);
    assert_eq!(made, again);
    let pools = world.get(&world.operator, "/v1/pools").await.expect(200);
    assert_eq!(pools["items"].as_array().unwrap().len(), 2);
}
