//! What a fact makes of a lease, and which facts may not follow.

use super::{Line, LineKind, Reading, Record, Standing, reading::Run};
use crate::{
    facts::{
        lease::{self, Placed, Requested, Resized, Stopping, Then},
        money,
    },
    findings::Findings,
    prices::amount,
};
use units::{LeaseId, ProjectId, Ticks, Time};

impl Reading {
    pub fn lease(&mut self, time: i64, fact: lease::Fact) {
        use lease::Fact;
        let (run, found) = (&mut self.run, &mut self.found);
        let Some(record) = &mut self.record else {
            if let Fact::Requested(e) = fact {
                self.record = Some(ordered(e, time));
            }
            return;
        };
        record.expect("goes on", record.standing != Standing::Ended, found);
        match fact {
            Fact::Requested(_) => found.wrong(format!("{} is ordered twice", record.lease)),
            Fact::Queued(e) => {
                let may = matches!(record.standing, Standing::Ordered | Standing::Stopped | Standing::Stopping(Then::Queue));
                record.expect("is queued", may, found);
                record.take_turn(time);
                record.stand(Standing::Queued, time);
                record.detail = e.why;
                record.grants.clear();
            }
            Fact::Placed(e) => *run = record.place(e, time, found),
            Fact::MemberReady(_) => record.expect("is ready on a node", record.standing == Standing::Starting, found),
            Fact::Started(_) => {
                record.expect("starts", record.standing == Standing::Starting, found);
                record.stand(Standing::Running, time);
                record.ready = Some(Time(time));
                record.first_ready = record.first_ready.or(record.ready);
                run.started = Some(time);
            }
            Fact::Renewed(_) => record.expect("is renewed", record.standing == Standing::Running, found),
            Fact::Extended(e) => record.ask.interval.until = e.until,
            Fact::Resized(e) => record.resize(e, time, run, found),
            Fact::Stopping(e) => record.stop(e, time, run, found),
            Fact::ServiceEnded(_) | Fact::MemberGone(_) => {
                record.expect("is cleared away", matches!(record.standing, Standing::Stopping(_)), found);
            }
            Fact::Stopped(_) => {
                record.expect("is stopped", record.standing == Standing::Stopping(Then::Stop), found);
                record.stand(Standing::Stopped, time);
                record.grants.clear();
            }
            Fact::Ended(e) => {
                let may = matches!(record.standing, Standing::Stopping(Then::End) | Standing::Queued | Standing::Stopped);
                record.expect("ends", may, found);
                let (said, total) = (e.charged, record.total.0);
                found.check(said == total, || {
                    format!("{} ends and is said to have cost {said} ticks; its lines come to {total}", record.lease)
                });
                record.stand(Standing::Ended, time);
                (record.reason, record.detail, record.ended) = (Some(e.reason), e.detail, Some(Time(time)));
                record.grants.clear();
            }
        }
    }

    pub fn money(&mut self, seq: u64, fact: money::Fact) {
        use money::Fact;
        let (run, found) = (&mut self.run, &mut self.found);
        let Some(record) = &mut self.record else { return };
        match fact {
            Fact::Charged(e) => record.charge(&e, seq, run, found),
            Fact::Reversed(e) => {
                record.check_line(&e, run, found);
                run.charged = run.charged.saturating_sub(e.ticks);
                run.charged_until = run.charged_until.map(|until| until.min(e.from));
                record.add(LineKind::Reversed, &e, e.ticks.saturating_neg(), seq);
            }
            Fact::Lost(e) => {
                let line = money::Line {
                    lease: e.lease,
                    from: e.from,
                    until: e.until,
                    sku: 0,
                    milli: 0,
                    micro: 0,
                    ticks: 0,
                    moves: Vec::new(),
                };
                record.add(LineKind::Lost, &line, 0, seq);
            }
            // They move money within the wallet, or into it: no line of a lease.
            Fact::PaymentOpened(_) | Fact::Paid(_) | Fact::PaymentFailed(_) | Fact::CreditSet(_) | Fact::Adjusted(_) => {}
            Fact::Held(_) | Fact::Released(_) => {}
        }
    }
}

fn ordered(e: Requested, time: i64) -> Record {
    let time = Time(time);
    Record {
        lease: LeaseId(e.lease),
        project: ProjectId(e.project),
        standing: Standing::Ordered,
        since: time,
        ordered: time,
        requested: time,
        first_ready: None,
        ready: None,
        ended: None,
        reason: None,
        detail: String::new(),
        ask: e.ask,
        on_failure: e.on_failure,
        grants: Vec::new(),
        sku: None,
        rate: None,
        attempt: 0,
        lines: Vec::new(),
        total: Ticks::ZERO,
        seq: 0,
    }
}

impl Record {
    fn expect(&self, what: &str, holds: bool, found: &mut Findings) {
        found.check(holds, || format!("{} {what} while it is {:?}: a part is missing", self.lease, self.standing));
    }

    fn stand(&mut self, standing: Standing, time: i64) {
        (self.standing, self.since) = (standing, Time(time));
    }

    /// Started again it waits like a new order; what comes back by no act of its owner keeps its place.
    fn take_turn(&mut self, time: i64) {
        if self.standing == Standing::Stopped {
            self.requested = Time(time);
        }
    }

    fn place(&mut self, e: Placed, time: i64, found: &mut Findings) -> Run {
        let may = matches!(self.standing, Standing::Ordered | Standing::Queued | Standing::Stopped);
        self.expect("is placed", may, found);
        found.check(self.attempt.checked_add(1) == Some(e.attempt), || {
            format!("{} is placed for the {}th time after {}: a part is missing", self.lease, e.attempt, self.attempt)
        });
        self.take_turn(time);
        self.stand(Standing::Starting, time);
        self.reason = None;
        self.detail.clear();
        self.attempt = e.attempt;
        self.grants = e.grants;
        self.sku = Some(e.sku);
        self.rate = Some((e.milli, e.micro));
        Run { sku: e.sku_id, sizes: vec![(time, e.milli)], ..Run::default() }
    }

    fn resize(&mut self, e: Resized, time: i64, run: &mut Run, found: &mut Findings) {
        let may = matches!(self.standing, Standing::Running | Standing::Queued | Standing::Stopped);
        self.expect("is resized", may, found);
        self.ask = e.ask;
        if e.grants.is_empty() {
            return;
        }
        self.grants = e.grants;
        self.rate = self.rate.map(|(_, micro)| (e.milli, micro));
        run.sizes.push((time, e.milli));
    }

    fn charge(&mut self, e: &money::Charged, seq: u64, run: &mut Run, found: &mut Findings) {
        self.expect("is charged", self.standing == Standing::Running, found);
        self.check_line(e, run, found);
        let next = run.charged_until.or(run.started);
        found.check(next == Some(e.from), || {
            let next = next.map_or_else(|| "its start".into(), |next| Time(next).to_string());
            format!("{} is charged from {} on where {next} is next: a part is missing", self.lease, Time(e.from))
        });
        run.charged = run.charged.saturating_add(e.ticks);
        run.charged_until = Some(e.until);
        self.rate = Some((e.milli, e.micro));
        self.add(LineKind::Charged, e, e.ticks, seq);
    }

    /// The first stop of a run settles it; a further one only changes what becomes of the lease.
    fn stop(&mut self, e: Stopping, time: i64, run: &mut Run, found: &mut Findings) {
        let again = matches!(self.standing, Standing::Stopping(_));
        self.expect("stops", again || matches!(self.standing, Standing::Starting | Standing::Running), found);
        let due = if again { 0 } else { run.charged };
        found.check(e.charged == due, || {
            format!("{} stops and is said to have cost {} ticks in this run; its lines come to {due}", self.lease, e.charged)
        });
        if !again {
            self.since = Time(time);
            let served = e.served_until.map(|served| served.min(e.unfunded_from.unwrap_or(served)));
            let charged = run.charged_until.or(run.started);
            found.check(served == charged, || {
                let told = |t: Option<i64>| t.map_or_else(|| "never".into(), |t| Time(t).to_string());
                format!("{} is to be charged up to {} and is charged up to {}", self.lease, told(served), told(charged))
            });
        }
        self.standing = Standing::Stopping(e.then);
        (self.reason, self.detail, self.ready) = (Some(e.reason), e.detail, None);
    }

    /// Price × quantity × time, of what the lease had.
    fn check_line(&self, e: &money::Line, run: &Run, found: &mut Findings) {
        let lease = self.lease;
        let due = amount(e.micro, e.milli, e.from, e.until);
        found.check(e.from < e.until && due == Some(e.ticks), || {
            format!("a line of {lease} is {} ticks; price × quantity × time is {due:?}", e.ticks)
        });
        let size = run.sizes.iter().rev().find(|(since, _)| *since <= e.from).map(|(_, milli)| *milli);
        let changed = run.sizes.iter().skip(1).any(|(since, _)| e.from < *since && *since < e.until);
        found.check(e.sku == run.sku && size == Some(e.milli) && !changed, || {
            format!("a line of {lease} is for {} thousandths of SKU {}, and it had {size:?} of {}", e.milli, e.sku, run.sku)
        });
    }

    fn add(&mut self, kind: LineKind, e: &money::Line, ticks: i128, seq: u64) {
        let (from, until, sku) = (Time(e.from), Time(e.until), self.sku.clone());
        self.total = Ticks(self.total.0.saturating_add(ticks));
        self.lines.push(Line { kind, from, until, sku, milli: e.milli, micro: e.micro, ticks: Ticks(ticks), seq });
    }
}
