//! `suanzu console`: the page of the server, for a browser.

use crate::{
    app::{App, Done},
    client::Call,
    language::phrases as p,
    output::{Column, Show},
};

const COLUMNS: &[Column] = &[Column::new(&p::URL, "/url", Show::Text)];

/// Makes a link that signs a browser in once, with the rights of the key at hand.
pub fn run(app: &App) -> Done {
    app.object(Call::post("/v1/sign-in-links"), COLUMNS)
}
