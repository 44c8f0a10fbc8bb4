//! `suanzu demo`: see [`crate::demo`].

use crate::{
    app::{App, Done},
    demo,
};
use std::{net::SocketAddr, process::ExitCode};

/// How the demo is run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// End after the receipt instead of going on to serve
    #[arg(long)]
    pub exit: bool,
    /// Where to listen; a free port if it is left out
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
}

/// Carries it out.
pub fn run(args: &Args, app: &App) -> Done {
    demo::run(args.listen, args.exit, app)?;
    Ok(ExitCode::SUCCESS)
}
