//! `suanzu serve`: the server, until it is told to stop.

use crate::{
    app::{App, Done},
    failure::{Failure, exit},
    language::phrases as p,
    serve::{Config, Server, Simulated},
};
use anyhow::anyhow;
use etcetera::BaseStrategy;
use std::{io::IsTerminal, net::SocketAddr, path::PathBuf, process::ExitCode};
use tokio::signal::unix::{SignalKind, signal};

/// How the server is run. Options go before the configuration file.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Configuration file; suanzu.toml in the data folder if there is one
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Do not run leases on this machine
    #[arg(long)]
    no_host: bool,
    /// Add simulated servers, marked as such
    #[arg(long)]
    simulated: bool,
    /// HTTPS with a certificate of its own making
    #[arg(long)]
    tls: bool,
    /// Log as JSON
    #[arg(long)]
    log_json: bool,
}

/// Carries it out. Ends when it is told to by TERM or Ctrl-C.
pub fn run(args: &Args, app: &App) -> Done {
    let data = app.data.clone().map_or_else(default_data, Ok)?;
    let config = configured(args, Config::load(args.config.as_deref(), &data)?);
    log_to_stderr(args.log_json);
    let server = Server::start(&data, &config).map_err(|error| in_words(error, &config, app))?;
    announce(&server, &config, app);
    server.until_stopped(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

fn configured(args: &Args, config: Config) -> Config {
    let mut config = config;
    config.listen = args.listen.unwrap_or(config.listen);
    config.host.enabled &= !args.no_host;
    if args.simulated {
        config.simulated = Simulated { enabled: true };
    }
    if args.tls {
        config.tls.get_or_insert_default().self_made = true;
    }
    config
}

fn in_words(error: anyhow::Error, config: &Config, app: &App) -> Failure {
    let taken = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::AddrInUse;
    if error.chain().filter_map(|cause| cause.downcast_ref()).any(taken) {
        return Failure::Final(exit::OTHER, app.screen.language.fill(&p::PORT_TAKEN, &[&config.listen.to_string()]));
    }
    Failure::Other(error)
}

fn announce(server: &Server, config: &Config, app: &App) {
    let screen = &app.screen;
    screen.say(&p::SERVING, &[&server.target().url, &server.data().display().to_string()]);
    if let Some(certificate) = &server.target().ca_file {
        screen.say(&p::SERVING_CERTIFICATE, &[&certificate.display().to_string()]);
    }
    if !config.listen.ip().is_loopback() && server.target().url.starts_with("http://") {
        screen.say(&p::SERVING_PLAIN, &[&config.listen.to_string()]);
    }
    if let Some(secret) = server.first_secret() {
        screen.say(&p::FIRST_KEY, &[secret]);
    }
    if let Some(link) = server.sign_in_link() {
        screen.say(&p::SIGN_IN, &[&link]);
    }
}

/// The user's own data folder.
fn default_data() -> Result<PathBuf, Failure> {
    let folders = etcetera::choose_base_strategy().map_err(|e| anyhow!("there is no data folder: {e}; name one with --data"))?;
    Ok(folders.data_dir().join("suanzu"))
}

/// Logs go to standard error; `SUANZU_LOG` sets what is logged.
pub fn log_to_stderr(json: bool) {
    use tracing_subscriber::{EnvFilter, fmt};
    let filter = EnvFilter::try_from_env("SUANZU_LOG").unwrap_or_else(|_| EnvFilter::new("warn,suanzu=info"));
    let builder = fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    // A log that cannot be written must not take down whoever logs.
    let builder = builder.log_internal_errors(false);
    // A second subscriber is refused: then the first one's settings hold.
    let _ = if json { builder.json().try_init() } else { builder.compact().try_init() };
}
