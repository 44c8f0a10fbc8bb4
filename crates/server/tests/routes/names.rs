//! Names for people are short, and can be printed.

use crate::world::{World, core};
use serde_json::json;

#[tokio::test]
async fn a_name_has_1_to_128_characters_and_none_that_controls() {
    let world = World::new().await;
    let before = world.state();
    let mut order = core();
    order["name"] = json!("");
    let bodies = [
        ("/v1/leases", &world.a.member, order),
        ("/v1/keys", &world.a.admin, json!({ "role": "viewer" })),
        ("/v1/projects", &world.a.admin, json!({})),
        ("/v1/users", &world.a.admin, json!({ "role": "viewer" })),
        ("/v1/tenants", &world.operator, json!({})),
        ("/v1/pools", &world.operator, json!({})),
        ("/v1/agents", &world.operator, json!({})),
    ];
    for (path, by, mut body) in bodies {
        for name in ["", "a\nb", "\u{1b}[31m", &"x".repeat(129)] {
            body["name"] = json!(name);
            let answer = world.post(by, path, body.clone()).await;
            assert_eq!(answer.problem(422), "invalid", "{path} {name:?}");
            assert_eq!(answer.json()["errors"][0]["pointer"], "/name", "{path} {name:?}");
        }
    }
    assert_eq!(world.state(), before);
    let longest = json!({ "name": "算".repeat(128) });
    world.post(&world.a.admin, "/v1/projects", longest).await.expect(201);
}
