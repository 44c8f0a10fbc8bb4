//! A tenant's accounts, and from which of them a posting must take.

use crate::{
    facts::money::{Account, Movement, Paid, PaymentFailed, PaymentOpened},
    findings::Findings,
    report::Balances,
};
use Account::{Cash, Held, Receivable, Revenue, Wallet};
use std::collections::BTreeMap;
use units::Ticks;

/// The movements that a posting must consist of, in order; those of nothing are left out.
pub type Due = [Movement; 3];

const NOTHING: (Account, Account, i128) = (Cash, Cash, 0);

/// The accounts of one tenant, the operator's side included.
#[derive(Default)]
pub struct Book {
    balances: [i128; 7],
    /// How far he may owe.
    pub credit: i128,
    /// Charged over his life, less what was given back: from the amounts of the lines, not from the balances.
    pub charged: i128,
    /// Paid in over his life: from the amounts of the payments.
    pub paid: i128,
    payments: BTreeMap<String, Payment>,
}

struct Payment {
    ticks: i128,
    paid: bool,
}

impl Book {
    /// The balance of an account.
    pub fn balance(&self, account: Account) -> i128 {
        self.balances[account as usize]
    }

    /// What a new hold may take: the wallet and what is left of the credit.
    pub fn available(&self) -> i128 {
        let credit_left = self.credit.saturating_add(self.balance(Receivable)).max(0);
        self.balance(Wallet).max(0).saturating_add(credit_left)
    }

    /// How `ticks` must come to the tenant: his debt first, then his wallet.
    pub fn giving(&self, source: Account, ticks: i128) -> Due {
        let owed = ticks.min((-self.balance(Receivable)).max(0));
        due([(source, Receivable, owed), (source, Wallet, ticks.saturating_sub(owed)), NOTHING])
    }

    /// How `ticks` must be taken from him: up to `held` from what is set aside, then his wallet, then as debt.
    pub fn taking(&self, to: Account, ticks: i128, held: i128) -> Due {
        let set_aside = ticks.min(held.max(0));
        let rest = ticks.saturating_sub(set_aside);
        let own = rest.min(self.balance(Wallet).max(0));
        due([(Held, to, set_aside), (Wallet, to, own), (Receivable, to, rest.saturating_sub(own))])
    }

    /// Carries the movements out as they stand, and checks them against those that there must be.
    pub fn post(&mut self, moves: &[Movement], due: Due, found: &mut Findings) {
        let due = || due.iter().filter(|m| m.ticks > 0);
        found.check(moves.iter().eq(due()), || {
            format!("the posting moves {} where it must move {}", told(moves.iter()), told(due()))
        });
        for movement in moves {
            let (from, to) = (movement.from as usize, movement.to as usize);
            self.balances[from] = self.balances[from].saturating_sub(movement.ticks);
            self.balances[to] = self.balances[to].saturating_add(movement.ticks);
        }
        found.check(self.balance(Wallet) >= 0, || format!("the wallet falls to {} ticks", self.balance(Wallet)));
        found.check(self.balance(Held) >= 0, || format!("what is held falls to {} ticks", self.balance(Held)));
        found.check(self.balance(Receivable) <= 0, || format!("the debt falls to {} ticks", -self.balance(Receivable)));
    }

    /// A payment is awaited.
    pub fn open(&mut self, e: PaymentOpened, found: &mut Findings) {
        found.check(e.ticks > 0, || format!("payment {} is of {} ticks", e.payment, e.ticks));
        let known = self.payments.insert(e.payment.clone(), Payment { ticks: e.ticks, paid: false });
        found.check(known.is_none(), || format!("payment {} is opened twice", e.payment));
    }

    /// A payment came in.
    pub fn pay(&mut self, e: &Paid, found: &mut Findings) {
        let Paid { payment, ticks, moves } = e;
        match self.payments.get_mut(payment) {
            None => found.wrong(format!("payment {payment} is paid and was never opened")),
            Some(known) => {
                found.check(!known.paid, || format!("payment {payment} is paid twice"));
                found.check(known.ticks == *ticks, || format!("payment {payment} of {} ticks is paid with {ticks}", known.ticks));
                known.paid = true;
            }
        }
        self.paid = self.paid.saturating_add(*ticks);
        let expected = self.giving(Cash, *ticks);
        self.post(moves, expected, found);
    }

    /// A payment is said to have failed.
    pub fn fail(&mut self, e: &PaymentFailed, found: &mut Findings) {
        let paid = self.payments.get(&e.payment).map(|known| known.paid);
        found.check(paid == Some(e.after_settlement), || {
            format!("payment {} fails, and whether it was settled before is told wrong", e.payment)
        });
    }

    /// A correction by the operator, either way.
    pub fn adjust(&mut self, moves: &[Movement], found: &mut Findings) {
        let sum = moves.iter().fold(0i128, |sum, m| sum.saturating_add(m.ticks));
        let to_the_tenant = moves.first().is_some_and(|m| m.from == Account::Adjustments);
        let expected =
            if to_the_tenant { self.giving(Account::Adjustments, sum) } else { self.taking(Account::Adjustments, sum, 0) };
        self.post(moves, expected, found);
    }

    /// Use that nobody can be charged for.
    pub fn lose(&mut self, ticks: i128, moves: &[Movement], found: &mut Findings) {
        self.post(moves, due([(Account::Loss, Revenue, ticks), NOTHING, NOTHING]), found);
    }

    /// Where he stands.
    pub fn balances(&self) -> Balances {
        let of = |account| Ticks(self.balance(account));
        Balances {
            wallet: of(Wallet),
            held: of(Held),
            receivable: of(Receivable),
            revenue: of(Revenue),
            loss: of(Account::Loss),
            adjustments: of(Account::Adjustments),
            charged: Ticks(self.charged),
            paid: Ticks(self.paid),
        }
    }
}

fn due(wanted: [(Account, Account, i128); 3]) -> Due {
    wanted.map(|(from, to, ticks)| Movement { from, to, ticks })
}

fn told<'a>(moves: impl Iterator<Item = &'a Movement>) -> String {
    let each: Vec<String> = moves.map(|m| format!("{} from {:?} to {:?}", m.ticks, m.from, m.to)).collect();
    if each.is_empty() { "nothing".into() } else { each.join(" and ") }
}
