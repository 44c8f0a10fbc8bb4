//! What a `then` line can ask of the state.

use super::{
    script::Script,
    shown::snake,
    words::{Names, Words, cny, lease_name, thousandths},
};
use billing::Account;
use rental::lease::Status;
use units::{LeaseId, Owner};

/// Holds one `then` line against the state.
pub fn check(script: &Script, words: Words<'_>) -> Result<(), String> {
    let (state, names) = (&script.world.state, Names(script));
    match *words {
        ["queue", ref waiting @ ..] => {
            let now: Vec<String> = state.lease.waiting(None).map(|lease| lease_name(script, lease.id)).collect();
            let now = if now.is_empty() { vec!["empty".to_owned()] } else { now };
            same(&now.join(" "), &waiting.join(" "))
        }
        [cards, "cards", "are", "free"] => {
            let free: u32 = state.fleet.devices().occupancy().iter().map(|o| o.free_cards).sum();
            same(&free.to_string(), cards)
        }
        ["an", "empty", "node", name] => {
            let empty = state.fleet.devices().node(names.node(name)?).is_some_and(|node| node.is_empty());
            same(&empty.to_string(), "true")
        }
        [who, "stops", "by", time] => {
            let at = rental::stop_by(state, names.tenant(who)?, script.world.now);
            if at == Some(script.time(time)?) { Ok(()) } else { Err(format!("it is {at:?}")) }
        }
        [who, "uses", cards, "cards"] => {
            same(&state.lease.cards_milli_of(names.tenant(who)?).to_string(), &thousandths(cards)?.to_string())
        }
        [who, what, amount] if script.tenants.contains_key(who) => {
            let book = state.money.book(names.tenant(who)?);
            let is = match what {
                "wallet" => book.balance(Account::Wallet),
                "held" => book.balance(Account::Held),
                "available" => book.available(),
                "owes" => book.debt(),
                "charged" => book.totals().charged,
                "paid" => book.totals().paid,
                "lost" => -book.balance(Account::Loss),
                _ => return Err(format!("what is '{what}'?")),
            };
            if is == cny(amount)? { Ok(()) } else { Err(format!("it is {}", is.amount())) }
        }
        [who, "has", parts, "parts"] => same(&state.part_seq(Owner::from(names.tenant(who)?)).to_string(), parts),
        [lease, ref is @ ..] => check_lease(script, names.lease(lease)?, is),
        _ => Err("no such question".into()),
    }
}

fn check_lease(script: &Script, lease: LeaseId, words: Words<'_>) -> Result<(), String> {
    let lease = script.world.state.lease.get(lease);
    match *words {
        ["is", "ended"] => same(if lease.is_none() { "ended" } else { "alive" }, "ended"),
        ["is", status] => {
            let is = lease.map_or("ended".into(), |l| match l.status {
                Status::Stopping(_) => "stopping".into(),
                status => snake(&status),
            });
            same(&is, status)
        }
        ["is", status, "because", reason] => {
            check_lease(script, lease.map_or(LeaseId(0), |l| l.id), &["is", status])?;
            same(&lease.and_then(|l| l.reason).map_or("none".into(), |r| snake(&r)), reason)
        }
        ["is", "covered", "until", time] => {
            let at = lease.map(|l| l.funded_until);
            if at == Some(script.time(time)?) { Ok(()) } else { Err(format!("it is {at:?}")) }
        }
        ["shares", "a", "card", "with", n, "others"] => {
            let device = lease.and_then(|l| l.slices().next()).map(|s| s.device);
            let all = script.world.state.lease.all().filter(|l| l.slices().any(|s| Some(s.device) == device)).count();
            same(&(all - 1).to_string(), n)
        }
        _ => Err("no such question".into()),
    }
}

fn same(is: &str, wanted: &str) -> Result<(), String> {
    if is == wanted { Ok(()) } else { Err(format!("it is {is}")) }
}
