//! `/v1/wallet`.

use crate::world::{World, core};
use axum::http::Method;
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::collections::BTreeSet;

async fn wallet(world: &World) -> Value {
    world.get(&world.a.viewer, "/v1/wallet").await.expect(200)
}

#[tokio::test]
async fn b18_a_top_up_is_settled_once_however_often_and_in_whatever_order_the_provider_reports() {
    let world = World::with_balance("20.00").await;
    let open = json!({ "payment": "pay-77", "amount": "500.00" });
    let opened = world.post(&world.a.member, "/v1/wallet/payments", open).await.expect(201);
    assert_eq!((&opened["state"], &opened["wallet"]["available"]["amount"]), (&json!("pending"), &json!("20.000000")));
    let path = "/v1/wallet/payments/pay-77/settle";
    let notice = |outcome: &str| json!({ "tenant": world.a.id, "outcome": outcome });
    let settle = |outcome: &str| {
        let body = notice(outcome);
        async { world.send((Method::POST, &world.operator), path, Some(body), &[]).await }
    };
    for answer in join_all([settle("succeeded"), settle("succeeded")]).await {
        assert_eq!(answer.expect(200)["state"], "succeeded");
    }
    settle("succeeded").await.expect(200);
    let late = settle("failed").await.expect(200);
    assert_eq!((&late["state"], &late["disputed"]), (&json!("succeeded"), &json!(true)));
    assert_eq!(wallet(&world).await["available"]["amount"], "520.000000");
    let seq = world.app.handle().head().size;
    let statement = world.get(&world.a.viewer, &format!("/v1/wallet/statement?at_least={seq}")).await.expect(200);
    let items = statement["items"].as_array().unwrap();
    let paid = |item: &&Value| item["kind"] == "money.paid/1" && item["data"]["payment"] == "pay-77";
    assert_eq!(items.iter().filter(paid).count(), 1);
    assert_eq!(items.iter().filter(|item| item["kind"] == "money.payment_failed/1").count(), 1);

    // The doubled request, and the changed one.
    let top_up = |amount: &str| json!({ "payment": "pay-78", "amount": amount });
    let send = async |amount: &str| {
        let headers = [("idempotency-key", "top-up-1")];
        world.send((Method::POST, &world.a.member), "/v1/wallet/payments", Some(top_up(amount)), &headers).await
    };
    let first = send("500.00").await.expect(201);
    let again = send("500.00").await.expect(201);
    assert_eq!((&first["payment"], &first["amount"], &first["seq"]), (&again["payment"], &again["amount"], &again["seq"]));
    assert_eq!(send("600.00").await.problem(409), "key_reused");
    let payments = world.state().money.payments.len();
    assert_eq!(payments, 4, "one for each tenant's first money, pay-77, pay-78");
}

#[tokio::test]
async fn b19_a_success_answer_means_a_committed_posting_and_a_conflict_is_not_no_money() {
    let world = World::with_balance("60.00").await;
    let charge = |n: usize| {
        let key = format!("client-{n}");
        let world = &world;
        async move { world.send((Method::POST, &world.a.member), "/v1/leases", Some(core()), &[("idempotency-key", &key)]).await }
    };
    let answers = join_all((0..50).map(charge)).await;
    let accepted: Vec<_> = answers.iter().filter(|answer| answer.status.as_u16() == 201).collect();
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status.as_u16() == 402).collect();
    assert_eq!((accepted.len(), refused.len()), (30, 20));
    assert!(refused.iter().all(|answer| answer.problem(402) == "insufficient_funds"));
    let ids: BTreeSet<String> = accepted.iter().map(|answer| answer.json()["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 30);
    for id in &ids {
        world.get(&world.a.viewer, &format!("/v1/leases/{id}")).await.expect(200);
    }
    let wallet = wallet(&world).await;
    assert_eq!((&wallet["available"]["ticks"], &wallet["wallet"]["ticks"]), (&json!("0"), &json!("0")));
    assert_eq!(wallet["held"]["amount"], "60.000000");
    let entries = world.app.handle().head().size;
    // Everybody repeats: those who got something get the same, the others are refused again, nothing is written.
    for (n, before) in answers.iter().enumerate() {
        let again = charge(n).await;
        assert_eq!(again.status, before.status);
        if again.status.as_u16() == 201 {
            assert_eq!(again.bytes, before.bytes);
        }
    }
    assert_eq!(world.app.handle().head().size, entries);
}

#[tokio::test]
async fn b01_an_idempotency_key_is_its_tenants_own() {
    let world = World::new().await;
    let order = async |by: &str, key: &str, body: Value| {
        world.send((Method::POST, by), "/v1/leases", Some(body), &[("idempotency-key", key)]).await
    };
    let a = order(&world.a.member, "r-0001", core()).await.expect(201);
    let b = order(&world.b.member, "r-0001", core()).await.expect(201);
    assert_ne!(a["id"], b["id"]);
    assert_eq!((&a["tenant"], &b["tenant"]), (&json!(world.a.id), &json!(world.b.id)));
    let again = order(&world.a.member, "r-0001", core()).await.expect(201);
    assert_eq!(a, again);
    // Keys are compared as they are: what would be one text if it were glued together stays two.
    let first = order(&world.a.member, "a:b:c", core()).await.expect(201);
    let second = order(&world.a.member, "a:b", core()).await.expect(201);
    assert_ne!(first["id"], second["id"]);
    let mut other = core();
    other["size"] = json!({ "units": { "kind": "cpu", "amount": "8" } });
    let entries = world.app.handle().head().size;
    assert_eq!(order(&world.a.member, "r-0001", other).await.problem(409), "key_reused");
    assert_eq!(world.app.handle().head().size, entries);
    assert_eq!(world.state().lease.len(), 4);
}

#[tokio::test]
async fn credit_top_ups_and_corrections_are_the_operators() {
    let world = World::with_balance("1").await;
    let credit = json!({ "tenant": world.a.id, "limit": "30" });
    let set = world.send((Method::PUT, &world.operator), "/v1/wallet/credit", Some(credit), &[]).await.expect(200);
    assert_eq!(set["available"]["amount"], "31.000000");
    let adjusted = json!({ "tenant": world.a.id, "amount": "-0.50", "reason": "a slip" });
    let adjusted = world.post(&world.operator, "/v1/wallet/adjustments", adjusted).await.expect(201);
    assert_eq!(adjusted["available"]["amount"], "30.500000");
    let top_up = json!({ "tenant": world.a.id, "payment": "bank-1", "amount": "9.50" });
    let top_up = world.post(&world.operator, "/v1/wallet/top-ups", top_up).await.expect(201);
    assert_eq!(top_up["wallet"]["available"]["amount"], "40.000000");
    let other = json!({ "tenant": world.a.id, "payment": "bank-1", "amount": "9.51" });
    assert_eq!(world.post(&world.operator, "/v1/wallet/top-ups", other).await.problem(409), "exists");
}

#[tokio::test]
async fn a_statement_comes_in_pages_that_only_their_owner_can_turn() {
    let world = World::new().await;
    for _ in 0..3 {
        world.order(&world.a.member).await;
    }
    let seq = world.app.handle().head().size;
    let first = world.get(&world.a.viewer, &format!("/v1/wallet/statement?limit=2&at_least={seq}")).await.expect(200);
    let token = first["next_page"].as_str().unwrap();
    let second = world.get(&world.a.viewer, &format!("/v1/wallet/statement?limit=2&page_token={token}")).await.expect(200);
    assert_ne!(first["items"][0]["id"], second["items"][0]["id"]);
    let foreign = world.get(&world.b.viewer, &format!("/v1/wallet/statement?page_token={token}")).await;
    assert_eq!(foreign.problem(400), "invalid");
    let elsewhere = world.get(&world.a.viewer, &format!("/v1/leases?page_token={token}")).await;
    assert_eq!(elsewhere.problem(400), "invalid");
}
