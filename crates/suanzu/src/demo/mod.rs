//! A rental from the order to the receipt on this machine, with its sums checked: what `suanzu demo` shows.
//!
//! This machine is a real pool; beside it stand simulated servers, marked as such wherever they are listed.

mod curtain;
mod lease;
mod sums;
mod work;
mod world;

pub use work::work;

use crate::{app::App, failure::Failure, interrupt::Interrupt, language::phrases as p};
use curtain::Curtain;
use std::net::SocketAddr;
use world::World;

/// Plays the demo; then serves until it is told to stop, or ends at once. Whatever happens, nothing runs on behind it.
pub fn run(listen: Option<SocketAddr>, exit: bool, app: &App) -> Result<(), Failure> {
    let interrupt = Interrupt::listen()?;
    let world = World::build(listen, app)?;
    let played = play(&world, &interrupt, exit, app);
    let ended = world.end();
    played.and(ended)?;
    if exit {
        app.screen.say(&p::DEMO_DONE, &[]);
    }
    Ok(())
}

fn play(world: &World, interrupt: &Interrupt, exit: bool, app: &App) -> Result<(), Failure> {
    app.screen.say(&p::DEMO_WORLD, &[&world.url(), &world.folder().display().to_string()]);
    world.show_offers()?;
    let receipt = lease::play(world, interrupt)?;
    sums::check(&receipt, world)?;
    if exit {
        return Ok(());
    }
    let curtain = Curtain::raise(world)?;
    curtain.tell(world);
    interrupt.wait();
    app.screen.say(&p::DEMO_ENDS, &[]);
    curtain.fall()
}
