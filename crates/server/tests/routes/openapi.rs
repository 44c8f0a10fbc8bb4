//! `/openapi.json`: the description is part of the contract, so a change of it must be seen.

use crate::world::World;
use serde_json::Value;

#[test]
fn the_description_is_the_one_that_was_agreed() {
    let document = serde_json::to_value(server::openapi()).unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    // Paths, parameters and shapes; the words may be improved without anybody agreeing to it.
    insta::assert_json_snapshot!(without_words(document));
}

fn without_words(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept =
                map.into_iter().filter(|(key, value)| !(value.is_string() && matches!(key.as_str(), "description" | "summary")));
            kept.map(|(key, value)| (key, without_words(value))).collect()
        }
        Value::Array(list) => list.into_iter().map(without_words).collect(),
        other => other,
    }
}

#[tokio::test]
async fn the_description_and_the_page_to_try_it_are_served() {
    let world = World::new().await;
    let served = world.get("", "/openapi.json").await.expect(200);
    assert_eq!(
        served["paths"].as_object().unwrap().len(),
        serde_json::to_value(server::openapi()).unwrap()["paths"].as_object().unwrap().len()
    );
    let page = world.get("", "/docs").await;
    assert!(page.text().contains("openapi.json"));
}
