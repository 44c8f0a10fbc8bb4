//! `/v1/events`: what happened, as CloudEvents: a list, or a stream that goes on.

use crate::{
    App, AtLeast, Caller, Page, Params, Problem,
    paging::{self, List},
};
use axum::{
    Json,
    extract::State,
    http::HeaderMap,
    response::{
        IntoResponse, Response,
        sse::{Event as Sse, KeepAlive},
    },
};
use engine::{Scope, proofs, views::Page as Stretch};
use futures_util::{Stream, StreamExt, stream};
use rental::{Event, Part, tenancy::Act};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use tokio::sync::watch;
use units::{Owner, TenantId, Time};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

/// A CloudEvent (1.0, JSON).
#[derive(Serialize, ToSchema)]
#[schema(as = Event)]
struct CloudEvent {
    /// `1.0`.
    specversion: &'static str,
    /// The log.
    source: String,
    /// Entry and place in the owner's part: unique within the source.
    #[schema(example = "1042-0")]
    id: String,
    /// The kind with its version.
    #[schema(example = "lease.placed/1")]
    r#type: String,
    /// The lease, where it is about one.
    subject: Option<String>,
    /// The entry's time.
    #[schema(value_type = String, format = DateTime)]
    time: Time,
    /// `application/json`.
    datacontenttype: &'static str,
    /// The fact.
    #[schema(value_type = Object)]
    data: serde_json::Value,
}

/// Which events.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Which {
    /// `true`: a stream of server-sent events that goes on.
    #[serde(default)]
    follow: bool,
    /// Only of entries after this one.
    after: Option<u64>,
    /// 1 to 1000 entries, 50 unless told.
    limit: Option<usize>,
    /// From the page before.
    page_token: Option<String>,
    /// The operator says whose; without it his own.
    #[param(value_type = Option<String>)]
    tenant: Option<TenantId>,
}

/// What happened, of the owner's own parts only.
#[utoipa::path(get, path = "/v1/events", tag = "proofs", params(AtLeast, Which), responses((status = OK, body = Page<CloudEvent>)))]
async fn list(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Params(which): Params<Which>,
) -> Result<Response, Problem> {
    caller.may_for_all(Act::Look)?;
    let owner = super::proofs::owner(&caller, which.tenant)?;
    let limit = paging::limit(which.limit)?;
    let list = List { caller: &caller, tenant: owner.tenant(), route: "events" };
    let after = list.after(&app, which.page_token.as_deref())?.or(which.after);
    if which.follow {
        let last = headers.get("last-event-id").and_then(|id| heard(id.to_str().ok()?));
        let heard = last.unwrap_or_else(|| Heard { seq: after.unwrap_or_else(|| app.handle().head().size), events: None });
        let events = follow(app.clone(), owner, heard).take_until(Box::pin(caller.lapsed(app, Act::Look)));
        return Ok(axum::response::Sse::new(events).keep_alive(KeepAlive::default()).into_response());
    }
    let parts = read(&app, owner, after, limit + 1).await?;
    let page = Page::cut(parts, limit, &app, &list, |part| part.seq);
    let items = page.items.iter().flat_map(|part| events(&app, part)).collect();
    Ok(Json(Page::<CloudEvent> { items, next_page: page.next_page }).into_response())
}

/// How far a listener has heard: the whole of an entry, or its first events.
struct Heard {
    seq: u64,
    events: Option<usize>,
}

/// What the id of the last event says.
fn heard(id: &str) -> Option<Heard> {
    let (seq, number) = id.split_once('-')?;
    Some(Heard { seq: seq.parse().ok()?, events: Some(number.parse::<usize>().ok()?.saturating_add(1)) })
}

impl Heard {
    /// The last entry that was heard to its end.
    fn whole(&self) -> u64 {
        self.seq.saturating_sub(u64::from(self.events.is_some()))
    }

    fn events_of(&self, seq: u64) -> usize {
        self.events.filter(|_| self.seq == seq).unwrap_or(0)
    }
}

/// Every event that was not heard, for as long as anybody listens.
fn follow(app: App, owner: Owner, heard: Heard) -> impl Stream<Item = Result<Sse, Infallible>> {
    let applied = app.views().applied();
    let turns = stream::unfold(Listening { app, owner, applied, heard }, |listening| listening.next());
    turns.flat_map(stream::iter).map(|event| {
        let json = serde_json::to_string(&event).expect("an event is plain data");
        Ok(Sse::default().id(&event.id).event(&event.r#type).data(json))
    })
}

struct Listening {
    app: App,
    owner: Owner,
    applied: watch::Receiver<u64>,
    heard: Heard,
}

impl Listening {
    /// Waits for the next events. Ends where they cannot be read: the listener comes back with the last id it got.
    async fn next(mut self) -> Option<(Vec<CloudEvent>, Listening)> {
        loop {
            self.applied.borrow_and_update();
            let parts = read(&self.app, self.owner, Some(self.heard.whole()), 256).await.ok()?;
            if let Some(last) = parts.last() {
                let fresh = |part: &Part| events(&self.app, part).into_iter().skip(self.heard.events_of(part.seq));
                let events = parts.iter().flat_map(fresh).collect();
                self.heard = Heard { seq: last.seq, events: None };
                return Some((events, self));
            }
            tokio::select! {
                changed = self.applied.changed() => changed.ok()?,
                () = self.app.closed() => return None,
            }
        }
    }
}

async fn read(app: &App, owner: Owner, after: Option<u64>, limit: usize) -> Result<Vec<Part>, Problem> {
    let stretch = Stretch { after, limit: u32::try_from(limit).unwrap_or(u32::MAX), newest_first: false };
    let seqs = app.ask(Scope::Owner(owner), move |within| {
        Ok(within.parts(stretch)?.into_iter().map(|part| part.seq).collect::<Vec<u64>>())
    });
    let seqs = seqs.await?;
    if seqs.is_empty() {
        return Ok(Vec::new());
    }
    app.blocking(move |app| Ok(proofs::parts(app.handle(), owner, &seqs)?)).await
}

fn events(app: &App, part: &Part) -> Vec<CloudEvent> {
    let source = format!("suanzu/{}", app.handle().keys().log());
    let event = |(number, event): (usize, &Event)| {
        let mut json = serde_json::to_value(event).expect("an event is plain data");
        let data = json["data"].take();
        CloudEvent {
            specversion: "1.0",
            source: source.clone(),
            id: format!("{}-{number}", part.seq),
            r#type: event.kind().to_owned(),
            subject: data["lease"].as_str().map(str::to_owned),
            time: part.time,
            datacontenttype: "application/json",
            data,
        }
    };
    part.events.iter().enumerate().map(event).collect()
}
