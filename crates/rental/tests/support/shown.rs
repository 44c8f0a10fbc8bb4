//! Events as scenario scripts show them.

use super::{
    script::Script,
    words::{cny, lease_name, node_name},
};
use rental::{Event, fleet, lease, money};
use std::fmt;
use units::{LeaseId, TenantId, Ticks, Time};

/// An event as a script writes it: the kind without its version, whose it is, and fields.
pub struct Shown {
    kind: String,
    fields: Vec<Field>,
}

enum Field {
    Word(String),
    Money(&'static str, Ticks),
    At(&'static str, Option<Time>),
}

impl Shown {
    /// Whether it is what a line wants: the same kind, and each field that is named.
    pub fn meets(&self, script: &Script, line: &str) -> bool {
        let mut words = line.split_whitespace();
        words.next() == Some(&self.kind) && words.all(|word| self.fields.iter().any(|field| field.is(script, word)))
    }
}

impl Field {
    fn is(&self, script: &Script, word: &str) -> bool {
        let of = |key: &str| if key.is_empty() { Some(word) } else { word.strip_prefix(key)?.strip_prefix('=') };
        match self {
            Field::Word(same) => same == word,
            Field::Money(key, ticks) => of(key).is_some_and(|amount| cny(amount) == Ok(*ticks)),
            Field::At(key, time) => of(key).is_some_and(|at| match time {
                Some(Time::MAX) => at == "never",
                Some(time) => script.time(at) == Ok(*time),
                None => at == "none",
            }),
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        self.fields.iter().try_for_each(|field| match field {
            Field::Word(word) => write!(f, " {word}"),
            Field::Money(key, ticks) => write!(f, " {key}{}{}", if key.is_empty() { "" } else { "=" }, ticks.amount()),
            Field::At(key, Some(time)) => write!(f, " {key}={time}"),
            Field::At(key, None) => write!(f, " {key}=none"),
        })
    }
}

/// Shows an event.
pub fn show(script: &Script, event: &Event) -> Shown {
    let kind = event.kind().split('/').next().unwrap_or_default().to_owned();
    let fields = match event {
        Event::Lease(_, event) => of_lease(script, event),
        Event::Money(tenant, event) => of_money(script, *tenant, event),
        Event::Fleet(event) => of_fleet(script, event),
        Event::Market(_) | Event::Tenancy(_) => vec![],
    };
    Shown { kind, fields }
}

fn of_lease(script: &Script, event: &lease::Event) -> Vec<Field> {
    use lease::Event::*;
    let name = |lease| Field::Word(lease_name(script, lease));
    match event {
        Requested(e) => vec![name(e.lease)],
        Queued(e) => vec![name(e.lease)],
        Placed(e) => {
            let cards = e.grants.iter().map(|g| g.slices.len()).sum::<usize>();
            let of =
                [format!("attempt={}", e.attempt), format!("devices={cards}"), e.sku.to_string(), format!("milli={}", e.milli)];
            let nodes = e.grants.iter().map(|g| Field::Word(format!("on={}", node_name(script, g.node))));
            [name(e.lease)].into_iter().chain(of.map(Field::Word)).chain(nodes).collect()
        }
        MemberReady(e) => vec![name(e.lease), Field::Word(node_name(script, e.node))],
        Started(e) => vec![name(e.lease), Field::At("covered", Some(e.funded_until))],
        Renewed(e) => vec![name(e.lease), Field::At("covered", Some(e.funded_until)), Field::At("arrears", e.arrears_since)],
        Extended(e) => vec![name(e.lease), Field::At("until", e.until)],
        Resized(e) => vec![name(e.lease), Field::Word(format!("milli={}", e.milli)), Field::At("covered", Some(e.funded_until))],
        Stopping(e) => {
            let then = Field::Word(format!("then={}", snake(&e.then)));
            let uncovered = Field::At("uncovered", e.unfunded_from);
            vec![name(e.lease), Field::Word(snake(&e.reason)), then, Field::Money("charged", e.charged), uncovered]
        }
        ServiceEnded(e) => vec![name(e.lease)],
        MemberGone(e) => vec![name(e.lease), Field::Word(node_name(script, e.node))],
        Stopped(e) => vec![name(e.lease)],
        Ended(e) => vec![name(e.lease), Field::Word(snake(&e.reason)), Field::Money("charged", e.charged)],
    }
}

fn of_money(script: &Script, tenant: TenantId, event: &money::Event) -> Vec<Field> {
    use money::Event::*;
    let moved = |moves: &[billing::Movement]| Field::Money("", moves.iter().map(|m| m.ticks).sum());
    let span = |from, until| [Field::At("from", Some(from)), Field::At("until", Some(until))];
    let name = |lease| Field::Word(lease_name(script, lease));
    match event {
        PaymentOpened(e) => vec![whose(script, tenant), Field::Word(e.payment.clone()), Field::Money("", e.ticks)],
        Paid(e) => vec![whose(script, tenant), Field::Word(e.payment.clone()), Field::Money("", e.ticks)],
        PaymentFailed(e) => {
            let late = if e.after_settlement { "after-settlement" } else { "before-settlement" };
            vec![whose(script, tenant), Field::Word(e.payment.clone()), Field::Word(late.into())]
        }
        CreditSet(e) => vec![whose(script, tenant), Field::Money("", e.limit)],
        Adjusted(e) => vec![whose(script, tenant), moved(&e.moves)],
        Held(e) => vec![name(e.lease), moved(&e.moves)],
        Charged(e) => [name(e.lease), Field::Money("", e.ticks)].into_iter().chain(span(e.from, e.until)).collect(),
        Reversed(e) => [name(e.lease), Field::Money("", e.ticks)].into_iter().chain(span(e.from, e.until)).collect(),
        Released(e) => vec![name(e.lease), moved(&e.moves)],
        Lost(e) => [name(e.lease), Field::Money("", e.ticks)].into_iter().chain(span(e.from, e.until)).collect(),
    }
}

fn of_fleet(script: &Script, event: &fleet::Event) -> Vec<Field> {
    let name = |lease: &LeaseId| Field::Word(lease_name(script, *lease));
    match event {
        fleet::Event::Taken(e) => vec![name(&e.lease)],
        fleet::Event::Freed(e) => vec![name(&e.lease)],
        fleet::Event::Cleared(e) => e.leases.iter().map(name).collect(),
        fleet::Event::NodeMarked(e) => vec![Field::Word(node_name(script, e.node)), Field::Word(snake(&e.mark))],
        _ => vec![],
    }
}

fn whose(script: &Script, tenant: TenantId) -> Field {
    let named = script.tenants.iter().find(|(_, id)| **id == tenant);
    Field::Word(named.map_or_else(|| tenant.to_string(), |(name, _)| name.clone()))
}

/// A variant's name as scripts write it.
pub fn snake(variant: &impl fmt::Debug) -> String {
    let mut text = String::new();
    for c in format!("{variant:?}").chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}
