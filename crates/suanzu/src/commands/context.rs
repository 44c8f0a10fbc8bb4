//! `suanzu context`: servers and keys that this user knows by name.

use crate::{
    app::{App, Done},
    client::{Context, Contexts},
    failure::Failure,
    language::phrases as p,
    output::{Column, Show},
};
use clap::Subcommand;
use serde_json::{Value, json};
use std::process::ExitCode;

/// What can be done with contexts.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List contexts; keys are not shown
    List,
    /// Use one from now on
    Use {
        /// Its name
        name: String,
    },
    /// Keep the server and key of this command line (--url, --key, --ca, --tenant) under a name
    Set {
        /// Its name
        name: String,
    },
    /// Forget one
    Remove {
        /// Its name
        name: String,
    },
}

const COLUMNS: &[Column] = &[
    Column::new(&p::NAME, "/id", Show::Text),
    Column::new(&p::CURRENT, "/current", Show::Word),
    Column::new(&p::URL, "/url", Show::Text),
    Column::new(&p::TENANT, "/tenant", Show::Text),
];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    let file = Contexts::file()?;
    let mut contexts = Contexts::load(&file)?;
    match verb {
        Verb::List => app.screen.list(&json!({ "items": rows(&contexts) }), COLUMNS)?,
        Verb::Use { name } => {
            contexts.find(Some(name))?;
            contexts.current = Some(name.clone());
            contexts.save(&file)?;
        }
        Verb::Set { name } => {
            let target = app.client.target().clone();
            let context = Context { url: target.url, key: target.key, ca_file: target.ca_file, tenant: target.tenant };
            keep(&mut contexts, name, context);
            contexts.save(&file)?;
        }
        Verb::Remove { name } => {
            contexts.contexts.remove(name).ok_or_else(|| Failure::Usage(format!("there is no context '{name}'")))?;
            contexts.current.take_if(|current| current == name);
            contexts.save(&file)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Keeps a context; the first one is the current one.
pub fn keep(contexts: &mut Contexts, name: &str, context: Context) {
    contexts.contexts.insert(name.into(), context);
    contexts.current.get_or_insert_with(|| name.into());
}

fn rows(contexts: &Contexts) -> Vec<Value> {
    let current = |name: &String| if contexts.current.as_ref() == Some(name) { "yes" } else { "" };
    let row = |(name, c): (&String, &Context)| json!({ "id": name, "current": current(name), "url": c.url, "tenant": c.tenant });
    contexts.contexts.iter().map(row).collect()
}
