//! What cannot be understood is refused by name, and changes nothing.

use crate::world::{Answer, World, core};
use axum::{
    body::Body,
    http::{Method, Request, header},
};
use serde_json::json;

async fn posted(world: &World, media: &str, body: impl Into<Body>) -> Answer {
    let request = Request::post("/v1/leases")
        .header(header::AUTHORIZATION, format!("Bearer {}", world.a.member))
        .header("idempotency-key", world.fresh())
        .header(header::CONTENT_TYPE, media);
    world.raw(request.body(body.into()).unwrap()).await
}

#[tokio::test]
async fn a_body_that_cannot_be_understood_changes_nothing() {
    let world = World::new().await;
    let before = world.state();
    let json = "application/json";
    assert_eq!(posted(&world, json, "{\"size\":").await.problem(400), "malformed");
    assert_eq!(posted(&world, json, r#"{"size":{"cards":1}}{}"#).await.problem(400), "malformed");
    assert_eq!(posted(&world, "text/plain", core().to_string()).await.problem(415), "unsupported_media_type");
    assert_eq!(posted(&world, json, vec![b' '; 256 * 1024 + 1]).await.problem(413), "body_too_large");
    let unknown = posted(&world, json, r#"{"size":{"cards":1},"colour":"red"}"#).await;
    assert_eq!(unknown.problem(422), "invalid");
    assert_eq!(unknown.json()["errors"][0]["pointer"], "/colour");
    let deep = posted(&world, json, r#"{"size":{"share":{"compute":"much","memory_mib":1}}}"#).await;
    assert_eq!(deep.json()["errors"][0]["pointer"], "/size/share/compute");
    let missing = posted(&world, json, r#"{"models":["A"]}"#).await;
    assert!(missing.json()["detail"].as_str().unwrap().contains("size"));
    let wrong = [
        json!({ "size": { "units": { "kind": "cpu", "amount": "1.0001" } } }),
        json!({ "size": { "units": { "kind": "cpu", "amount": "-1" } } }),
        json!({ "size": { "cards": 0 } }),
        json!({ "size": { "cards": 1 }, "until": "2001-01-01T00:00:00Z" }),
        json!({ "size": { "cards": 1 }, "until": "tomorrow" }),
        json!({ "size": { "cards": 1 }, "max_price": "1.1234567" }),
        json!({ "size": { "cards": 1 }, "max_price": "-1" }),
        json!({ "size": { "cards": 1 }, "pool": "lease-1" }),
    ];
    for body in wrong {
        assert_eq!(posted(&world, json, body.to_string()).await.problem(422), "invalid", "{body}");
    }
    assert_eq!(world.state(), before);
    let tomorrow = posted(&world, json, r#"{"size":{"cards":1},"until":"tomorrow"}"#).await;
    let detail = "write an instant as RFC 3339 does, such as 2026-05-01T09:00:00Z";
    assert_eq!(tomorrow.json()["errors"][0], json!({ "pointer": "/until", "detail": detail }));
}

#[tokio::test]
async fn a_query_or_path_that_cannot_be_understood_is_refused() {
    let world = World::new().await;
    let viewer = &world.a.viewer;
    for path in [
        "/v1/leases?colour=red",
        "/v1/leases?limit=0",
        "/v1/leases?limit=1001",
        "/v1/leases?state=happy",
        "/v1/leases?page_token=nonsense",
        "/v1/leases?at_least=soon",
        "/v1/usage?from=yesterday",
        "/v1/usage?group_by=colour",
        "/v1/prices/history?sku=car/x",
    ] {
        assert_eq!(world.get(viewer, path).await.problem(400), "invalid", "{path}");
    }
    for (query, name) in [("usage?zone=UTC&from=yesterday", "?from"), ("leases?limit=many", "?limit"), ("leases?a%20b=1", "?a b")]
    {
        let answer = world.get(viewer, &format!("/v1/{query}")).await;
        assert_eq!(answer.problem(400), "invalid", "{query}");
        assert_eq!(answer.json()["errors"][0]["pointer"], name, "{query}");
    }
    for path in ["/v1/leases/1", "/v1/leases/lease-01", "/v1/leases/node-1", "/v1/nothing", "/v1/leases/%00"] {
        assert_eq!(world.get(viewer, path).await.problem(404), "not_found", "{path}");
    }
    let answer = world.send((Method::DELETE, viewer), "/v1/offers", None, &[]).await;
    assert_eq!(answer.problem(405), "method_not_allowed");
}

#[tokio::test]
async fn the_scheme_of_a_key_is_read_in_either_case() {
    let world = World::new().await;
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let request = Request::get("/v1/whoami").header(header::AUTHORIZATION, format!("{scheme} {}", world.a.viewer));
        world.raw(request.body(Body::empty()).unwrap()).await.expect(200);
    }
}

#[tokio::test]
async fn what_is_replaced_as_a_whole_must_be_known_first() {
    let world = World::new().await;
    let path = format!("/v1/tenants/{}/limits", world.a.id);
    let put = async |tag: Option<&str>, leases: u32| {
        let headers: Vec<(&str, &str)> = tag.map(|tag| ("if-match", tag)).into_iter().collect();
        world.send((Method::PUT, &world.operator), &path, Some(json!({ "leases": leases })), &headers).await
    };
    let before = world.state();
    assert_eq!(put(None, 1).await.problem(428), "precondition_required");
    assert_eq!(put(Some("\"other\""), 1).await.problem(412), "precondition_failed");
    assert_eq!(world.state(), before);
    let read = world.get(&world.operator, &path).await;
    let tag = read.headers[header::ETAG].to_str().unwrap();
    let headers = [("if-match", tag), ("idempotency-key", "once")];
    for _ in 0..2 {
        // Who says it again is not told that it was changed since: by himself.
        let put = world.send((Method::PUT, &world.operator), &path, Some(json!({ "leases": 1 })), &headers).await;
        assert_eq!(put.expect(200)["leases"], 1);
    }
    assert_eq!(put(Some(tag), 2).await.problem(412), "precondition_failed");
    let policy = world.get(&world.operator, "/v1/policy").await;
    let tag = policy.headers[header::ETAG].to_str().unwrap();
    let mut rules = policy.json();
    rules["share_compute"] = json!(50);
    let put = world.send((Method::PUT, &world.operator), "/v1/policy", Some(rules), &[("if-match", tag)]).await;
    assert_eq!(put.expect(200)["share_compute"], 50);
}

#[tokio::test]
async fn a_request_id_that_is_fit_is_kept_and_any_other_is_replaced() {
    let world = World::new().await;
    let answer = world.send((Method::GET, &world.a.viewer), "/v1/offers", None, &[("x-request-id", "mine-1")]).await;
    assert_eq!(answer.headers["x-request-id"], "mine-1");
    let answer = world.send((Method::GET, ""), "/v1/offers", None, &[("x-request-id", "<script>")]).await;
    assert!(!answer.text().contains("<script>"));
    assert!(!answer.headers["x-request-id"].is_empty());
}

#[tokio::test]
async fn a_number_beyond_all_that_is_counted_is_of_nothing_and_harms_nothing() {
    let world = World::new().await;
    let (viewer, member) = (&world.a.viewer, &world.a.member);
    for number in ["9223372036854775808", "18446744073709551615"] {
        let paths =
            [format!("leases/lease-{number}"), format!("leases/lease-{number}/receipt"), format!("entries/{number}/part")];
        for path in paths {
            assert_eq!(world.get(viewer, &format!("/v1/{path}")).await.problem(404), "not_found", "{path}");
        }
        let stop = world.post(member, &format!("/v1/leases/lease-{number}/stop"), json!({})).await;
        assert_eq!(stop.problem(404), "not_found");
        let lists = [
            format!("events?after={number}"),
            format!("leases?state=all&project=project-{number}"),
            format!("usage?lease=lease-{number}&from=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z"),
        ];
        for list in lists {
            let answer = world.get(viewer, &format!("/v1/{list}")).await;
            assert!(!answer.status.is_server_error(), "{list}: {}", answer.text());
        }
    }
    // 2⁶⁴ − 1, and the first that SQLite cannot count.
    for number in ["x018/x446/x744/x073/x709/x551/615", "x009/x223/x372/x036/x854/x775/808"] {
        for path in [format!("/tile/0/{number}"), format!("/tile/entries/{number}"), format!("/tile/63/{number}")] {
            assert_eq!(world.get("", &path).await.problem(404), "not_found", "{path}");
        }
    }
    world.order(member).await;
    assert_eq!(world.get(viewer, "/v1/leases").await.expect(200)["items"].as_array().unwrap().len(), 1);
}
