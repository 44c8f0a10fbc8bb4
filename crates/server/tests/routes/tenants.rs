//! `/v1/tenants`, `/v1/projects`, `/v1/users`, `/v1/keys`.

use crate::world::{World, core};
use axum::http::Method;
use serde_json::json;

#[tokio::test]
async fn a_repeated_foundation_makes_one_tenant_and_shows_its_secret_once() {
    let world = World::new().await;
    let found = async || {
        let headers = [("idempotency-key", "found-1")];
        world.send((Method::POST, &world.operator), "/v1/tenants", Some(json!({ "name": "C" })), &headers).await.expect(201)
    };
    let first = found().await;
    let entries = world.app.handle().head().size;
    let again = found().await;
    assert_eq!(world.app.handle().head().size, entries);
    assert_eq!(first["tenant"]["id"], again["tenant"]["id"]);
    assert!(first["secret"].is_string() && again["secret"].is_null());
    let listed = world.get(&world.operator, "/v1/tenants?limit=2").await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    let token = listed["next_page"].as_str().unwrap();
    let rest = world.get(&world.operator, &format!("/v1/tenants?page_token={token}")).await.expect(200);
    assert_eq!((&rest["items"][0]["name"], &rest["next_page"]), (&json!("C"), &json!(null)));
}

#[tokio::test]
async fn a_closed_tenant_orders_nothing_until_it_is_opened() {
    let world = World::new().await;
    let path = |what: &str| format!("/v1/tenants/{}/{what}", world.a.id);
    assert_eq!(world.post(&world.operator, &path("close"), json!({})).await.expect(200)["closed"], true);
    assert_eq!(world.post(&world.a.member, "/v1/leases", core()).await.problem(409), "wrong_state");
    world.post(&world.operator, &path("open"), json!({})).await.expect(200);
    world.post(&world.a.member, "/v1/leases", core()).await.expect(201);
}

#[tokio::test]
async fn limits_are_refused_with_their_own_codes() {
    let world = World::new().await;
    let path = format!("/v1/tenants/{}/limits", world.a.id);
    let limits = json!({ "cards": "1", "leases": 2, "spend": "30" });
    world.send((Method::PUT, &world.operator), &path, Some(limits), &[("if-match", "*")]).await.expect(200);
    let order = async |size| world.post(&world.a.member, "/v1/leases", json!({ "size": size, "wait": false })).await;
    assert_eq!(order(json!({ "cards": 2 })).await.problem(409), "limit_reached");
    order(json!({ "cards": 1 })).await.expect(201);
    assert_eq!(order(json!({ "units": { "kind": "cpu", "amount": "6" } })).await.problem(402), "spend_limit_reached");
    order(json!({ "units": { "kind": "cpu", "amount": "1" } })).await.expect(201);
    assert_eq!(order(json!({ "units": { "kind": "cpu", "amount": "1" } })).await.problem(409), "limit_reached");
}

#[tokio::test]
async fn the_operator_acts_for_a_tenant_whom_he_names() {
    let world = World::new().await;
    let bare = world.post(&world.operator, "/v1/leases", core()).await;
    assert_eq!(bare.problem(400), "invalid");
    let lease = world.post(&world.operator, &format!("/v1/leases?tenant={}", world.a.id), core()).await.expect(201);
    assert_eq!(lease["tenant"], world.a.id);
    assert_eq!(world.get(&world.operator, "/v1/leases").await.expect(200)["items"].as_array().unwrap().len(), 1);
    let none = world.get(&world.operator, &format!("/v1/leases?tenant={}", world.b.id)).await.expect(200);
    assert!(none["items"].as_array().unwrap().is_empty());
    let key =
        world.post(&world.operator, &format!("/v1/keys?tenant={}", world.b.id), json!({ "role": "viewer" })).await.expect(201);
    assert_eq!(world.get(key["secret"].as_str().unwrap(), "/v1/whoami").await.expect(200)["tenant"], world.b.id);
    assert_eq!(world.get(&world.operator, "/v1/whoami").await.expect(200)["role"], "operator");
}

#[tokio::test]
async fn an_admin_issues_no_key_that_outranks_him() {
    let world = World::new().await;
    for role in ["operator", "agent"] {
        assert_eq!(world.post(&world.a.admin, "/v1/keys", json!({ "role": role })).await.problem(422), "invalid");
    }
    let listed = world.get(&world.a.admin, "/v1/keys").await.expect(200);
    assert!(listed["items"].as_array().unwrap().iter().all(|key| key.get("secret").is_none()));
    assert_eq!(listed["items"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn keys_and_people_come_in_pages_too() {
    let world = World::new().await;
    let admin = &world.a.admin;
    for name in ["U", "V", "W"] {
        world.post(admin, "/v1/users", json!({ "name": name, "role": "viewer" })).await.expect(201);
    }
    for (path, field) in [("/v1/keys", "role"), ("/v1/users", "name"), ("/v1/projects", "id")] {
        let first = world.get(admin, &format!("{path}?limit=1")).await.expect(200);
        assert_eq!(first["items"].as_array().unwrap().len(), 1);
        let Some(token) = first["next_page"].as_str() else {
            assert_eq!(path, "/v1/projects", "there is one only");
            continue;
        };
        let second = world.get(admin, &format!("{path}?limit=1&page_token={token}")).await.expect(200);
        assert_ne!(first["items"][0][field], second["items"][0][field]);
        assert_eq!(world.get(&world.b.admin, &format!("{path}?page_token={token}")).await.problem(400), "invalid");
    }
}
