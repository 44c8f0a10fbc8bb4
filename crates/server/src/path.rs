//! Ids in paths. What is no id of the kind is as good as an id of nothing.

use crate::Problem;
use axum::{
    RequestPartsExt,
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use std::{fmt::Display, str::FromStr};

/// The `{id}` of the path.
pub struct Id<T>(pub T);

impl<S: Send + Sync, T: FromStr<Err: Display>> FromRequestParts<S> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Id<T>, Problem> {
        let Path(text) = parts.extract::<Path<String>>().await.map_err(|_| Problem::not_found("such object"))?;
        text.parse().map(Id).map_err(|_| Problem::not_found(shortened(&text)))
    }
}

/// What is echoed is echoed in part.
fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}
