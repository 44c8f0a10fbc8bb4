//! A workload that could never run, or whose end would be put off for nothing, is refused before anything is written.

use crate::world::{World, core};
use serde_json::{Value, json};

/// Orders this workload, and asks what an order of it would lead to: both must be refused for the same field.
async fn refused(world: &World, workload: Value) -> String {
    let mut order = core();
    order["workload"] = workload;
    let mut pointers = Vec::new();
    for path in ["/v1/leases", "/v1/leases?validate_only=true"] {
        let answer = world.post(&world.a.member, path, order.clone()).await;
        assert_eq!(answer.problem(422), "invalid", "{order}");
        pointers.push(answer.json()["errors"][0]["pointer"].as_str().unwrap().to_owned());
    }
    assert_eq!(pointers[0], pointers[1]);
    pointers.remove(0)
}

#[tokio::test]
async fn what_is_free_after_a_stop_is_two_minutes_at_most() {
    let world = World::new().await;
    let before = world.state();
    assert_eq!(refused(&world, json!({ "grace_ms": 120_001 })).await, "/workload/grace_ms");
    assert_eq!(refused(&world, json!({ "grace_ms": u32::MAX })).await, "/workload/grace_ms");
    assert_eq!(world.state(), before);
    let mut longest = core();
    longest["workload"] = json!({ "grace_ms": 120_000 });
    world.post(&world.a.member, "/v1/leases", longest).await.expect(201);
}

#[tokio::test]
async fn a_workload_that_could_never_run_is_refused() {
    let world = World::new().await;
    let before = world.state();
    let large = "x".repeat(64 * 1024);
    let wrong = [
        (json!({ "argv": [""] }), "/workload/argv/0"),
        (json!({ "argv": ["", "x"] }), "/workload/argv/0"),
        (json!({ "argv": ["sh", "a\0b"] }), "/workload/argv/1"),
        (json!({ "env": { "": "x" } }), "/workload/env"),
        (json!({ "env": { "A=B": "x" } }), "/workload/env"),
        (json!({ "env": { "A\0": "x" } }), "/workload/env"),
        (json!({ "env": { "A/B": "x\0" } }), "/workload/env/A~1B"),
        (json!({ "argv": ["sh", &large] }), "/workload"),
        (json!({ "env": { "A": &large } }), "/workload"),
    ];
    for (workload, pointer) in wrong {
        assert_eq!(refused(&world, workload).await, pointer);
    }
    for image in ["", " ", "a b", "a;b", "../a", "a/../b", "a\0", "a\nb", "-v", "/a", "a:", "a//b", "a$(b)"] {
        let workload = json!({ "runtime": { "container": image } });
        assert_eq!(refused(&world, workload).await, "/workload/runtime/container", "{image:?}");
    }
    assert_eq!(world.state(), before);
}

#[tokio::test]
async fn a_workload_that_could_run_is_taken() {
    let world = World::new().await;
    let digest = format!("alpine@sha256:{}", "0".repeat(64));
    let mut right = vec![json!({}), json!({ "argv": ["sh", ""] }), json!({ "env": { "A": "", "B": "=x y" } })];
    let images = ["alpine", "localhost:5000/a/b_c:1.2-3", "ghcr.io/Org/name:latest", &digest];
    right.extend(images.map(|image| json!({ "runtime": { "container": image } })));
    for workload in right {
        let mut order = core();
        order["workload"] = workload;
        world.post(&world.a.member, "/v1/leases", order).await.expect(201);
    }
}
