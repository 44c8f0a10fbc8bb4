//! `/v1/wallet/statement`: every posting of a wallet, the newest first.

use crate::{
    App, AtLeast, Caller, Page, Params, Problem,
    bodies::Money,
    paging::{self, List},
};
use axum::{Json, extract::State};
use engine::views::{Page as Stretch, Posting, PostingId};
use rental::{billing::Account, tenancy::Act};
use serde::{Deserialize, Serialize};
use units::{LeaseId, TenantId, Ticks, Time};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

/// A posting.
#[derive(Serialize, ToSchema)]
#[schema(as = Posting)]
struct PostingBody {
    /// Entry and place in it.
    #[schema(example = "1042-3")]
    id: String,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    time: Time,
    /// What happened.
    #[schema(example = "money.charged/1")]
    kind: String,
    /// The lease it is for.
    #[schema(value_type = Option<String>)]
    lease: Option<LeaseId>,
    /// What it adds to what is free to use: wallet and debt together.
    change: Money,
    /// The fact, with every movement between accounts, in ticks.
    #[schema(value_type = Object)]
    data: serde_json::Value,
}

/// Which postings.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Which {
    /// 1 to 1000, 50 unless told.
    limit: Option<usize>,
    /// From the page before.
    page_token: Option<String>,
    /// The operator says whose.
    #[param(value_type = Option<String>)]
    tenant: Option<TenantId>,
}

/// Postings within an entry are far fewer.
const PER_ENTRY: u64 = 1 << 16;

/// Every posting of a wallet, the newest first.
#[utoipa::path(get, path = "/v1/wallet/statement", tag = "wallet", params(AtLeast, Which),
    responses((status = OK, body = Page<PostingBody>)))]
async fn list(State(app): State<App>, caller: Caller, Params(which): Params<Which>) -> Result<Json<Page<PostingBody>>, Problem> {
    caller.may_for_all(Act::Look)?;
    let tenant = caller.tenant(which.tenant)?;
    let limit = paging::limit(which.limit)?;
    let list = List { caller: &caller, tenant: Some(tenant), route: "statement" };
    let after = list.after(&app, which.page_token.as_deref())?.map(|packed| PostingId {
        seq: packed / PER_ENTRY,
        number: u32::try_from(packed % PER_ENTRY).expect("the remainder is small"),
    });
    let stretch = Stretch { after, limit: u32::try_from(limit + 1).unwrap_or(u32::MAX), newest_first: true };
    let postings = app.ask(tenant, move |within| within.statement(stretch)).await?;
    let page = Page::cut(postings, limit, &app, &list, |posting| posting.seq * PER_ENTRY + u64::from(posting.number));
    Ok(Json(Page { items: page.items.iter().map(body).collect(), next_page: page.next_page }))
}

fn body(posting: &Posting) -> PostingBody {
    let own = |account| matches!(account, Account::Wallet | Account::Receivable);
    let moves = posting.event.moves();
    let gained: Ticks = moves.iter().filter(|m| own(m.to)).map(|m| m.ticks).sum();
    let spent: Ticks = moves.iter().filter(|m| own(m.from)).map(|m| m.ticks).sum();
    PostingBody {
        id: format!("{}-{}", posting.seq, posting.number),
        time: posting.time,
        kind: posting.event.kind().to_owned(),
        lease: posting.lease,
        change: (gained - spent).into(),
        data: serde_json::to_value(&posting.event).expect("a posting is plain data"),
    }
}
