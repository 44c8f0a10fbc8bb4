//! The end of a world: everything is repaired and stopped, and then nothing may be left over anywhere.

use crate::{
    audit::audit,
    world::{Call, World},
};
use rental::{Command, State, fleet, lease};
use units::{HOUR_MS, Owner, Ticks};

/// Long enough for the slowest start, end and measurement, and for the latest letter.
const QUIET_MS: i64 = HOUR_MS;

/// Heals all faults, ends all leases, and lets it become quiet.
pub(super) fn quiet(world: &mut World) -> Result<(), String> {
    world.plane.disk.heal();
    world.plane.restart(world.now)?;
    let now = world.now;
    world.sites.iter_mut().for_each(|site| site.heal(now));
    // What was said before the last repeat of a call arrives while leases still end.
    for _ in 0..2 {
        world.advance(world.now.plus_ms(QUIET_MS / 2))?;
        end_all(world)?;
    }
    world.advance(world.now.plus_ms(QUIET_MS))?;
    nothing_left(world)
}

fn end_all(world: &mut World) -> Result<(), String> {
    let living: Vec<_> = {
        let Some(state) = world.plane.state() else { return Err("the healed control plane is down".into()) };
        state.lease.all().map(|lease| (lease.id, lease.tenant)).collect()
    };
    let destroy = |(lease, tenant)| Call::plain(Owner::OPERATOR, Command::Lease(lease::Command::Destroy { tenant, lease }));
    world.calls(living.into_iter().map(destroy).collect())
}

fn nothing_left(world: &World) -> Result<(), String> {
    let Some(state) = world.plane.state() else { return Err("the healed control plane is down".into()) };
    let left = |what: &str, none: bool| if none { Ok(()) } else { Err(format!("after everything has ended, {what} is left")) };
    if let Some(lease) = state.lease.all().next() {
        return Err(format!("{} was ended and is still {:?}", lease.id, lease.status));
    }
    if let Some((lease, run)) = state.money.runs().first() {
        return Err(format!("{lease} is over and its run is open: {run:?}"));
    }
    for (tenant, book) in state.money.books() {
        left(&format!("a hold of {tenant}"), book.balance(billing::Account::Held) == Ticks::ZERO)?;
    }
    if let Some((lease, grant)) = state.fleet.waiting().next() {
        return Err(format!("{grant:?} of {lease} was freed and never measured clean"));
    }
    state.fleet.devices().check_against(&[], &[])?;
    for site in &world.sites {
        if let Some(seen) = site.truth(world.now).next() {
            return Err(format!("after everything has ended {} is on its node", seen.instance));
        }
        left("an assignment", site.agent().assigned().iter().next().is_none())?;
    }
    check_marks(&state)
}

/// Nodes that are all back are all on offer, but for those that the operator drains.
fn check_marks(state: &State) -> Result<(), String> {
    let away = |node: &&fleet::Node| !matches!(node.mark, fleet::Mark::Offered | fleet::Mark::Draining);
    state.fleet.nodes.values().find(away).map_or(Ok(()), |node| Err(format!("{} is back and still {:?}", node.name, node.mark)))
}

/// Folds the journal anew, has it audited, and compares both with what is live. Gives what all tenants were charged.
pub(super) fn reckon(world: &World) -> Result<Ticks, String> {
    let Some(state) = world.plane.state() else { return Err("the healed control plane is down".into()) };
    let mut folded = State::default();
    engine::fold(&mut folded, &mut world.plane.disk.clone()).map_err(|e| e.to_string())?;
    if folded != *state {
        return Err("the journal, folded anew, is not the state that is live".into());
    }
    audit(&world.plane.disk, &state).map(|audited| audited.charged)
}
