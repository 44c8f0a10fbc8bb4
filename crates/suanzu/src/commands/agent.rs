//! `suanzu agent`: this machine as part of another server's fleet.

use super::serve::log_to_stderr;
use crate::{
    agent::{Agent, Http, Own, Sessions, host, node_name, pauses},
    app::{App, Done},
    client::{Call, Target},
    failure::{Failure, exit},
    language::phrases as p,
    output::{Column, Show},
};
use clap::Subcommand;
use drivers::{Uplink, UplinkError};
use etcetera::BaseStrategy;
use protocol::{Join, Problem};
use serde_json::json;
use std::{path::PathBuf, process::ExitCode, sync::Arc, thread};
use tokio::signal::unix::{SignalKind, signal};

/// What can be done with agents; without a verb, one is run.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    how: How,
}

/// What can be done with agents.
#[derive(Debug, Subcommand)]
enum Verb {
    /// Make an agent and its key, which is shown once (operator)
    Add {
        /// Its name, unique
        name: String,
    },
    /// Run leases on this machine for a server
    Run(How),
}

/// How an agent is run.
#[derive(Debug, clap::Args)]
struct How {
    /// The server to join; its agent key is given with --key or SUANZU_KEY
    #[arg(long, value_name = "URL")]
    join: Option<String>,
    /// Pool that the node joins
    #[arg(long, value_name = "NAME", default_value = "default")]
    pool: String,
    /// Label of the node; may be repeated
    #[arg(long, value_name = "LABEL")]
    label: Vec<String>,
    /// The container engine's socket
    #[arg(long, value_name = "SOCKET")]
    containers: Option<PathBuf>,
    /// Where workloads and their output are kept
    #[arg(long, value_name = "FOLDER")]
    state: Option<PathBuf>,
}

const COLUMNS: &[Column] = &[
    Column::new(&p::ID, "/agent", Show::Text),
    Column::new(&p::NAME, "/name", Show::Text),
    Column::new(&p::SECRET_ONCE, "/secret", Show::Text),
];

/// Carries it out.
pub fn run(args: Args, app: &App) -> Done {
    match args.verb {
        Some(Verb::Add { name }) => app.object(Call::post("/v1/agents").body(json!({ "name": name })), COLUMNS),
        Some(Verb::Run(how)) => serve(how, app),
        None => serve(args.how, app),
    }
}

fn serve(args: How, app: &App) -> Done {
    let target = app.client.target();
    let url = args.join.unwrap_or_else(|| target.url.clone());
    let target = Target { url, tenant: None, ..target.clone() };
    if target.key.is_none() {
        return Err(Failure::Usage(app.screen.language.say(&p::AGENT_KEY).into()));
    }
    log_to_stderr(false);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let sessions = Sessions { target: target.clone(), runtime: runtime.handle().clone() };
    let settings = Own {
        state: args.state.map_or_else(default_state, Ok)?,
        containers: args.containers,
        max_processes: None,
        run_as: None,
        labels: [vec![format!("pool={}", args.pool)], args.label].concat(),
    };
    let (setup, uplink) = (host(&settings, sessions)?, Http::new(target.clone(), app.screen.language)?);
    introduce(&uplink, &setup.join, &args.pool, app)?;
    let agent = Agent::start(setup, Arc::new(uplink))?;
    app.screen.say(&p::AGENT_RUNS, &[&node_name(), &target.url]);
    let stop = agent.stopper();
    let signals = runtime.handle().clone();
    thread::spawn(move || {
        signals.block_on(async {
            let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
            else {
                return;
            };
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        });
        stop();
    });
    agent.join();
    Ok(ExitCode::SUCCESS)
}

/// Joins for the first time. What may pass is waited for; what will not pass by itself ends the agent before it runs.
fn introduce(uplink: &impl Uplink, join: &Join, pool: &str, app: &App) -> Result<(), Failure> {
    for pause in pauses() {
        match uplink.join(join) {
            Ok(_) => return Ok(()),
            Err(UplinkError::Refused(problem)) if is_final(&problem) => return Err(told(&problem, pool, app)),
            Err(error) => tracing::warn!(%error, "cannot join yet"),
        }
        thread::sleep(pause);
    }
    Ok(())
}

/// Another version or other cards may be put right at the server while we wait; these may not.
fn is_final(problem: &Problem) -> bool {
    matches!(problem.status, 401 | 403 | 404 | 422) || matches!(problem.code.as_str(), "no_server" | "exists")
}

fn told(problem: &Problem, pool: &str, app: &App) -> Failure {
    let language = app.screen.language;
    let (code, text) = match (problem.code.as_str(), problem.status) {
        ("no_server", _) => (exit::OTHER, problem.title.clone()),
        ("exists", _) => (exit::OTHER, language.fill(&p::AGENT_NAME_TAKEN, &[&problem.detail])),
        (_, 401) => (exit::NOT_ALLOWED, language.say(&p::AGENT_KEY_UNKNOWN).into()),
        (_, 403) => (exit::NOT_ALLOWED, language.say(&p::AGENT_KEY_IS_NONE).into()),
        (_, 404) if problem.detail.contains("pool") => (exit::NOT_FOUND, language.fill(&p::AGENT_NO_POOL, &[pool])),
        (_, 404) => (exit::NOT_FOUND, problem.detail.clone()),
        _ => (exit::USAGE, problem.detail.clone()),
    };
    Failure::Final(code, text)
}

fn default_state() -> Result<PathBuf, Failure> {
    let folders = etcetera::choose_base_strategy()
        .map_err(|e| anyhow::anyhow!("there is no folder for leases: {e}; name one with --state"))?;
    Ok(folders.data_dir().join("suanzu-agent"))
}
