//! The access log: who did what and how it went, one line each, and never a secret.

use crate::world::World;
use axum::http::Method;
use serde_json::json;
use std::{
    fmt::Write,
    sync::{Mutex, Once},
};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// Every line of this process, of all tests together.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Collects from now on. One subscriber for the whole process: one of a thread's own misses what other threads saw first.
pub fn collect() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Lines).unwrap());
}

struct Lines;

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} {}", event.metadata().level(), event.metadata().target()));
        event.record(&mut line);
        LINES.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[tokio::test]
async fn b56_every_attempt_is_one_line_that_says_who_and_how_it_went_without_a_secret() {
    let world = World::new().await;
    let lease = world.order(&world.a.member).await;
    let link = world.post(&world.a.member, "/v1/sign-in-links", json!({})).await.expect(201)["url"].as_str().unwrap().to_owned();
    let path = format!("/v1/leases/{lease}");
    let sign_in = link[link.find("/sign-in/").unwrap()..].to_owned();
    let attempts = [
        (Method::GET, world.b.viewer.as_str(), path.clone()),
        (Method::GET, "sz_wrong", path.clone()),
        (Method::POST, world.a.viewer.as_str(), format!("{path}/stop")),
        (Method::GET, world.operator.as_str(), path),
        (Method::GET, "", sign_in.clone()),
    ];
    for (n, (method, secret, path)) in attempts.into_iter().enumerate() {
        let id = format!("audited-{n}");
        world.send((method, secret), &path, Some(json!({})), &[("x-request-id", &id)]).await;
    }
    let lines = LINES.lock().unwrap().clone();
    let expected = [
        ("WARN", "status=404", "route=\"/v1/leases/{id}\""),
        ("WARN", "status=401", "code=\"unauthenticated\""),
        ("WARN", "status=403", "route=\"/v1/leases/{id}/stop\""),
        ("INFO", "status=200", "actor=key-"),
        ("INFO", "status=303", "route=\"/sign-in/{link}\""),
    ];
    for (n, (level, status, more)) in expected.into_iter().enumerate() {
        let id = format!("request_id=\"audited-{n}\"");
        let about: Vec<&String> = lines.iter().filter(|line| line.contains(" access ") && line.contains(&id)).collect();
        let [line] = &about[..] else { panic!("{about:?}") };
        assert!(line.starts_with(level) && line.contains(status) && line.contains(more), "{line}");
    }
    assert!(!lines.iter().any(|line| line.contains("sz_") || line.contains("szl_") || line.contains(&sign_in)));
}
