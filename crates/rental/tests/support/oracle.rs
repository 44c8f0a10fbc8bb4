//! What everything must have cost, recomputed naively: runs as they started and ended, prices as they were published.
//! Shares no code with `billing`.

use rental::{Command, Event, lease, market, money};
use std::collections::BTreeMap;
use units::{LeaseId, TenantId, Ticks, Time};

/// One run of a lease.
#[derive(Debug, Clone)]
struct Run {
    tenant: TenantId,
    sku: String,
    started: Option<Time>,
    /// Since when which size.
    sizes: Vec<(Time, u64)>,
    /// Charged up to here, by the lines seen.
    upto: Option<Time>,
    charged: i128,
}

/// The books kept beside the core.
#[derive(Debug, Default)]
pub struct Oracle {
    /// Every publication in order: SKU, from when, price.
    prices: Vec<(String, Time, i64)>,
    runs: BTreeMap<LeaseId, Run>,
    ends: BTreeMap<LeaseId, Time>,
    charged: BTreeMap<TenantId, i128>,
    /// Runs that nothing covered from an instant on, until it is told how long they ran.
    uncovered: BTreeMap<LeaseId, (Run, Time)>,
}

impl Oracle {
    /// Takes in what a command led to.
    pub fn see(&mut self, now: Time, command: &Command, events: &[Event]) -> Result<(), String> {
        for event in events {
            match event {
                Event::Lease(tenant, event) => self.lease(now, *tenant, command, event)?,
                Event::Money(_, money::Event::Charged(e)) => {
                    let run = self.runs.get_mut(&e.lease).ok_or("a charge without a run")?;
                    let next = run.upto.or(run.started).ok_or("a charge before the start")?;
                    let end = self.ends.get(&e.lease).copied().unwrap_or(Time::MAX);
                    if e.from != next || e.until > now.min(end) {
                        return Err(format!("{} charged {} to {}, charged up to {next}", e.lease, e.from, e.until));
                    }
                    run.upto = Some(e.until);
                    run.charged += e.ticks.0;
                }
                Event::Money(_, money::Event::Reversed(e)) => {
                    let run = self.runs.get_mut(&e.lease).ok_or("a reversal without a run")?;
                    run.upto = run.upto.map(|upto| upto.min(e.from));
                    run.charged -= e.ticks.0;
                }
                Event::Market(market::Event::PricesPublished(e)) => {
                    self.prices.extend(e.items.iter().map(|item| (item.sku.to_string(), e.from, item.price.0)));
                }
                Event::Money(_, money::Event::Lost(e)) => {
                    let (run, from) = self.uncovered.get(&e.lease).ok_or("a loss that was covered")?;
                    if e.from != *from || e.until > now || e.ticks.0 != self.cost(run, *from, e.until) {
                        return Err(format!(
                            "{} lost {} from {} to {}, uncovered from {from}",
                            e.lease, e.ticks, e.from, e.until
                        ));
                    }
                }
                Event::Fleet(_) | Event::Money(..) | Event::Market(_) | Event::Tenancy(_) => {}
            }
        }
        Ok(())
    }

    fn lease(&mut self, now: Time, tenant: TenantId, command: &Command, event: &lease::Event) -> Result<(), String> {
        match event {
            lease::Event::Requested(e) => {
                self.ends.extend(e.ask.interval.until.map(|end| (e.lease, end)));
            }
            lease::Event::Extended(e) => {
                self.ends.remove(&e.lease);
                self.ends.extend(e.until.map(|end| (e.lease, end)));
            }
            lease::Event::Placed(e) => {
                let sizes = vec![(now, e.milli)];
                let run = Run { tenant, sku: e.sku.to_string(), started: None, sizes, upto: None, charged: 0 };
                self.runs.insert(e.lease, run);
            }
            lease::Event::Started(e) => self.runs.get_mut(&e.lease).ok_or("started without a place")?.started = Some(now),
            lease::Event::Resized(e) if !e.grants.is_empty() => {
                self.runs.get_mut(&e.lease).ok_or("resized without a place")?.sizes.push((now, e.milli));
            }
            lease::Event::Stopping(e) => {
                // A second one only says what becomes of it.
                let Some(run) = self.runs.remove(&e.lease) else { return Ok(()) };
                return self.close(now, command, run, e);
            }
            lease::Event::ServiceEnded(e) => {
                self.uncovered.remove(&e.lease);
            }
            lease::Event::Stopped(lease::Stopped { lease }) | lease::Event::Ended(lease::Ended { lease, .. })
                if self.uncovered.contains_key(lease) =>
            {
                return Err(format!("{lease} is gone, and nobody bears what it ran uncovered"));
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, now: Time, command: &Command, run: Run, e: &lease::Stopping) -> Result<(), String> {
        let Some(started) = run.started else {
            let free = e.served_until.is_none() && run.charged == 0 && e.charged == Ticks::ZERO;
            return if free { Ok(()) } else { Err(format!("{} never ran, and cost {}", e.lease, e.charged)) };
        };
        let told = match command {
            Command::Lease(lease::Command::Report { sightings }) => {
                sightings.iter().find(|told| told.seen.lease == e.lease).map_or(now, |told| told.since)
            }
            Command::Lease(lease::Command::GiveUp { leases }) => {
                leases.iter().find(|(id, _)| *id == e.lease).map_or(now, |(_, served)| *served)
            }
            _ => now,
        };
        let end = self.ends.get(&e.lease).copied().unwrap_or(Time::MAX);
        let served = told.min(now).min(end).max(started);
        let paid_until = e.unfunded_from.unwrap_or(served).min(served);
        let cost = self.cost(&run, started, paid_until);
        if e.served_until != Some(served) || cost != run.charged || e.charged.0 != cost {
            return Err(format!(
                "{} ran from {started} to {served}, paid until {paid_until}: {cost}; lines {}, said {:?}",
                e.lease, run.charged, e
            ));
        }
        *self.charged.entry(run.tenant).or_default() += cost;
        if let Some(from) = e.unfunded_from {
            self.uncovered.insert(e.lease, (run, from));
        }
        Ok(())
    }

    /// What each tenant was charged over his life.
    pub fn charged(&self) -> BTreeMap<TenantId, i128> {
        let mut sums = self.charged.clone();
        for run in self.runs.values() {
            if let (Some(started), Some(upto)) = (run.started, run.upto) {
                *sums.entry(run.tenant).or_default() += self.cost(run, started, upto);
            }
        }
        sums
    }

    fn cost(&self, run: &Run, from: Time, until: Time) -> i128 {
        let changes = self.prices.iter().filter(|(sku, ..)| *sku == run.sku).map(|(_, at, _)| *at);
        let mut cuts: Vec<Time> = changes.chain(run.sizes.iter().map(|(at, _)| *at)).chain([from, until]).collect();
        cuts.retain(|cut| (from..=until).contains(cut));
        cuts.sort_unstable();
        let piece = |(a, b): (Time, Time)| {
            let milli = run.sizes.iter().rev().find(|(since, _)| *since <= a).map_or(0, |(_, milli)| *milli);
            i128::from(self.price(&run.sku, a)) * i128::from(milli) * i128::from(b.since(a)) * 90
        };
        cuts.windows(2).map(|pair| piece((pair[0], pair[1]))).sum()
    }

    /// The price in force: the latest to begin, of those the one published last.
    fn price(&self, sku: &str, at: Time) -> i64 {
        let known = self.prices.iter().filter(|(of, from, _)| of == sku && *from <= at);
        known.fold((Time(i64::MIN), 0), |best, (_, from, micro)| if *from >= best.0 { (*from, *micro) } else { best }).1
    }
}
