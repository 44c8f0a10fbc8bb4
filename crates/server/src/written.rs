//! The answer to a write: the object, and the entry that holds it.

use axum::{
    Json,
    http::{HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use serde::Serialize;

/// A body that goes out with the entry's number in `X-Suanzu-Seq`, for `?at_least=`.
pub struct Written<T> {
    /// 200 or 201.
    pub status: StatusCode,
    /// The entry; where nothing had to be written, the last one.
    pub seq: u64,
    /// The object.
    pub body: T,
}

impl<T> Written<T> {
    /// Something new.
    pub fn created(seq: u64, body: T) -> Written<T> {
        Written { status: StatusCode::CREATED, seq, body }
    }

    /// Something changed.
    pub fn changed(seq: u64, body: T) -> Written<T> {
        Written { status: StatusCode::OK, seq, body }
    }
}

impl<T: Serialize> IntoResponse for Written<T> {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        response.headers_mut().insert("x-suanzu-seq", HeaderValue::from(self.seq));
        response
    }
}
