//! Entry after entry: every fact goes to the one who recomputes it.

use crate::{
    Finding, Report,
    book::Book,
    facts::{Fact, lease, market, money, tenancy},
    findings::Findings,
    fleet::Fleet,
    lease::{Known, Lease, Status},
    order::{Order, Start},
    prices::Prices,
    report::{Balances, Bill},
};
use minicbor::Decoder;
use std::collections::BTreeMap;
use units::{LeaseId, Owner, ProjectId, TenantId};

/// Follows a journal from its first entry and recomputes what it says.
#[derive(Default)]
pub struct Auditor {
    order: Order,
    prices: Prices,
    grace: i64,
    fleet: Fleet,
    books: BTreeMap<u64, Book>,
    projects: BTreeMap<u64, u64>,
    leases: BTreeMap<u64, Lease>,
    last_lease: u64,
    bills: BTreeMap<LeaseId, Bill>,
    /// Leases that the entry at hand concerns.
    touched: Vec<u64>,
    found: Findings,
}

impl Auditor {
    /// An auditor of a journal of which nothing is read yet.
    pub fn new() -> Auditor {
        Auditor::default()
    }

    /// Reads entry `seq`: its header and its parts with their owners (0 the operator, else the tenant's number), in the
    /// order in which they are stored.
    ///
    /// The error is the first thing that is wrong with it. The audit goes on all the same, believing what it was told, and
    /// [`Auditor::finish`] gives all findings.
    pub fn feed(&mut self, seq: u64, header: &[u8], parts: &[(u64, &[u8])]) -> Result<(), Finding> {
        self.found.begin(seq);
        self.touched.clear();
        let time = self.order.header(seq, header, &mut self.found);
        for (owner, bytes) in parts {
            self.found.owner = Some(Owner(*owner));
            let in_order = self.order.owner(*owner, &mut self.found);
            let read = if in_order { self.part(seq, time, *owner, bytes) } else { Ok(()) };
            if let Err(e) = read {
                self.found.wrong(format!("the part cannot be read: {e}"));
            }
        }
        self.found.owner = None;
        self.end_entry();
        self.found.take_first().map_or(Ok(()), Err)
    }

    /// Bills, balances and everything that was wrong.
    pub fn finish(mut self) -> Report {
        self.found.owner = None;
        self.check_held();
        for (id, lease) in self.leases {
            self.bills.insert(LeaseId(id), lease.bill);
        }
        let balances = |(id, book): (&u64, &Book)| (TenantId(*id), book.balances());
        let balances: BTreeMap<TenantId, Balances> = self.books.iter().map(balances).collect();
        let (findings, left_out) = (self.found.all, self.found.left_out);
        Report { entries: self.order.entries, leases: self.last_lease, bills: self.bills, balances, findings, left_out }
    }

    fn part(&mut self, seq: u64, time: i64, owner: u64, bytes: &[u8]) -> Result<(), minicbor::decode::Error> {
        let mut d = Decoder::new(bytes);
        let start = Start::read(&mut d)?;
        self.order.part(owner, &start, &mut self.found);
        for _ in 0..start.events {
            let fact = Fact::read(&mut d)?;
            self.fold(seq, time, owner, fact);
        }
        self.found.check(d.position() == bytes.len(), || "bytes follow the part's events".into());
        if let Some(totals) = start.totals {
            self.check_totals(owner, totals);
        }
        Ok(())
    }

    fn fold(&mut self, seq: u64, time: i64, owner: u64, fact: Fact) {
        let of_operator = matches!(fact, Fact::Fleet(_) | Fact::Market(_));
        let of_tenant = matches!(fact, Fact::Lease(_) | Fact::Money(_));
        if (of_operator && owner != 0) || (of_tenant && !self.books.contains_key(&owner)) {
            return self.found.wrong("an event stands in the part of one whom it does not concern");
        }
        match fact {
            Fact::Fleet(fact) => self.fleet.fold(fact, &mut self.touched, &mut self.found),
            Fact::Market(market::Fact::PricesPublished(e)) => self.prices.publish(e, time, &mut self.found),
            Fact::Market(market::Fact::PolicySet(e)) => self.grace = e.policy.arrears_grace,
            Fact::Tenancy(fact) => self.tenancy(owner, fact),
            Fact::Lease(fact) => self.lease(seq, time, owner, fact),
            Fact::Money(fact) => self.money(seq, time, owner, fact),
        }
    }

    fn tenancy(&mut self, owner: u64, fact: tenancy::Fact) {
        use tenancy::Fact;
        let whose = match fact {
            Fact::TenantCreated(e) => {
                let new = self.books.insert(e.tenant, Book::default()).is_none();
                self.found.check(new && e.tenant != 0, || format!("{} is created twice", TenantId(e.tenant)));
                e.tenant
            }
            Fact::ProjectCreated(e) => {
                let new = self.projects.insert(e.project, e.tenant).is_none();
                self.found.check(new, || format!("{} is created twice", ProjectId(e.project)));
                e.tenant
            }
            Fact::TenantClosed(e) => e.tenant,
            Fact::LimitsSet(e) => e.tenant,
            Fact::MemberSet(e) => e.tenant,
            Fact::KeyIssued(e) => e.owner,
            Fact::KeyRevoked(e) => e.owner,
        };
        let known = whose == 0 || self.books.contains_key(&whose);
        self.found
            .check(whose == owner && known, || format!("an event of {} stands in the part of {}", Owner(whose), Owner(owner)));
    }

    fn lease(&mut self, seq: u64, time: i64, tenant: u64, fact: lease::Fact) {
        use lease::Fact;
        if let Fact::Requested(e) = &fact {
            return self.order_lease(tenant, e);
        }
        let id = fact.lease();
        self.touched.push(id);
        let found = &mut self.found;
        let Some(lease) = of_tenant(&mut self.leases, id, tenant, found) else { return };
        let Some(book) = self.books.get(&tenant) else { return };
        let known = Known { seq, time, prices: &self.prices, fleet: &self.fleet, grace: self.grace };
        match fact {
            Fact::Requested(_) => {}
            Fact::Queued(e) => lease.queue(&e, found),
            Fact::Placed(e) => lease.place(e, &known, found),
            Fact::MemberReady(e) => lease.member_ready(&e, found),
            Fact::Started(e) => lease.start(&e, &known, found),
            Fact::Renewed(e) => lease.renew(&e, &known, found),
            Fact::Extended(e) => lease.extend(&e, &known, found),
            Fact::Resized(e) => lease.resize(e, &known, found),
            Fact::Stopping(e) => lease.stop(&e, &known, book, found),
            Fact::ServiceEnded(_) => lease.end_service(found),
            Fact::MemberGone(e) => lease.member_gone(&e, found),
            Fact::Stopped(_) => lease.arrive("is stopped", lease::Then::Stop, found),
            Fact::Ended(e) => {
                lease.arrive("ends", lease::Then::End, found);
                let (said, billed) = (e.charged, lease.bill.ticks.0);
                found.check(said == billed, || {
                    format!("{} ends and is said to have cost {said} ticks; it was charged {billed}", LeaseId(id))
                });
                self.end_lease(id);
            }
        }
    }

    fn order_lease(&mut self, tenant: u64, e: &lease::Requested) {
        let next = self.last_lease + 1;
        self.touched.push(e.lease);
        self.found.check(e.lease == next, || format!("{} is ordered where {} is next", LeaseId(e.lease), LeaseId(next)));
        let project = self.projects.get(&e.project) == Some(&tenant);
        self.found.check(project, || format!("{} is no project of {}", ProjectId(e.project), TenantId(tenant)));
        self.last_lease = e.lease.max(self.last_lease);
        self.leases.insert(e.lease, Lease::ordered(tenant, e));
    }

    fn end_lease(&mut self, id: u64) {
        let Some(lease) = self.leases.remove(&id) else { return };
        self.found.check(lease.run.held == 0, || format!("{} ends and {} ticks are held for it", lease.id, lease.run.held));
        if !lease.bill.intervals.is_empty() || lease.bill.ticks.0 != 0 {
            self.bills.insert(lease.id, lease.bill);
        }
    }

    fn money(&mut self, seq: u64, time: i64, tenant: u64, fact: money::Fact) {
        use money::Fact;
        let known = Known { seq, time, prices: &self.prices, fleet: &self.fleet, grace: self.grace };
        let (found, leases) = (&mut self.found, &mut self.leases);
        let Some(book) = self.books.get_mut(&tenant) else { return };
        if let Some(id) = fact.lease() {
            self.touched.push(id);
            let Some(lease) = of_tenant(leases, id, tenant, found) else { return };
            match fact {
                Fact::Held(e) => lease.hold(&e, book, found),
                Fact::Charged(e) => lease.charge(&e, &known, book, found),
                Fact::Reversed(e) => lease.reverse(&e, &known, book, found),
                Fact::Released(e) => lease.release(&e, book, found),
                Fact::Lost(e) => lease.lose(&e, &known, book, found),
                _ => {}
            }
            return;
        }
        match fact {
            Fact::PaymentOpened(e) => book.open(e, found),
            Fact::Paid(e) => book.pay(&e, found),
            Fact::PaymentFailed(e) => book.fail(&e, found),
            Fact::CreditSet(e) => book.credit = e.limit,
            Fact::Adjusted(e) => book.adjust(&e.moves, found),
            _ => {}
        }
    }

    /// What must hold between the parts of an entry once all are read.
    fn end_entry(&mut self) {
        self.touched.sort_unstable();
        self.touched.dedup();
        for id in &self.touched {
            let found = &mut self.found;
            let Some(lease) = self.leases.get(id) else {
                found.check(self.fleet.count(*id) == 0, || format!("{} is over and still has a part of the fleet", LeaseId(*id)));
                continue;
            };
            found.check(lease.status != Status::Ordered, || format!("{} is ordered and neither placed nor queued", lease.id));
            let money = lease.run.open || !matches!(lease.status, Status::Starting | Status::Running);
            found.check(money, || format!("{} goes on and its hold is released", lease.id));
            lease.check_grants(&self.fleet, found);
        }
    }

    /// A tenant's totals, as his part states them after its events.
    fn check_totals(&mut self, owner: u64, (charged, paid): (i128, i128)) {
        let Some(book) = self.books.get(&owner) else { return };
        self.found.check((charged, paid) == (book.charged, book.paid), || {
            format!("the totals say {charged} ticks charged and {paid} paid; it is {} and {}", book.charged, book.paid)
        });
    }

    /// What a tenant has set aside is what is held for his leases.
    fn check_held(&mut self) {
        let mut held: BTreeMap<u64, i128> = BTreeMap::new();
        for lease in self.leases.values() {
            *held.entry(lease.tenant).or_default() += lease.run.held;
        }
        for (tenant, book) in &self.books {
            let (sum, balance) = (held.get(tenant).copied().unwrap_or(0), book.balance(money::Account::Held));
            self.found.check(sum == balance, || format!("{} has {balance} ticks held and his leases {sum}", TenantId(*tenant)));
        }
    }
}

/// The tenant's lease, if it has not ended.
fn of_tenant<'a>(leases: &'a mut BTreeMap<u64, Lease>, id: u64, tenant: u64, found: &mut Findings) -> Option<&'a mut Lease> {
    let lease = leases.get_mut(&id).filter(|lease| lease.tenant == tenant);
    found.check(lease.is_some(), || format!("{} is no lease of {} that has not ended", LeaseId(id), TenantId(tenant)));
    lease
}
