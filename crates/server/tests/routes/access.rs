//! Every route of the published description, for whoever may not use it: nobody, another tenant, too small a role.
//!
//! A route without a line in the table below fails here.

use crate::world::{Answer, World, core};
use axum::http::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Who may at least.
#[derive(Clone, Copy, PartialEq)]
enum Least {
    /// Anybody, without a key.
    Nobody,
    /// Any valid key.
    Key,
    Viewer,
    Member,
    Admin,
    Operator,
    Agent,
}
use Least::*;

/// What of it belongs to a tenant.
enum Of {
    /// Nothing: it is the operator's, or everybody's.
    Nothing,
    /// The object that its path names.
    Path,
    /// The tenant that `?tenant=` names.
    Query,
}
use Of::*;

/// Method, path, least role, whose, body.
const TABLE: &[(&str, &str, Least, Of, &str)] = &[
    ("get", "/", Nobody, Nothing, ""),
    ("get", "/checkpoint", Nobody, Nothing, ""),
    ("get", "/healthz", Nobody, Nothing, ""),
    ("get", "/metrics", Operator, Nothing, ""),
    ("get", "/readyz", Nobody, Nothing, ""),
    ("get", "/sign-in/{link}", Nobody, Nothing, ""),
    ("post", "/sign-out", Nobody, Nothing, ""),
    ("get", "/tile/{path}", Nobody, Nothing, ""),
    ("post", "/v1/agent/join", Agent, Nothing, r#"{"version":1,"hostname":"x","nodes":[]}"#),
    (
        "post",
        "/v1/agent/poll",
        Agent,
        Nothing,
        r#"{"agent":"agent-1","generation":{"epoch":0,"seq":0},"digest":0,"clock":"2026-01-01T00:00:00Z"}"#,
    ),
    ("post", "/v1/agent/report", Agent, Nothing, r#"{"agent":"agent-1"}"#),
    ("get", "/v1/agent/sessions/{id}", Agent, Nothing, ""),
    ("post", "/v1/agents", Operator, Nothing, r#"{"name":"another"}"#),
    ("post", "/v1/devices/{id}/clear", Operator, Nothing, "{}"),
    ("post", "/v1/devices/{id}/drain", Operator, Nothing, "{}"),
    ("post", "/v1/devices/{id}/return", Operator, Nothing, "{}"),
    ("get", "/v1/entries/{seq}/part", Viewer, Path, ""),
    ("get", "/v1/events", Viewer, Query, ""),
    ("get", "/v1/keys", Admin, Query, ""),
    ("post", "/v1/keys", Admin, Query, r#"{"role":"member"}"#),
    ("delete", "/v1/keys/{id}", Admin, Path, ""),
    ("get", "/v1/leases", Viewer, Query, ""),
    ("post", "/v1/leases", Member, Query, r#"{"size":{"units":{"kind":"cpu","amount":"1"}}}"#),
    ("get", "/v1/leases/{id}", Viewer, Path, ""),
    ("post", "/v1/leases/{id}/destroy", Member, Path, "{}"),
    ("get", "/v1/leases/{id}/exec", Member, Path, ""),
    ("post", "/v1/leases/{id}/extend", Member, Path, r#"{"until":"2100-01-01T00:00:00Z"}"#),
    ("get", "/v1/leases/{id}/logs", Viewer, Path, ""),
    ("get", "/v1/leases/{id}/receipt", Viewer, Path, ""),
    ("post", "/v1/leases/{id}/resize", Member, Path, r#"{"size":{"units":{"kind":"cpu","amount":"2"}}}"#),
    ("post", "/v1/leases/{id}/start", Member, Path, "{}"),
    ("post", "/v1/leases/{id}/stop", Member, Path, "{}"),
    ("get", "/v1/leases/{id}/why", Viewer, Path, ""),
    ("get", "/v1/nodes", Operator, Nothing, ""),
    ("get", "/v1/nodes/{id}", Operator, Nothing, ""),
    ("post", "/v1/nodes/{id}/drain", Operator, Nothing, "{}"),
    ("post", "/v1/nodes/{id}/lose", Operator, Nothing, "{}"),
    ("post", "/v1/nodes/{id}/remove", Operator, Nothing, "{}"),
    ("post", "/v1/nodes/{id}/return", Operator, Nothing, "{}"),
    ("get", "/v1/offers", Viewer, Nothing, ""),
    ("get", "/v1/policy", Operator, Nothing, ""),
    (
        "put",
        "/v1/policy",
        Operator,
        Nothing,
        r#"{"arrears_grace_ms":0,"share_compute":1,"share_memory_mib":1,"queue_bound_ms":1,"unseen_after_ms":1,"lost_after_ms":0,"clock_off_ms":1}"#,
    ),
    ("get", "/v1/pools", Operator, Nothing, ""),
    ("post", "/v1/pools", Operator, Nothing, r#"{"name":"another"}"#),
    ("get", "/v1/prices", Viewer, Nothing, ""),
    ("post", "/v1/prices", Operator, Nothing, r#"{"prices":[{"sku":"unit/cpu","price":"1"}]}"#),
    ("get", "/v1/prices/history", Viewer, Nothing, ""),
    ("get", "/v1/projects", Viewer, Query, ""),
    ("post", "/v1/projects", Admin, Query, r#"{"name":"another"}"#),
    ("get", "/v1/proof/bundle", Viewer, Query, ""),
    ("post", "/v1/sign-in-links", Viewer, Nothing, "{}"),
    ("get", "/v1/tenants", Operator, Nothing, ""),
    ("post", "/v1/tenants", Operator, Nothing, r#"{"name":"another"}"#),
    ("get", "/v1/tenants/{id}", Viewer, Path, ""),
    ("post", "/v1/tenants/{id}/close", Operator, Nothing, "{}"),
    ("get", "/v1/tenants/{id}/limits", Viewer, Path, ""),
    ("put", "/v1/tenants/{id}/limits", Operator, Nothing, r#"{"leases":1}"#),
    ("post", "/v1/tenants/{id}/open", Operator, Nothing, "{}"),
    ("get", "/v1/usage", Viewer, Query, ""),
    ("get", "/v1/users", Viewer, Query, ""),
    ("post", "/v1/users", Admin, Query, r#"{"name":"somebody","role":"member"}"#),
    ("delete", "/v1/users/{id}", Admin, Path, ""),
    ("put", "/v1/users/{id}", Admin, Path, r#"{"role":"viewer"}"#),
    ("get", "/v1/wallet", Viewer, Query, ""),
    ("post", "/v1/wallet/adjustments", Operator, Nothing, r#"{"tenant":"tenant-1","amount":"1","reason":"a slip"}"#),
    ("put", "/v1/wallet/credit", Operator, Nothing, r#"{"tenant":"tenant-1","limit":"1"}"#),
    ("post", "/v1/wallet/payments", Member, Query, r#"{"payment":"p","amount":"1"}"#),
    ("post", "/v1/wallet/payments/{payment}/settle", Operator, Nothing, r#"{"tenant":"tenant-1","outcome":"succeeded"}"#),
    ("get", "/v1/wallet/statement", Viewer, Query, ""),
    ("post", "/v1/wallet/top-ups", Operator, Nothing, r#"{"tenant":"tenant-1","payment":"p","amount":"1"}"#),
    ("get", "/v1/whoami", Key, Nothing, ""),
];

/// Ids of what tenant A has, and ids of what nobody has.
struct Objects {
    own: Vec<(&'static str, String)>,
    missing: Vec<(&'static str, String)>,
}

async fn objects(world: &World) -> Objects {
    let lease = world.order(&world.a.member).await;
    let key = world.post(&world.a.admin, "/v1/keys", json!({ "role": "viewer" })).await.expect(201);
    let user = world.post(&world.a.admin, "/v1/users", json!({ "name": "U", "role": "member" })).await.expect(201);
    let seq = world.get(&world.a.viewer, &format!("/v1/leases/{lease}")).await.expect(200)["seq"].to_string();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let own = vec![
        ("/v1/leases/", lease),
        ("/v1/keys/", text(&key["key"])),
        ("/v1/users/", text(&user["id"])),
        ("/v1/tenants/", world.a.id.clone()),
        ("/v1/nodes/", "node-1".into()),
        ("/v1/devices/", "device-1".into()),
        ("/v1/wallet/payments/", "first-A".into()),
        ("/v1/entries/", seq),
    ];
    let missing = [
        ("/v1/leases/", "lease-999"),
        ("/v1/keys/", "key-999"),
        ("/v1/users/", "user-999"),
        ("/v1/tenants/", "tenant-999"),
        ("/v1/entries/", "999999"),
    ];
    Objects { own, missing: missing.map(|(prefix, id)| (prefix, id.to_owned())).into() }
}

/// The path with its parameter replaced by the id that stands under its prefix.
fn filled(path: &str, ids: &[(&'static str, String)]) -> String {
    let Some(start) = path.find('{') else { return path.to_owned() };
    let end = path.find('}').unwrap();
    let id = ids.iter().find(|(prefix, _)| path.starts_with(prefix)).map_or("x", |(_, id)| id);
    format!("{}{id}{}", &path[..start], &path[end + 1..])
}

async fn call(world: &World, method: &str, by: &str, path: &str, body: &str) -> Answer {
    let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
    let body = (!body.is_empty()).then(|| serde_json::from_str(body).unwrap());
    let key = world.fresh();
    world.send((method, by), path, body, &[("idempotency-key", &key), ("if-match", "*")]).await
}

#[test]
fn the_table_holds_every_route_of_the_description_and_no_other() {
    let document = serde_json::to_value(server::openapi()).unwrap();
    let published: BTreeSet<String> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| methods.as_object().unwrap().keys().map(move |method| format!("{method} {path}")))
        .collect();
    let tested: BTreeSet<String> = TABLE.iter().map(|(method, path, ..)| format!("{method} {path}")).collect();
    assert_eq!(published, tested);
}

#[tokio::test]
async fn nobody_gets_anything_but_what_is_public() {
    let world = World::new().await;
    let objects = objects(&world).await;
    let before = world.state();
    for (method, path, least, _, body) in TABLE {
        let expected_public = *least == Nobody;
        for secret in ["", "sz_wrong", "szl_1_wrong"] {
            let answer = call(&world, method, secret, &filled(path, &objects.own), body).await;
            if !expected_public {
                assert_eq!(answer.problem(401), "unauthenticated", "{method} {path}");
            } else if !matches!(*path, "/" | "/sign-in/{link}") {
                assert_ne!(answer.status.as_u16(), 401, "{method} {path}");
            }
        }
    }
    assert_eq!(world.state(), before);
}

#[tokio::test]
async fn b56_knowing_an_id_gives_no_right_to_the_object_on_any_verb_or_sub_path() {
    let world = World::new().await;
    let objects = objects(&world).await;
    let before = world.state();
    for (method, path, _, of, body) in TABLE {
        let (foreign, missing) = match of {
            Nothing => continue,
            Path => (filled(path, &objects.own), filled(path, &objects.missing)),
            Query => (format!("{path}?tenant={}", world.a.id), format!("{path}?tenant=tenant-999")),
        };
        let theirs = call(&world, method, &world.b.admin, &foreign, body).await;
        let nothing = call(&world, method, &world.b.admin, &missing, body).await;
        assert_eq!(theirs.problem(404), "not_found", "{method} {foreign}");
        let anonymous = |answer: &Answer, ids: &[(&str, String)]| {
            let id = answer.headers["x-request-id"].to_str().unwrap().to_owned();
            let ids = ids.iter().map(|(_, id)| id.as_str()).chain([world.a.id.as_str(), "tenant-999"]);
            ids.fold(answer.text().replace(&id, "ID"), |text, id| {
                text.replace(&format!("no {id}"), "no ID").replace(&format!("entry {id}"), "entry ID")
            })
        };
        assert_eq!(anonymous(&theirs, &objects.own), anonymous(&nothing, &objects.missing), "{method} {foreign}");
    }
    assert_eq!(world.state(), before);

    // Foreign ids inside bodies.
    let mut order = core();
    order["project"] = json!(world.a.project);
    assert_eq!(world.post(&world.b.member, "/v1/leases", order).await.problem(404), "not_found");
    let key = json!({ "role": "viewer", "project": world.a.project });
    assert_eq!(world.post(&world.b.admin, "/v1/keys", key).await.problem(404), "not_found");
    let key = json!({ "role": "viewer", "user": objects.own[2].1 });
    assert_eq!(world.post(&world.b.admin, "/v1/keys", key).await.problem(404), "not_found");
    assert_eq!(world.state(), before);

    // The operator may look.
    let lease = &objects.own[0].1;
    assert_eq!(world.get(&world.operator, &format!("/v1/leases/{lease}")).await.expect(200)["id"], *lease);
}

#[tokio::test]
async fn too_small_a_role_is_refused_on_every_route() {
    let world = World::new().await;
    let objects = objects(&world).await;
    let before = world.state();
    for (method, path, least, _, body) in TABLE {
        let secrets = match least {
            Nobody | Key => continue,
            Viewer => vec![&world.agent],
            Member => vec![&world.a.viewer, &world.agent],
            Admin => vec![&world.a.viewer, &world.a.member, &world.agent],
            Operator => vec![&world.a.viewer, &world.a.member, &world.a.admin, &world.agent],
            Agent => vec![&world.a.admin, &world.operator],
        };
        for secret in secrets {
            let answer = call(&world, method, secret, &filled(path, &objects.own), body).await;
            assert_eq!(answer.problem(403), "forbidden", "{method} {path}");
        }
    }
    assert_eq!(world.state(), before);
}

#[tokio::test]
async fn a_revoked_or_expired_key_opens_nothing_from_that_instant_on() {
    let world = World::new().await;
    let issued = world.post(&world.a.admin, "/v1/keys", json!({ "role": "viewer" })).await.expect(201);
    let secret = issued["secret"].as_str().unwrap();
    world.get(secret, "/v1/offers").await.expect(200);
    let path = format!("/v1/keys/{}", issued["key"].as_str().unwrap());
    let revoked = world.send((Method::DELETE, &world.a.admin), &path, None, &[]).await.expect(200);
    assert_eq!(revoked["revoked"], true);
    assert_eq!(world.get(secret, "/v1/offers").await.problem(401), "unauthenticated");

    let soon = world.app.handle().now().plus_ms(400);
    let brief = json!({ "role": "viewer", "expires": soon });
    let brief = world.post(&world.a.admin, "/v1/keys", brief).await.expect(201)["secret"].as_str().unwrap().to_owned();
    while world.app.handle().now() < soon {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(world.get(&brief, "/v1/offers").await.problem(401), "unauthenticated");
}

#[tokio::test]
async fn a_removed_members_keys_are_void_at_once() {
    let world = World::new().await;
    let user = world.post(&world.a.admin, "/v1/users", json!({ "name": "U", "role": "member" })).await.expect(201);
    let user = user["id"].as_str().unwrap();
    let key = world.post(&world.a.admin, "/v1/keys", json!({ "role": "admin", "user": user })).await.expect(201);
    let secret = key["secret"].as_str().unwrap();
    assert_eq!(world.get(secret, "/v1/whoami").await.expect(200)["role"], "member");
    world.send((Method::DELETE, &world.a.admin), &format!("/v1/users/{user}"), None, &[]).await.expect(200);
    assert_eq!(world.get(secret, "/v1/whoami").await.problem(401), "unauthenticated");
}

#[tokio::test]
async fn a_key_of_one_project_sees_and_changes_nothing_of_another() {
    let world = World::new().await;
    let first = world.order(&world.a.member).await;
    let project = world.post(&world.a.admin, "/v1/projects", json!({ "name": "second" })).await.expect(201);
    let limited = json!({ "role": "admin", "project": project["id"] });
    let limited = world.post(&world.a.admin, "/v1/keys", limited).await.expect(201)["secret"].as_str().unwrap().to_owned();
    let own = world.order(&limited).await;
    let listed = world.get(&limited, "/v1/leases").await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    assert_eq!(listed["items"][0]["id"], own);
    assert_eq!(world.get(&limited, &format!("/v1/leases/{first}")).await.problem(404), "not_found");
    assert_eq!(world.post(&limited, &format!("/v1/leases/{first}/stop"), json!({})).await.problem(404), "not_found");
    let mut foreign = core();
    foreign["project"] = json!(world.a.project);
    assert_eq!(world.post(&limited, "/v1/leases", foreign).await.problem(404), "not_found");
    for path in ["/v1/keys", "/v1/users", "/v1/events", "/v1/wallet/statement", "/v1/proof/bundle"] {
        assert_eq!(world.get(&limited, path).await.problem(403), "forbidden", "{path}");
    }
}

#[tokio::test]
async fn a_leases_own_key_can_only_see_and_stop_itself() {
    let world = World::new().await;
    let (own, other) = (world.order(&world.a.member).await, world.order(&world.a.member).await);
    let secret = world.app.lease_secret(own.parse().unwrap());
    assert_eq!(world.get(&secret, &format!("/v1/leases/{own}")).await.expect(200)["id"], own);
    assert_eq!(world.get(&secret, &format!("/v1/leases/{other}")).await.problem(404), "not_found");
    assert_eq!(world.post(&secret, &format!("/v1/leases/{other}/stop"), json!({})).await.problem(404), "not_found");
    for path in ["/v1/leases", "/v1/wallet", "/v1/offers", "/v1/events"] {
        assert_eq!(world.get(&secret, path).await.problem(403), "forbidden", "{path}");
    }
    assert_eq!(world.post(&secret, "/v1/leases", core()).await.problem(403), "forbidden");
    let stopped = world.post(&secret, &format!("/v1/leases/{own}/stop"), json!({})).await.expect(200);
    assert_eq!(stopped["state"], "stopping");
}

#[tokio::test]
async fn the_consoles_cookie_reads_and_never_writes_and_its_link_works_once() {
    let world = World::new().await;
    let link = world.post(&world.a.member, "/v1/sign-in-links", json!({})).await.expect(201)["url"].as_str().unwrap().to_owned();
    let path = &link[link.find("/sign-in/").unwrap()..];
    let signed_in = world.get("", path).await;
    assert_eq!(signed_in.status.as_u16(), 303);
    let cookie = signed_in.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    assert_eq!(world.get("", path).await.problem(401), "unauthenticated");
    let session = cookie.split(';').next().unwrap();
    let with = async |method, path| world.send((method, ""), path, Some(json!({})), &[("cookie", session)]).await;
    with(Method::GET, "/v1/wallet").await.expect(200);
    assert!(with(Method::GET, "/").await.text().contains("Cards"));
    assert_eq!(with(Method::POST, "/v1/sign-in-links").await.problem(401), "unauthenticated");
    with(Method::POST, "/sign-out").await;
    assert_eq!(with(Method::GET, "/v1/wallet").await.problem(401), "unauthenticated");
}
