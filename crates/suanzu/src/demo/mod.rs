//! A rental from the order to the receipt on this machine, with its sums checked: what `suanzu demo` shows.
//!
//! This machine is a real pool; beside it stand simulated servers, marked as such wherever they are listed.

mod curtain;
mod lease;
mod sums;
mod work;
mod world;

pub use work::work;

use crate::{app::App, failure::Failure, language::phrases as p};
use curtain::Curtain;
use std::net::SocketAddr;
use world::World;

/// Plays the demo; then serves until it is told to stop, or ends at once.
pub fn run(listen: Option<SocketAddr>, exit: bool, app: &App) -> Result<(), Failure> {
    let mut world = World::build(listen, app)?;
    app.screen.say(&p::DEMO_WORLD, &[&world.url(), &world.folder().display().to_string()]);
    world.show_offers()?;
    let receipt = lease::play(&world)?;
    sums::check(&receipt, &world)?;
    if exit {
        world.end()?;
        app.screen.say(&p::DEMO_DONE, &[]);
        return Ok(());
    }
    let curtain = Curtain::raise(&world)?;
    curtain.tell(&world);
    world.serve_until_stopped(app)?;
    curtain.fall()?;
    world.end()
}
