//! Which stretches of a run are charged, at what, and that none is missing, twice, or outside of service.

use crate::{
    book::Book,
    facts::{
        lease::{Reason, Renewed, Stopping, Then},
        money::{Account, Held, Line, Lost, Movement, Released},
    },
    findings::Findings,
    lease::{Known, Lease, Status},
    prices::{Prices, amount},
    report::Use,
};
use units::{Ticks, Time};

impl Lease {
    pub fn hold(&mut self, e: &Held, book: &mut Book, found: &mut Findings) {
        self.expect("is held for", self.run.open, found);
        let sum = e.moves.iter().fold(0i128, |sum, m| sum.saturating_add(m.ticks));
        found
            .check(sum <= book.available(), || format!("{sum} ticks are held for {} of {} available", self.id, book.available()));
        let expected = book.taking(Account::Held, sum, 0);
        book.post(&e.moves, expected, found);
        self.run.held = self.run.held.saturating_add(sum);
    }

    pub fn charge(&mut self, line: &Line, known: &Known<'_>, book: &mut Book, found: &mut Findings) {
        let (id, now) = (self.id, known.time);
        self.expect("is charged", self.status == Status::Running && self.run.open, found);
        self.check_line("charged", line, known.prices, found);
        let next = self.run.charged_until.or(self.run.started).unwrap_or(line.from);
        found.check(line.from >= next, || {
            format!("{id} is charged from {} on, and up to {} it is charged or did not run", Time(line.from), Time(next))
        });
        found.check(line.from <= next, || {
            format!("{id} is charged from {} on, and from {} it is not", Time(line.from), Time(next))
        });
        found.check(line.until <= now, || format!("{id} is charged up to {}, after the entry's time", Time(line.until)));
        let past_end = self.end.filter(|end| line.until > *end);
        found.check(past_end.is_none(), || format!("{id} is charged up to {}, after its own end", Time(line.until)));
        let size = self.size_over(line.from, line.until);
        found.check(size == Some(line.milli), || format!("{id} is charged for {} thousandths and had {size:?}", line.milli));
        self.check_grace(line, known, book, found);

        let expected = book.taking(Account::Revenue, line.ticks, self.run.held);
        book.post(&line.moves, expected, found);
        book.charged = book.charged.saturating_add(line.ticks);
        self.run.held = self.run.held.saturating_sub(sum(&line.moves, |m| m.from == Account::Held));
        self.run.charged = self.run.charged.saturating_add(line.ticks);
        self.run.charged_until = Some(line.until.max(next));
        self.bill.ticks = Ticks(self.bill.ticks.0.saturating_add(line.ticks));
        self.add_use(line);
    }

    pub fn reverse(&mut self, line: &Line, known: &Known<'_>, book: &mut Book, found: &mut Findings) {
        let id = self.id;
        self.expect("is given back to", self.status == Status::Running && self.run.open, found);
        self.check_line("given back", line, known.prices, found);
        let taken_out = self.take_out(line);
        found.check(taken_out, || {
            format!("{id} is given back what was not charged so from {} to {}", Time(line.from), Time(line.until))
        });
        let expected = book.giving(Account::Revenue, line.ticks);
        book.post(&line.moves, expected, found);
        book.charged = book.charged.saturating_sub(line.ticks);
        self.run.charged = self.run.charged.saturating_sub(line.ticks);
        self.run.charged_until = self.uses().last().map(|last| last.until.0);
        self.bill.ticks = Ticks(self.bill.ticks.0.saturating_sub(line.ticks));
    }

    pub fn release(&mut self, e: &Released, book: &mut Book, found: &mut Findings) {
        self.expect("is released", self.run.open && matches!(self.status, Status::Starting | Status::Running), found);
        let expected = book.giving(Account::Held, self.run.held);
        book.post(&e.moves, expected, found);
        self.run.held = self.run.held.saturating_sub(sum(&e.moves, |_| true));
        self.run.open = false;
    }

    pub fn renew(&mut self, e: &Renewed, known: &Known<'_>, found: &mut Findings) {
        self.expect("is renewed", self.status == Status::Running, found);
        self.run.arrears_since = e.arrears_since;
        match e.arrears_since {
            None => self.check_cover(e.funded_until, known, found),
            Some(since) => found.check(e.funded_until <= since.saturating_add(known.grace), || {
                format!("{} runs on grace until {}, longer than the policy's", self.id, Time(e.funded_until))
            }),
        }
    }

    pub fn lose(&mut self, e: &Lost, known: &Known<'_>, book: &mut Book, found: &mut Findings) {
        let id = self.id;
        self.expect("is lost to nobody", matches!(self.status, Status::Stopping(_)), found);
        let bounds = self.run.unfunded_from.zip(self.run.served_until);
        let inside = bounds.is_some_and(|(from, until)| e.from == from && from < e.until && e.until <= until);
        found.check(inside, || format!("the loss of {id} is not within its service that nothing covers"));
        let cost = known.prices.cost(self.run.sku, self.run.milli(), e.from, e.until);
        found.check(cost == Some(e.ticks), || format!("the loss of {id} is {} ticks; its use comes to {cost:?}", e.ticks));
        book.lose(e.ticks, &e.moves, found);
        self.run.unfunded_from = None;
    }

    /// How long it ran uncovered is settled.
    pub fn end_service(&mut self, found: &mut Findings) {
        self.expect("is settled", matches!(self.status, Status::Stopping(_)), found);
        self.run.unfunded_from = None;
    }

    /// It is on its way down: all its service is charged, nothing else is, and what was held is released.
    pub fn stop(&mut self, e: &Stopping, known: &Known<'_>, book: &Book, found: &mut Findings) {
        let id = self.id;
        if let Status::Stopping(before) = self.status {
            return self.redirect(e, before, found);
        }
        self.expect("stops", matches!(self.status, Status::Starting | Status::Running), found);
        found.check(!self.run.open, || format!("{id} stops and the {} ticks held for it are not released", self.run.held));
        found.check(e.charged == self.run.charged, || {
            format!("{id} stops and is said to have cost {} ticks; it was charged {}", e.charged, self.run.charged)
        });
        self.run.served_until = e.served_until;
        self.run.unfunded_from = e.unfunded_from;
        match (self.run.started, e.served_until) {
            (Some(started), Some(served)) => {
                self.check_service(e, (started, served), known, found);
                if let Some(from) = e.unfunded_from {
                    self.check_uncovered(from, served, (known, book), found);
                }
                self.check_charged(started, served.min(e.unfunded_from.unwrap_or(served)), known.prices, found);
            }
            (None, None) => found.check(self.run.charged == 0, || format!("{id} never ran and is charged")),
            (_, served) => found.wrong(format!("{id} started at {:?} and was served until {served:?}", self.run.started)),
        }
        self.status = Status::Stopping(e.then);
    }

    /// Another end for a lease that is on its way down already; its money is settled.
    fn redirect(&mut self, e: &Stopping, before: Then, found: &mut Findings) {
        let further = matches!((before, e.then), (Then::Queue, Then::Stop | Then::End) | (Then::Stop, Then::End));
        let same = e.served_until == self.run.served_until && e.unfunded_from == self.run.unfunded_from && e.charged == 0;
        found.check(further && same, || {
            format!("{} is stopping already, and its stop is changed in more than what it becomes", self.id)
        });
        self.status = Status::Stopping(e.then);
    }

    /// When service ended must agree with why.
    fn check_service(&self, e: &Stopping, (started, served): (i64, i64), known: &Known<'_>, found: &mut Findings) {
        let id = self.id;
        let last = self.end.map_or(known.time, |end| end.min(known.time)).max(started);
        found.check((started..=last).contains(&served), || {
            format!("{id} ran from {} and can have been served until {} at most, not {}", Time(started), Time(last), Time(served))
        });
        let at_once = matches!(e.reason, Reason::Stopped | Reason::Destroyed | Reason::EndReached);
        found.check(!at_once || served == last, || {
            format!("{id} ends by {:?} and was served until {}, not {}", e.reason, Time(last), Time(served))
        });
    }

    /// Where cover is said to have ended, not even one more millisecond could be paid for.
    fn check_uncovered(&self, from: i64, served: i64, (known, book): (&Known<'_>, &Book), found: &mut Findings) {
        // Grace may follow: then the money had ended where a charge of this entry used it up.
        let dry = self.run.ran_dry.filter(|(entry, _)| *entry == known.seq).map_or(from, |(_, dry)| dry);
        let price = known.prices.at(self.run.sku, dry).unwrap_or(0);
        let rate = amount(price, self.run.milli(), 0, 1).unwrap_or(i128::MAX);
        found.check(from < served && book.available() < rate, || {
            format!("{} is said to be uncovered from {}, and {} ticks are there", self.id, Time(from), book.available())
        });
    }

    /// The lines charged must tile the service, and their sum must be what it comes to when walked afresh.
    fn check_charged(&self, from: i64, until: i64, prices: &Prices, found: &mut Findings) {
        let id = self.id;
        let mut at = from;
        for stretch in self.uses() {
            found.check(stretch.from.0 <= at, || {
                format!("{id} ran from {} to {} and is not charged for it", Time(at), stretch.from)
            });
            at = stretch.until.0;
        }
        if at != until {
            return found.wrong(format!("{id} is to be charged up to {} and is charged up to {}", Time(until), Time(at)));
        }
        let ends = self.run.sizes.iter().skip(1).map(|(since, _)| *since).chain([i64::MAX]);
        let stretches = self.run.sizes.iter().zip(ends);
        let cost =
            |((since, milli), end): (&(i64, u64), i64)| prices.cost(self.run.sku, *milli, (*since).max(from), end.min(until));
        let sum = stretches.map(cost).try_fold(0i128, |sum, cost| sum.checked_add(cost?));
        found.check(sum == Some(self.run.charged), || {
            format!(
                "{id} ran from {} to {}, which comes to {sum:?} ticks, and was charged {}",
                Time(from),
                Time(until),
                self.run.charged
            )
        });
    }

    /// The amount of a line, its price and its SKU.
    fn check_line(&self, what: &str, line: &Line, prices: &Prices, found: &mut Findings) {
        let id = self.id;
        let (from, until) = (Time(line.from), Time(line.until));
        found.check(line.from < line.until, || format!("{id} is {what} from {from} to {until}"));
        found.check(line.sku == self.run.sku, || format!("{id} is {what} by SKU {} and has SKU {}", line.sku, self.run.sku));
        let right = amount(line.micro, line.milli, line.from, line.until);
        found.check(right == Some(line.ticks), || {
            let ms = i128::from(line.until) - i128::from(line.from);
            format!("{id} is {what} {} ticks; {} × {} × {ms} × 90 is {right:?}", line.ticks, line.micro, line.milli)
        });
        if let Some((at, price)) = prices.first_other(line.sku, line.micro, line.from, line.until) {
            found.wrong(format!(
                "{id} is {what} at {} from {from} to {until}; at {} the price is {price:?}",
                line.micro,
                Time(at)
            ));
        }
    }

    /// Debt beyond the credit is made only within the grace that follows the end of cover.
    fn check_grace(&mut self, line: &Line, known: &Known<'_>, book: &Book, found: &mut Findings) {
        let Known { seq, grace, .. } = *known;
        let funds = self.run.held.max(0).saturating_add(book.available());
        if line.ticks <= funds {
            return;
        }
        let rate = amount(line.micro, line.milli, 0, 1).filter(|rate| *rate > 0).unwrap_or(1);
        let dry = i64::try_from(funds / rate).map_or(i64::MAX, |ms| line.from.saturating_add(ms));
        // A second line of the same charge goes on where the first one ran dry.
        let dry = self.run.ran_dry.filter(|(entry, _)| *entry == seq).map_or(dry, |(_, earlier)| earlier.min(dry));
        self.run.ran_dry = Some((seq, dry));
        let since = self.run.arrears_since.unwrap_or(dry).min(dry);
        found.check(line.until <= since.saturating_add(grace), || {
            format!(
                "{} is charged up to {} as debt; its cover ended at {} and the grace is {grace} ms",
                self.id,
                Time(line.until),
                Time(since)
            )
        });
    }

    /// The size that the run had all over a stretch.
    fn size_over(&self, from: i64, until: i64) -> Option<u64> {
        let changed = self.run.sizes.iter().skip(1).any(|(since, _)| from < *since && *since < until);
        let at_start = self.run.sizes.iter().rev().find(|(since, _)| *since <= from).map(|(_, milli)| *milli);
        at_start.filter(|_| !changed)
    }

    fn uses(&self) -> &[Use] {
        &self.bill.intervals[self.run.first_use..]
    }

    fn add_use(&mut self, line: &Line) {
        let new = used(line);
        let last = self.bill.intervals[self.run.first_use..].last_mut();
        match last.filter(|last| last.until == new.from && Use { from: last.from, until: last.until, ..new } == **last) {
            Some(last) => last.until = new.until,
            None => self.bill.intervals.push(new),
        }
    }

    /// Takes a stretch out of what was charged; whether all of it was charged at this size and price.
    fn take_out(&mut self, line: &Line) -> bool {
        let out = used(line);
        let mut left_to_find = i128::from(line.until) - i128::from(line.from);
        for stretch in self.bill.intervals.split_off(self.run.first_use) {
            let (from, until) = (stretch.from.max(out.from), stretch.until.min(out.until));
            let alike = Use { from: out.from, until: out.until, ..stretch } == out;
            if from >= until || !alike {
                self.bill.intervals.push(stretch);
                continue;
            }
            left_to_find -= i128::from(until.0) - i128::from(from.0);
            let rest = [Use { until: from, ..stretch }, Use { from: until, ..stretch }];
            self.bill.intervals.extend(rest.into_iter().filter(|r| r.from < r.until));
        }
        left_to_find == 0
    }
}

fn used(line: &Line) -> Use {
    Use { from: Time(line.from), until: Time(line.until), sku: line.sku, milli: line.milli, micro: line.micro }
}

fn sum(moves: &[Movement], which: impl Fn(&Movement) -> bool) -> i128 {
    moves.iter().filter(|m| which(m)).fold(0, |sum, m| sum.saturating_add(m.ticks))
}
