//! Lists in pages: `limit`, and a token that is bound to the asker and the list.

use crate::{App, Caller, Paged, Problem};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::hmac;
use serde::Serialize;
use units::TenantId;
use utoipa::ToSchema;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct Page<T> {
    /// In the list's order.
    pub items: Vec<T>,
    /// Pass it as `page_token` for the rest; `null` at the end.
    pub next_page: Option<String>,
}

/// What a list is of: part of each token's signature.
pub(crate) struct List<'a> {
    pub caller: &'a Caller,
    pub tenant: Option<TenantId>,
    pub route: &'static str,
}

/// Half a SHA-256 is more than anybody guesses.
const TAG: usize = 16;

impl<T> Page<T> {
    /// All there is, in one page.
    pub fn whole(items: Vec<T>) -> Page<T> {
        Page { items, next_page: None }
    }

    /// The first `limit` of `items`, which were taken one more than that; `key` says where the rest begins.
    pub(crate) fn cut(mut items: Vec<T>, limit: usize, app: &App, list: &List<'_>, key: impl Fn(&T) -> u64) -> Page<T> {
        let more = items.len() > limit;
        items.truncate(limit);
        let next_page = items.last().filter(|_| more).map(|last| list.token(app, key(last)));
        Page { items, next_page }
    }
}

impl<T> Page<T> {
    /// A page of a list that is in memory as a whole, ascending by `key`.
    pub(crate) fn of(
        all: Vec<T>,
        paged: &Paged,
        app: &App,
        list: &List<'_>,
        key: impl Fn(&T) -> u64,
    ) -> Result<Page<T>, Problem> {
        let limit = limit(paged.limit)?;
        let after = list.after(app, paged.page_token.as_deref())?;
        let rest = all.into_iter().filter(|item| after.is_none_or(|after| key(item) > after));
        Ok(Page::cut(rest.take(limit + 1).collect(), limit, app, list, key))
    }
}

/// The `limit` parameter: 50 unless told, at most 1000.
pub(crate) fn limit(given: Option<usize>) -> Result<usize, Problem> {
    match given.unwrap_or(50) {
        limit @ 1..=1000 => Ok(limit),
        _ => Err(Problem::query("limit", "1 to 1000")),
    }
}

impl List<'_> {
    fn token(&self, app: &App, after: u64) -> String {
        let mut bytes = after.to_be_bytes().to_vec();
        bytes.extend_from_slice(&self.tag(app, after).as_ref()[..TAG]);
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Where the page begins: after this number.
    pub fn after(&self, app: &App, token: Option<&str>) -> Result<Option<u64>, Problem> {
        let Some(token) = token else { return Ok(None) };
        let read = || {
            let bytes = BASE64_URL_SAFE_NO_PAD.decode(token).ok()?;
            let (after, tag) = bytes.split_first_chunk::<8>()?;
            let after = u64::from_be_bytes(*after);
            (tag == &self.tag(app, after).as_ref()[..TAG]).then_some(after)
        };
        read().map(Some).ok_or_else(|| Problem::query("page_token", "it is not one of this list's"))
    }

    fn tag(&self, app: &App, after: u64) -> hmac::Tag {
        let tenant = self.tenant.map_or(0, |tenant| tenant.0);
        let project = self.caller.project.map_or(0, |project| project.0);
        hmac::sign(app.page_key(), format!("{} {tenant} {project} {} {after}", self.route, self.caller.owner.0).as_bytes())
    }
}
