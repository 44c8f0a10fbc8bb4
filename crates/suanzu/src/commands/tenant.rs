//! `suanzu tenant`: who rents.

use super::settings;
use crate::{
    app::{App, Done},
    client::Call,
    language::phrases as p,
    output::{Column, Show},
};
use clap::Subcommand;
use serde_json::{Value, json};
use units::TenantId;

/// What can be done with tenants.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List tenants
    List,
    /// Make a tenant, its first project and its first admin key, which is shown once
    Create {
        /// What people call it
        name: String,
    },
    /// Show one tenant
    Show(Which),
    /// Change limits
    Limit {
        #[command(flatten)]
        which: Which,
        /// FIELD=VALUE: cards, leases, spend; null lifts a limit
        #[arg(required = true, value_name = "FIELD=VALUE", value_parser = settings::field)]
        fields: Vec<(String, Value)>,
    },
    /// Take no more orders of it; what runs runs on
    Close(Which),
    /// Take its orders again
    Open(Which),
}

/// Which tenant.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Which {
    /// Id of the tenant, such as tenant-1
    #[arg(value_name = "TENANT", id = "which_tenant")]
    tenant: TenantId,
}

/// Fields of a tenant.
const COLUMNS: &[Column] = &[
    Column::new(&p::ID, "/id", Show::Text),
    Column::new(&p::NAME, "/name", Show::Text),
    Column::new(&p::CLOSED, "/closed", Show::Word),
    Column::new(&p::PROJECTS, "/projects", Show::Text),
    Column::new(&p::LEASES, "/leases", Show::Text),
    Column::new(&p::DEVICES, "/cards", Show::Text),
    Column::new(&p::LIMITS, "/limits", Show::Text),
];

/// Fields of a tenant that has just been made.
const FOUNDED: &[Column] = &[
    Column::new(&p::TENANT, "/tenant/id", Show::Text),
    Column::new(&p::NAME, "/tenant/name", Show::Text),
    Column::new(&p::PROJECT, "/project", Show::Text),
    Column::new(&p::KEY, "/key", Show::Text),
    Column::new(&p::SECRET_ONCE, "/secret", Show::Text),
];

/// Limits; what is not limited is left out.
const LIMITS: &[Column] = &[
    Column::new(&p::DEVICES, "/cards", Show::Text),
    Column::new(&p::LEASES, "/leases", Show::Text),
    Column::new(&p::SPEND, "/spend", Show::Money),
];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    let of = |which: &Which, beneath: &str| format!("/v1/tenants/{}{beneath}", which.tenant);
    match verb {
        Verb::List => app.list(Call::get("/v1/tenants"), COLUMNS),
        Verb::Create { name } => app.object(Call::post("/v1/tenants").body(json!({ "name": name })), FOUNDED),
        Verb::Show(which) => app.object(Call::get(of(which, "")), COLUMNS),
        Verb::Limit { which, fields } => {
            app.object(settings::changed(&of(which, "/limits"), fields, &["cards", "spend"], app)?, LIMITS)
        }
        Verb::Close(which) => app.object(Call::post(of(which, "/close")), COLUMNS),
        Verb::Open(which) => app.object(Call::post(of(which, "/open")), COLUMNS),
    }
}
