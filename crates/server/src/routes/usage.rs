//! `/v1/usage`: what was charged for use over a time, grouped; as JSON or CSV.

use crate::{
    App, AtLeast, Caller, Params, Problem,
    bodies::{Money, instant},
};
use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use engine::{
    Scope,
    views::{By, Usage, UsageQuery},
};
use rental::tenancy::Act;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{LeaseId, ProjectId, TenantId, Time};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show))
}

/// Which use.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Which {
    /// First instant; 30 days ago, unless told.
    #[serde(default, deserialize_with = "instant")]
    #[param(value_type = Option<String>)]
    from: Option<Time>,
    /// First instant after it; now, unless told.
    #[serde(default, deserialize_with = "instant")]
    #[param(value_type = Option<String>)]
    until: Option<Time>,
    /// `lease`, `sku`, `day`, `project` or `tenant`; several with commas.
    group_by: Option<String>,
    /// Where days begin; China's time, unless told.
    #[param(example = "Asia/Shanghai")]
    zone: Option<String>,
    /// Only of this lease.
    #[param(value_type = Option<String>)]
    lease: Option<LeaseId>,
    /// Only of this project.
    #[param(value_type = Option<String>)]
    project: Option<ProjectId>,
    /// The operator says whose; without it everybody's.
    #[param(value_type = Option<String>)]
    tenant: Option<TenantId>,
    /// `json`, or `csv` for a spreadsheet.
    format: Option<String>,
}

/// Use over a time.
#[derive(Serialize, ToSchema)]
#[schema(as = Usage)]
struct UsageBody {
    /// First instant.
    #[schema(value_type = String, format = DateTime)]
    from: Time,
    /// First instant after it.
    #[schema(value_type = String, format = DateTime)]
    until: Time,
    /// In the order of their keys.
    items: Vec<Group>,
    /// The sum of all groups.
    total: Money,
    /// How many lines of the bill were counted.
    count: u64,
}

/// Use that has its keys in common.
#[derive(Serialize, ToSchema)]
struct Group {
    /// What it is grouped by, with its value.
    keys: BTreeMap<&'static str, String>,
    /// Charged less given back.
    amount: Money,
    /// Whole cards, servers, TFLOPS or cores times hours; `null` where several SKUs are in one group.
    quantity_hours: Option<String>,
    /// How many lines of the bill.
    count: u64,
}

/// Bills are in CNY: days are China's unless told.
const ZONE: &str = "Asia/Shanghai";
/// A month is what people look back on.
const LOOK_BACK_MS: i64 = 30 * 24 * 3_600_000;

/// What was charged for use.
#[utoipa::path(get, path = "/v1/usage", tag = "wallet", params(AtLeast, Which), responses((status = OK, body = UsageBody)))]
async fn show(State(app): State<App>, caller: Caller, Params(which): Params<Which>) -> Result<Response, Problem> {
    caller.may(Act::Look)?;
    let scope = match (caller.is_operator(), which.tenant) {
        (true, None) => Scope::All,
        (_, tenant) => caller.tenant(tenant)?.into(),
    };
    let now = app.handle().now();
    let (from, until) = (which.from.unwrap_or(now.plus_ms(-LOOK_BACK_MS)), which.until.unwrap_or(now));
    let names = names(which.group_by.as_deref())?;
    let project = match (caller.project, which.project) {
        (Some(own), Some(asked)) if own != asked => return Err(Problem::not_found(asked)),
        (own, asked) => own.or(asked),
    };
    let zone = which.zone.as_deref().unwrap_or(ZONE);
    let by = names.iter().map(|name| by(name, zone)).collect::<Result<_, _>>()?;
    let query = UsageQuery { from, until, by, lease: which.lease, project };
    let usage = app.ask(scope, move |within| within.usage(&query)).await?;
    match which.format.as_deref() {
        None | Some("json") => Ok(Json(body(usage, &names, (from, until))).into_response()),
        Some("csv") => Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], csv(&usage, &names)).into_response()),
        Some(_) => Err(Problem::query("format", "json or csv")),
    }
}

const NAMES: [&str; 5] = ["lease", "sku", "day", "project", "tenant"];

fn names(group_by: Option<&str>) -> Result<Vec<&'static str>, Problem> {
    let known = |name: &str| NAMES.into_iter().find(|known| *known == name);
    let asked = group_by.unwrap_or_default().split(',').filter(|name| !name.is_empty());
    let named = asked.map(|name| known(name).ok_or_else(|| Problem::query("group_by", format!("some of {}", NAMES.join(",")))));
    named.collect()
}

fn by(name: &str, zone: &str) -> Result<By, Problem> {
    Ok(match name {
        "lease" => By::Lease,
        "sku" => By::Sku,
        "project" => By::Project,
        "tenant" => By::Tenant,
        _ => By::Day(jiff::tz::TimeZone::get(zone).map_err(|error| Problem::query("zone", error.to_string()))?),
    })
}

fn body(usage: Usage, names: &[&'static str], (from, until): (Time, Time)) -> UsageBody {
    let of_one_sku = names.contains(&"sku") || names.contains(&"lease");
    let group = |group: engine::views::Group| Group {
        keys: names.iter().zip(&group.keys).map(|(name, key)| (*name, key.to_string())).collect(),
        amount: group.ticks.into(),
        quantity_hours: of_one_sku.then(|| hours(group.milli_ms)),
        count: group.lines,
    };
    let items = usage.groups.into_iter().map(group).collect();
    UsageBody { from, until, items, total: usage.total.into(), count: usage.lines }
}

/// Thousandths times milliseconds as wholes times hours, with six decimals, cut off.
fn hours(milli_ms: i128) -> String {
    let millionths = milli_ms / 3_600;
    let sign = if millionths < 0 { "-" } else { "" };
    format!("{sign}{}.{:06}", millionths.abs() / 1_000_000, millionths.abs() % 1_000_000)
}

/// One row per group.
fn csv(usage: &Usage, names: &[&str]) -> Vec<u8> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    let header = names.iter().copied().chain(["amount_cny", "ticks", "lines"]);
    let written = rows.write_record(header).and_then(|()| {
        usage.groups.iter().try_for_each(|group| {
            let keys = group.keys.iter().map(ToString::to_string);
            rows.write_record(keys.chain([group.ticks.amount(), group.ticks.0.to_string(), group.lines.to_string()]))
        })
    });
    written.expect("memory takes every row");
    rows.into_inner().expect("memory takes every row")
}
