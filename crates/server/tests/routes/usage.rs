//! `/v1/usage`: a day's use of two tenants, seen by one of them.

use crate::world::World;
use axum::http::Method;
use engine::{Engine, Submission};
use rental::{
    Command,
    billing::Sku,
    fleet, lease, market, money,
    placement::{DeviceSpec, NodeSpec},
    tenancy::{self, Limits, Role},
};
use serde_json::{Value, json};
use units::{
    AgentId, Ask, Beside, DeviceId, HOUR_MS, Interval, LeaseId, Micro, NodeId, Observation, Phase, PoolId, ProjectId, Size,
    TenantId, Ticks, Time,
};

const A: TenantId = TenantId(1);
const B: TenantId = TenantId(2);

/// Tenant A has three records of 18.00, tenant B two; B may spend 40.00.
fn past(engine: &mut Engine) {
    let start: Time = "2026-03-02T00:00:00+08:00".parse().unwrap();
    let mut submit = |at: Time, command: Command| engine.submit(at, Submission::plain("past", command)).unwrap();
    let device = DeviceSpec { id: DeviceId(0), model: "GPU".into(), memory_mib: 81_920, tflops_milli: 0, max_shares: 0 };
    let spec = NodeSpec { pool: PoolId(1), cpu_milli: 8_000, memory_mib: 65_536, labels: vec![], devices: vec![device; 5] };
    submit(start, Command::Fleet(fleet::Command::AddPool { name: "pool".into() }));
    submit(start, Command::Fleet(fleet::Command::JoinAgent { name: "agent".into() }));
    submit(start, Command::Fleet(fleet::Command::AddNode { pool: PoolId(1), agent: AgentId(1), name: "node".into(), spec }));
    let prices = vec![
        market::Price { sku: Sku::Card("GPU".into()), micro: Micro::from_cny(18) },
        market::Price { sku: Sku::Cpu, micro: Micro::from_cny(4) },
    ];
    submit(start, Command::Market(market::Command::PublishPrices { from: start, prices }));
    for tenant in [A, B] {
        submit(start, Command::Tenancy(tenancy::Command::CreateTenant));
        let ticks = Ticks::from_cny(1_000);
        submit(start, Command::Money(money::Command::TopUp { tenant, payment: "first".into(), ticks }));
    }
    for (n, tenant) in [A, A, A, B, B].into_iter().enumerate() {
        let lease = LeaseId(n as u64 + 1);
        submit(start, order(tenant));
        let seen = Observation { lease, attempt: 1, node: NodeId(1), phase: Phase::Ready, ago_ms: 0 };
        submit(start, Command::Lease(lease::Command::report(seen, start)));
    }
    let end = start.plus_ms(HOUR_MS);
    for (n, tenant) in [A, A, A, B, B].into_iter().enumerate() {
        let lease = LeaseId(n as u64 + 1);
        submit(end, Command::Lease(lease::Command::Destroy { tenant, lease }));
        let seen = Observation { lease, attempt: 1, node: NodeId(1), phase: Phase::Gone, ago_ms: 0 };
        submit(end, Command::Lease(lease::Command::report(seen, end)));
    }
    let limits = Limits { spend: Some(Ticks::from_cny(40)), ..Limits::default() };
    submit(end, Command::Tenancy(tenancy::Command::SetLimits { tenant: B, limits }));
}

fn order(tenant: TenantId) -> Command {
    let ask = Ask {
        size: Size::Cards(1),
        models: vec![],
        card_memory_mib: 0,
        beside: Beside::default(),
        pool: None,
        labels: vec![],
        interval: Interval { from: Time(0), until: None },
    };
    let project = ProjectId(tenant.0);
    let (wait, on_failure, most) = (false, lease::OnFailure::End, None);
    Command::Lease(lease::Command::Request(Box::new(lease::Request { tenant, project, ask, wait, on_failure, most })))
}

/// The day in question.
const DAY: &str = "from=2026-03-02T00:00:00%2B08:00&until=2026-03-03T00:00:00%2B08:00";

#[track_caller]
fn is_bs(usage: &Value) {
    assert_eq!((&usage["total"]["amount"], &usage["count"]), (&json!("36.000000"), &json!(2)));
}

#[tokio::test]
async fn b57_filters_groupings_totals_and_exports_stay_inside_the_tenant() {
    let world = World::open(past).await;
    let secret = async |tenant, role| world.app.issue_tenant_key(tenant, role).await.unwrap().1;
    let (a, b) = (secret(A, Role::Viewer).await, secret(B, Role::Viewer).await);
    let seq = world.app.handle().head().size;
    let usage = async |more: &str| world.get(&b, &format!("/v1/usage?{DAY}&at_least={seq}{more}")).await;
    is_bs(&usage("").await.expect(200));
    is_bs(&usage("&tenant=tenant-2").await.expect(200));
    assert_eq!(usage("&tenant=tenant-1").await.problem(404), "not_found");
    for tenants in ["tenant-1,tenant-2", "*", "tenant-2&tenant=tenant-1"] {
        assert_eq!(usage(&format!("&tenant={tenants}")).await.problem(400), "invalid", "{tenants}");
    }
    let by_tenant = usage("&group_by=tenant").await.expect(200);
    is_bs(&by_tenant);
    assert_eq!(by_tenant["items"].as_array().unwrap().len(), 1);
    assert_eq!(by_tenant["items"][0]["keys"]["tenant"], "tenant-2");
    let by_lease_and_day = usage("&group_by=day,lease,sku,project").await.expect(200);
    is_bs(&by_lease_and_day);
    let keys = json!({ "day": "2026-03-02", "lease": "lease-4", "sku": "card/GPU", "project": "project-2" });
    assert_eq!(by_lease_and_day["items"][0]["keys"], keys);
    assert_eq!(by_lease_and_day["items"][0]["quantity_hours"], "1.000000");
    let foreign = usage("&lease=lease-1").await.expect(200);
    assert_eq!((&foreign["total"]["ticks"], &foreign["count"]), (&json!("0"), &json!(0)));
    let foreign = usage("&project=project-1").await.expect(200);
    assert_eq!(foreign["count"], 0);
    let csv = usage("&group_by=lease&format=csv").await.text();
    assert_eq!(
        csv,
        "lease,amount_cny,ticks,lines\nlease-4,18.000000,5832000000000000000,1\nlease-5,18.000000,5832000000000000000,1\n"
    );

    // A page of A's list is no page of B's.
    let page = world.get(&a, "/v1/leases?state=ended&limit=1").await.expect(200);
    let token = page["next_page"].as_str().unwrap();
    assert_eq!(world.get(&b, &format!("/v1/leases?state=ended&page_token={token}")).await.problem(400), "invalid");
    assert_eq!(world.get(&b, "/v1/leases?state=all").await.expect(200)["items"].as_array().unwrap().len(), 2);
    let events = world.get(&b, "/v1/events?limit=1000").await.expect(200).to_string();
    assert!(!events.contains("\"lease-1\"") && events.contains("\"lease-4\""));
    assert_eq!(world.get(&b, "/metrics").await.problem(403), "forbidden");

    // 36.00 spent and 4.00 to hold is within 40.00, whatever A has spent.
    let member = secret(B, Role::Member).await;
    let core = json!({ "size": { "units": { "kind": "cpu", "amount": "1" } }, "wait": false });
    world.post(&member, "/v1/leases", core.clone()).await.expect(201);
    assert_eq!(world.post(&member, "/v1/leases", core).await.problem(402), "spend_limit_reached");

    // The operator sees both.
    let all = world.get(&world.operator, &format!("/v1/usage?{DAY}&group_by=tenant")).await.expect(200);
    assert_eq!((&all["total"]["amount"], &all["count"]), (&json!("90.000000"), &json!(5)));
    let head = world.send((Method::GET, &world.operator), "/v1/nodes/node-1", None, &[]).await.expect(200);
    assert_eq!(head["leases"].as_array().unwrap().len(), 1);
}
