//! `/v1/events`, `/v1/proof`, `/checkpoint`: what happened, and that it did.

use crate::world::World;
use axum::{
    body::Body,
    http::{Request, header},
};
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::time::timeout;
use tower::ServiceExt;

/// Reads a stream until it holds `wanted`.
async fn until(body: &mut Body, seen: &mut String, wanted: &str) {
    while !seen.contains(wanted) {
        let frame = timeout(Duration::from_secs(10), body.frame()).await.expect("it comes").expect("it goes on").unwrap();
        seen.push_str(&String::from_utf8_lossy(frame.data_ref().unwrap_or(&axum::body::Bytes::new())));
    }
}

#[tokio::test]
async fn a_stream_tells_its_owner_what_happens_and_nobody_elses() {
    let world = World::new().await;
    let request =
        Request::get("/v1/events?follow=true&after=0").header(header::AUTHORIZATION, format!("Bearer {}", world.a.viewer));
    let response = world.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    let mut body = response.into_body();
    let mut seen = String::new();
    until(&mut body, &mut seen, "tenancy.tenant_created/1").await;
    let foreign = world.order(&world.b.member).await;
    let own = world.order(&world.a.member).await;
    until(&mut body, &mut seen, &format!("\"subject\":\"{own}\"")).await;
    until(&mut body, &mut seen, "event: lease.placed/1").await;
    assert!(!seen.contains(&format!("\"{foreign}\"")));
    world.app.close();
    // The end of the stream is an end, not an error.
    while let Some(frame) = timeout(Duration::from_secs(10), body.frame()).await.expect("it ends") {
        frame.unwrap();
    }
}

#[tokio::test]
async fn a_part_and_its_proof_can_be_taken_home_and_the_log_be_read_by_anybody() {
    let world = World::new().await;
    let lease = world.post(&world.a.member, "/v1/leases", crate::world::core()).await.expect(201);
    let seq = &lease["seq"];
    let part = world.get(&world.a.viewer, &format!("/v1/entries/{seq}/part")).await.expect(200);
    assert_eq!((&part["parts"][0]["seq"], part["parts"].as_array().unwrap().len()), (seq, 1));
    assert_eq!(world.get(&world.b.viewer, &format!("/v1/entries/{seq}/part")).await.problem(404), "not_found");
    let bundle = world.get(&world.a.viewer, &format!("/v1/proof/bundle?at_least={seq}")).await.expect(200);
    assert_eq!(bundle["owner"], 1);
    assert!(bundle["parts"].as_array().unwrap().len() > 1);
    let checkpoint = world.get("", "/checkpoint").await.text();
    assert!(checkpoint.starts_with("suanzu/"));
    let size: usize = checkpoint.lines().nth(1).unwrap().parse().unwrap();
    let tile = world.get("", &format!("/tile/0/000.p/{size}")).await;
    assert_eq!(tile.bytes.len(), 32 * size);
    assert_eq!(world.get("", "/tile/0/999").await.problem(404), "not_found");
    let report = journal::verify::bundle(&serde_json::to_vec(&bundle).unwrap(), None).unwrap();
    assert!(report.sound(), "{report:?}");
}

#[tokio::test]
async fn a_stream_goes_on_within_an_entry_of_which_only_the_first_events_were_heard() {
    let world = World::new().await;
    let lease = world.post(&world.a.member, "/v1/leases", crate::world::core()).await.expect(201);
    let seq = lease["seq"].as_u64().unwrap();
    let request = Request::get("/v1/events?follow=true").header("last-event-id", format!("{seq}-0"));
    let request = request.header(header::AUTHORIZATION, format!("Bearer {}", world.a.viewer));
    let response = world.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (mut body, mut seen) = (response.into_body(), String::new());
    until(&mut body, &mut seen, &format!("id: {seq}-1")).await;
    assert!(!seen.contains(&format!("id: {seq}-0")), "{seen}");
    world.app.close();
}
