//! A stream ends soon after the key that opened it.

use crate::world::World;
use axum::{
    body::Body,
    http::{Method, Request, header},
};
use http_body_util::BodyExt;
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tower::ServiceExt;

/// Longer than any stream may outlive its key.
const SOON: Duration = Duration::from_secs(5);

async fn followed(world: &World, secret: &str) -> Body {
    let request = Request::get("/v1/events?follow=true&after=0").header(header::AUTHORIZATION, format!("Bearer {secret}"));
    let mut body = world.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap().into_body();
    body.frame().await.expect("it goes on while the key is valid").unwrap();
    body
}

/// Reads on to the end.
async fn ends(mut body: Body) {
    let from = Instant::now();
    while timeout(SOON, body.frame()).await.expect("it ends").is_some() {
        assert!(from.elapsed() <= SOON);
    }
}

#[tokio::test]
async fn a_stream_of_events_ends_soon_after_its_key_is_revoked() {
    let world = World::new().await;
    let issued = world.post(&world.a.admin, "/v1/keys", json!({ "role": "viewer" })).await.expect(201);
    let body = followed(&world, issued["secret"].as_str().unwrap()).await;
    let path = format!("/v1/keys/{}", issued["key"].as_str().unwrap());
    world.send((Method::DELETE, &world.a.admin), &path, None, &[]).await.expect(200);
    ends(body).await;
}

#[tokio::test]
async fn a_stream_of_events_ends_soon_after_its_user_is_removed() {
    let world = World::new().await;
    let user = world.post(&world.a.admin, "/v1/users", json!({ "name": "U", "role": "member" })).await.expect(201);
    let key = json!({ "role": "member", "user": user["id"] });
    let key = world.post(&world.a.admin, "/v1/keys", key).await.expect(201);
    let body = followed(&world, key["secret"].as_str().unwrap()).await;
    let path = format!("/v1/users/{}", user["id"].as_str().unwrap());
    world.send((Method::DELETE, &world.a.admin), &path, None, &[]).await.expect(200);
    ends(body).await;
}

#[tokio::test]
async fn a_stream_of_events_ends_soon_after_its_key_has_expired() {
    let world = World::new().await;
    let soon = world.app.handle().now().plus_ms(1_000);
    let key = world.post(&world.a.admin, "/v1/keys", json!({ "role": "viewer", "expires": soon })).await.expect(201);
    let body = followed(&world, key["secret"].as_str().unwrap()).await;
    while world.app.handle().now() < soon {
        tokio::task::yield_now().await;
    }
    ends(body).await;
}
