//! The HTTP surface: routes that mirror their URLs, who may use them, and the way into the core and back.
//!
//! A handler holds no rule: refusals come from `rental`, the table of roles is `rental::tenancy::may`. No object is looked
//! up by its id alone: what is not the caller's is answered like what does not exist.

pub mod agents;
mod app;
mod bodies;
mod body;
mod caller;
mod counters;
mod etag;
mod frame;
mod paging;
mod params;
mod path;
mod problem;
mod refused;
mod routes;
mod secrets;
mod serve;
mod sessions;
mod signed_in;
mod written;

pub use app::{App, Config};
pub use body::{Body, Nothing};
pub use caller::{Caller, Who};
pub use paging::Page;
pub use params::{AtLeast, NoParams, OfTenant, Paged, PagedOfTenant, Params};
pub use problem::{FieldError, Problem, codes};
pub use routes::{openapi, router};
pub use serve::{Tls, TlsError, serve};
pub use written::Written;
