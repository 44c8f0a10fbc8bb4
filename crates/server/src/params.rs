//! Query parameters, with what every read understands: `at_least=SEQ`.

use crate::{App, Problem};
use axum::{extract::FromRequestParts, http::request::Parts};
use serde::{Deserialize, de::DeserializeOwned};
use std::time::Duration;
use units::TenantId;
use utoipa::IntoParams;

/// Query parameters of this shape; `at_least` is waited for before the handler runs.
pub struct Params<T>(pub T);

/// No parameters beside `at_least`.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

/// What every read with parameters understands, as its description says.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AtLeast {
    /// Answers once entry `at_least` is seen: the `X-Suanzu-Seq` of a write that must show.
    pub at_least: Option<u64>,
}

/// Whose: for the operator, who may act for any tenant.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OfTenant {
    /// The tenant; a tenant's key may name its own only.
    #[param(value_type = Option<String>, example = "tenant-1")]
    pub tenant: Option<TenantId>,
}

/// A page of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Paged {
    /// 1 to 1000, 50 unless told.
    pub limit: Option<usize>,
    /// From the page before.
    pub page_token: Option<String>,
}

/// A page of a list of a tenant's.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PagedOfTenant {
    /// The tenant; a tenant's key may name its own only.
    #[param(value_type = Option<String>, example = "tenant-1")]
    pub tenant: Option<TenantId>,
    /// 1 to 1000, 50 unless told.
    pub limit: Option<usize>,
    /// From the page before.
    pub page_token: Option<String>,
}

impl PagedOfTenant {
    /// The page alone.
    pub(crate) fn page(self) -> Paged {
        Paged { limit: self.limit, page_token: self.page_token }
    }
}

/// A reader that has seen a write waits at most so long for what it wrote to show.
const CATCH_UP: Duration = Duration::from_secs(5);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Params<T>, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let (waits, rest): (Vec<&str>, Vec<&str>) = query.split('&').partition(|pair| pair.starts_with("at_least="));
        let value = serde_urlencoded::from_str(&rest.join("&")).map_err(|error| {
            let error = error.to_string();
            Problem::query(&culprit::<T>(&rest, &error), error)
        })?;
        if let Some(wait) = waits.last() {
            let seq = wait["at_least=".len()..].parse();
            catch_up(app, seq.map_err(|_| Problem::query("at_least", "the number of an entry"))?).await?;
        }
        Ok(Params(value))
    }
}

/// The parameter with which this error comes up; empty where one is missing.
///
/// The shape knows every name and takes each once, so that this ends after at most one pair more than it has fields.
fn culprit<T: DeserializeOwned>(pairs: &[&str], error: &str) -> String {
    let pairs: Vec<&str> = pairs.iter().copied().filter(|pair| !pair.is_empty()).collect();
    let comes_up = |n: &usize| serde_urlencoded::from_str::<T>(&pairs[..*n].join("&")).is_err_and(|e| e.to_string() == error);
    let Some(last) = (0..=pairs.len()).find(comes_up).and_then(|n| n.checked_sub(1)) else { return String::new() };
    let named: Vec<(String, String)> = serde_urlencoded::from_str(pairs[last]).unwrap_or_default();
    // What is echoed is echoed in part.
    named.into_iter().flat_map(|(name, _)| name.chars().take(40).collect::<Vec<char>>()).filter(|c| !c.is_control()).collect()
}

/// Waits until entry `seq` is durable, and the views have folded it.
pub(crate) async fn catch_up(app: &App, seq: u64) -> Result<(), Problem> {
    let mut head = app.handle().follow();
    // The guard that waiting gives must not be held over the next wait.
    let durable = tokio::time::timeout(CATCH_UP, head.wait_for(|head| head.size >= seq)).await.is_ok_and(|seen| seen.is_ok());
    if durable && app.views().wait_for(seq, CATCH_UP).await {
        return Ok(());
    }
    Err(Problem::new("not_yet", format!("entry {seq} is not here yet")))
}

/// A duration as people write it: `30s`, `5m`, `500ms`, or plain seconds. At most five minutes.
pub(crate) fn wait(text: Option<&str>) -> Result<Duration, Problem> {
    let Some(text) = text else { return Ok(Duration::ZERO) };
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit_ms = match &text[digits.len()..] {
        "ms" => 1,
        "s" | "" => 1_000,
        "m" => 60_000,
        _ => 0,
    };
    let ms: Option<u64> = digits.parse().ok().filter(|_| unit_ms > 0).and_then(|n: u64| n.checked_mul(unit_ms));
    ms.map(|ms| Duration::from_millis(ms.min(300_000))).ok_or_else(|| Problem::query("wait", "write it as 500ms, 30s or 5m"))
}
