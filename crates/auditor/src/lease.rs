//! A lease from its order to its end: what may follow what, and what it must have when.

use crate::{
    facts::{
        Grant,
        lease::{Ask, Extended, MemberGone, MemberReady, Placed, Queued, Requested, Resized, Started, Then},
    },
    findings::Findings,
    fleet::Fleet,
    prices::Prices,
    quantity::{fulfils, quantity},
    report::Bill,
};
use units::{LeaseId, NodeId, TenantId, Ticks, Time};

/// Where a lease is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Ordered; the entry goes on to queue or place it.
    Ordered,
    Queued,
    Starting,
    Running,
    Stopping(Then),
    Stopped,
}

/// A lease that has not ended.
pub struct Lease {
    pub id: LeaseId,
    pub tenant: u64,
    pub status: Status,
    pub ask: Ask,
    /// Its own end.
    pub end: Option<i64>,
    pub attempt: u32,
    pub members: Vec<Member>,
    pub run: Run,
    pub bill: Bill,
}

/// Its part on one node.
pub struct Member {
    pub grant: Grant,
    pub ready: bool,
    pub gone: bool,
}

/// From one placement to the next.
#[derive(Default)]
pub struct Run {
    /// Money may be held and charged: from the placement until the hold is released.
    pub open: bool,
    pub sku: u32,
    /// When service began.
    pub started: Option<i64>,
    /// Thousandths of the SKU, by the time from which it has them; the first from the placement on.
    pub sizes: Vec<(i64, u64)>,
    /// Set aside and not yet charged.
    pub held: i128,
    /// Charged, less what was given back.
    pub charged: i128,
    pub charged_until: Option<i64>,
    /// Uses of the bill before this one are of earlier runs.
    pub first_use: usize,
    /// Since when it runs on grace.
    pub arrears_since: Option<i64>,
    /// In which entry, and at which time, a charge used up all that covers it.
    pub ran_dry: Option<(u64, i64)>,
    pub served_until: Option<i64>,
    pub unfunded_from: Option<i64>,
}

/// What a fact about a lease is held against.
pub struct Known<'a> {
    pub seq: u64,
    /// The entry's.
    pub time: i64,
    pub prices: &'a Prices,
    pub fleet: &'a Fleet,
    /// How long a lease may run on after its cover has ended.
    pub grace: i64,
}

impl Run {
    /// Thousandths of the SKU at the end of what is known.
    pub fn milli(&self) -> u64 {
        self.sizes.last().map_or(0, |(_, milli)| *milli)
    }
}

impl Lease {
    pub fn ordered(tenant: u64, e: &Requested) -> Lease {
        Lease {
            id: LeaseId(e.lease),
            tenant,
            status: Status::Ordered,
            ask: e.ask.clone(),
            end: e.ask.interval.until,
            attempt: 0,
            members: Vec::new(),
            run: Run::default(),
            bill: Bill { tenant: TenantId(tenant), ticks: Ticks::ZERO, intervals: Vec::new() },
        }
    }

    /// Says so where a fact may not follow what the lease is.
    pub fn expect(&self, what: &str, holds: bool, found: &mut Findings) {
        found.check(holds, || format!("{} {what} while it is {:?}", self.id, self.status));
    }

    /// Its parts that are not gone.
    pub fn standing(&self) -> impl Iterator<Item = &Grant> {
        self.members.iter().filter(|m| !m.gone).map(|m| &m.grant)
    }

    pub fn queue(&mut self, _: &Queued, found: &mut Findings) {
        let may = matches!(self.status, Status::Ordered | Status::Stopped | Status::Stopping(Then::Queue));
        self.expect("is queued", may, found);
        self.leave_nodes("is queued", found);
        self.status = Status::Queued;
    }

    pub fn place(&mut self, e: Placed, known: &Known<'_>, found: &mut Findings) {
        let id = self.id;
        self.expect("is placed", matches!(self.status, Status::Ordered | Status::Queued | Status::Stopped), found);
        found.check(e.attempt == self.attempt + 1, || {
            format!("{id} is placed for the {}th time after {}", e.attempt, self.attempt)
        });
        found.check(!self.run.open, || format!("{id} is placed and its last run is not closed"));
        found.check(fulfils(&self.ask, &e.grants, known.fleet), || {
            format!("{id} is given {:?} where it asked for {:?}", e.grants, self.ask.size)
        });
        for grant in e.grants.iter().filter(|grant| !known.fleet.offers(grant)) {
            found.wrong(format!("{id} is placed on {}, and not all it gets there is on offer", NodeId(grant.node)));
        }
        match quantity(self.ask.size, &e.grants, known.fleet, known.prices, known.time) {
            Err(why) => found.wrong(format!("{id} cannot be priced: {why}")),
            Ok((sku, milli)) => {
                let right = (&sku, milli) == (&e.sku, e.milli) && known.prices.sku(e.sku_id) == Some(&sku);
                found.check(right, || {
                    format!(
                        "{id} is priced by {} thousandths of {:?}, number {}; it has {milli} of {sku:?}",
                        e.milli, e.sku, e.sku_id
                    )
                });
            }
        }
        let price = known.prices.at(e.sku_id, known.time);
        found.check(price == Some(e.micro), || format!("{id} is placed at {} and the price is {price:?}", e.micro));
        self.run = Run {
            open: true,
            sku: e.sku_id,
            sizes: vec![(known.time, e.milli)],
            first_use: self.bill.intervals.len(),
            ..Run::default()
        };
        self.members = e.grants.into_iter().map(|grant| Member { grant, ready: false, gone: false }).collect();
        self.attempt = e.attempt;
        self.status = Status::Starting;
    }

    pub fn member_ready(&mut self, e: &MemberReady, found: &mut Findings) {
        self.expect("is ready on a node", self.status == Status::Starting, found);
        match self.members.iter_mut().find(|m| m.grant.node == e.node && !m.gone && !m.ready) {
            Some(member) => member.ready = true,
            None => found.wrong(format!("{} is ready on {}, where nothing of it waits", self.id, NodeId(e.node))),
        }
    }

    pub fn start(&mut self, e: &Started, known: &Known<'_>, found: &mut Findings) {
        self.expect("starts", self.status == Status::Starting, found);
        // The last node's report is the start itself.
        let waiting = self.members.iter().filter(|m| !m.ready).count();
        found.check(waiting <= 1, || format!("{} starts and is not ready on {waiting} nodes", self.id));
        self.status = Status::Running;
        self.run.started = Some(known.time);
        self.check_cover(e.funded_until, known, found);
    }

    pub fn extend(&mut self, e: &Extended, known: &Known<'_>, found: &mut Findings) {
        self.expect("gets another end", !matches!(self.status, Status::Stopping(_)), found);
        found.check(e.until.is_none_or(|end| end > known.time), || format!("{} gets an end that has passed", self.id));
        self.end = e.until;
    }

    pub fn resize(&mut self, e: Resized, known: &Known<'_>, found: &mut Findings) {
        let id = self.id;
        self.ask = e.ask;
        if self.status != Status::Running {
            self.expect("is resized", matches!(self.status, Status::Queued | Status::Stopped), found);
            return found.check(e.grants.is_empty(), || format!("{id} has no place and is resized in place"));
        }
        found.check(fulfils(&self.ask, &e.grants, known.fleet), || {
            format!("{id} is given {:?} where it asked for {:?}", e.grants, self.ask.size)
        });
        match quantity(self.ask.size, &e.grants, known.fleet, known.prices, known.time) {
            Err(why) => found.wrong(format!("{id} cannot be priced: {why}")),
            Ok((sku, milli)) => found.check(e.milli == milli && known.prices.sku(self.run.sku) == Some(&sku), || {
                format!("{id} is priced by {} thousandths of SKU {}; it has {milli} of {sku:?}", e.milli, self.run.sku)
            }),
        }
        let charged = self.run.charged_until.or(self.run.started) == Some(known.time);
        found.check(charged, || format!("{id} is resized and its use before is not charged"));
        let same = e.grants.len() == self.members.len();
        found.check(same, || format!("{id} is resized from {} nodes to {}", self.members.len(), e.grants.len()));
        for (member, grant) in self.members.iter_mut().zip(e.grants) {
            member.grant = grant;
        }
        self.run.sizes.push((known.time, e.milli));
        self.check_cover(e.funded_until, known, found);
    }

    pub fn member_gone(&mut self, e: &MemberGone, found: &mut Findings) {
        self.expect("is gone from a node", matches!(self.status, Status::Stopping(_)), found);
        match self.members.iter_mut().find(|m| m.grant.node == e.node && !m.gone) {
            Some(member) => member.gone = true,
            None => found.wrong(format!("{} is gone from {}, where nothing of it was", self.id, NodeId(e.node))),
        }
    }

    /// It is stopped, or ends: nothing of it may be left anywhere.
    pub fn arrive(&mut self, what: &str, then: Then, found: &mut Findings) {
        let without_place = then == Then::End && matches!(self.status, Status::Queued | Status::Stopped);
        self.expect(what, self.status == Status::Stopping(then) || without_place, found);
        self.leave_nodes(what, found);
        self.status = Status::Stopped;
    }

    /// What the lease believes to have is what the fleet counts as taken by it.
    pub fn check_grants(&self, fleet: &Fleet, found: &mut Findings) {
        let same = self.standing().all(|grant| fleet.has(self.id.0, grant)) && self.standing().count() == fleet.count(self.id.0);
        found.check(same, || format!("{} does not have what the fleet counts as taken by it", self.id));
    }

    /// What is held must pay for the time that it is said to pay for.
    pub fn check_cover(&self, funded_until: i64, known: &Known<'_>, found: &mut Findings) {
        let run = &self.run;
        let from = run.charged_until.or(run.started).unwrap_or(known.time);
        let cost = known.prices.cost(run.sku, run.milli(), from, funded_until);
        found.check(cost.is_some_and(|cost| cost <= run.held), || {
            format!(
                "{} is said to be funded until {}, and {} ticks held do not pay for it",
                self.id,
                Time(funded_until),
                run.held
            )
        });
    }

    fn leave_nodes(&mut self, what: &str, found: &mut Findings) {
        for grant in self.standing() {
            found.wrong(format!("{} {what} and is not gone from {}", self.id, NodeId(grant.node)));
        }
        self.members.clear();
    }
}
