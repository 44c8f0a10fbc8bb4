//! The double-entry book of one tenant. Every movement takes from one account what it gives to another.
//!
//! Accounts of a tenant: `wallet` (his cash), `held` (set aside for running leases), `receivable` (what he owes on credit:
//! at or below zero). Accounts of the operator, per tenant so that each part of an entry balances by itself: `cash` (money
//! that came in: negative), `revenue`, `loss` (use that nobody can be charged for), `adjustments`.

use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};
use units::Ticks;

/// Where money is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize, Deserialize)]
#[cbor(index_only)]
#[serde(rename_all = "snake_case")]
pub enum Account {
    /// Money paid in from outside.
    #[n(0)]
    Cash,
    /// The tenant's own money, free to use.
    #[n(1)]
    Wallet,
    /// Set aside for a lease.
    #[n(2)]
    Held,
    /// What the tenant owes: zero or below.
    #[n(3)]
    Receivable,
    /// What the operator earned.
    #[n(4)]
    Revenue,
    /// Use that nobody can be charged for.
    #[n(5)]
    Loss,
    /// Corrections by the operator.
    #[n(6)]
    Adjustments,
}

/// One movement: `ticks` leave `from` and arrive at `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode, Serialize, Deserialize)]
pub struct Movement {
    /// The account that gives.
    #[n(0)]
    pub from: Account,
    /// The account that takes.
    #[n(1)]
    pub to: Account,
    /// How much, never negative.
    #[n(2)]
    pub ticks: Ticks,
}

/// The movements of one posting: at most one per source or destination that was needed.
pub type Move = Vec<Movement>;

/// A tenant's running totals over his life, repeated in each of his parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode, Serialize, Deserialize)]
pub struct Totals {
    /// Charged, less what was reversed.
    #[n(0)]
    pub charged: Ticks,
    /// Paid in.
    #[n(1)]
    pub paid: Ticks,
}

/// The balances of one tenant's book.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounts {
    balances: [Ticks; 7],
    /// How far `receivable` may go below zero for new orders and renewals.
    pub credit_limit: Ticks,
}

impl Accounts {
    /// The balance of an account.
    pub fn balance(&self, account: Account) -> Ticks {
        self.balances[account as usize]
    }

    /// What the tenant owes, as a positive amount.
    pub fn debt(&self) -> Ticks {
        -self.balance(Account::Receivable)
    }

    /// What a new order or a renewal may hold: wallet and unused credit.
    pub fn available(&self) -> Ticks {
        (self.balance(Account::Wallet) + (self.credit_limit - self.debt()).or_zero()).or_zero()
    }

    /// Charged and paid over the tenant's life. Use lost to nobody (`loss`) was never charged.
    pub fn totals(&self) -> Totals {
        Totals { charged: self.balance(Account::Revenue) + self.balance(Account::Loss), paid: -self.balance(Account::Cash) }
    }

    /// Sets aside up to `ticks`: the wallet first, then credit. Takes what is available, never more.
    pub fn hold(&mut self, ticks: Ticks) -> Move {
        let ticks = ticks.min(self.available());
        let own = ticks.min(self.balance(Account::Wallet).or_zero());
        self.carry_out(&[(Account::Wallet, Account::Held, own), (Account::Receivable, Account::Held, ticks - own)])
    }

    /// Charges `ticks`, of which at most `held` from what was set aside; the rest from the wallet, then as debt.
    pub fn charge(&mut self, ticks: Ticks, held: Ticks) -> Move {
        let set_aside = ticks.min(held);
        let own = (ticks - set_aside).min(self.balance(Account::Wallet).or_zero());
        self.carry_out(&[
            (Account::Held, Account::Revenue, set_aside),
            (Account::Wallet, Account::Revenue, own),
            (Account::Receivable, Account::Revenue, ticks - set_aside - own),
        ])
    }

    /// Brings `ticks` from `source` to the tenant: his debt first, then his wallet.
    pub fn give(&mut self, source: Account, ticks: Ticks) -> Move {
        let owed = ticks.min(self.debt().or_zero());
        self.carry_out(&[(source, Account::Receivable, owed), (source, Account::Wallet, ticks - owed)])
    }

    /// Takes `ticks` from the tenant to `destination`: his wallet first, then as debt.
    pub fn take(&mut self, destination: Account, ticks: Ticks) -> Move {
        let own = ticks.min(self.balance(Account::Wallet).or_zero());
        self.carry_out(&[(Account::Wallet, destination, own), (Account::Receivable, destination, ticks - own)])
    }

    /// Books use that nobody can be charged for: revenue forgone, borne by the operator.
    pub fn lose(&mut self, ticks: Ticks) -> Move {
        self.carry_out(&[(Account::Loss, Account::Revenue, ticks)])
    }

    /// Carries movements out; those recorded in the past as well as new ones.
    pub fn apply(&mut self, movements: &[Movement]) {
        for movement in movements {
            self.balances[movement.from as usize] -= movement.ticks;
            self.balances[movement.to as usize] += movement.ticks;
        }
    }

    /// The sum over all accounts: zero, always.
    pub fn sum(&self) -> Ticks {
        self.balances.iter().copied().sum()
    }

    fn carry_out(&mut self, wanted: &[(Account, Account, Ticks)]) -> Move {
        let moves: Move = wanted
            .iter()
            .filter(|(_, _, ticks)| ticks.is_positive())
            .map(|&(from, to, ticks)| Movement { from, to, ticks })
            .collect();
        self.apply(&moves);
        moves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cny(n: i64) -> Ticks {
        Ticks::from_cny(n)
    }

    #[test]
    fn credit_is_used_after_the_wallet_and_paid_back_first() {
        let mut book = Accounts { credit_limit: cny(30), ..Accounts::default() };
        book.give(Account::Cash, cny(20));
        assert_eq!(book.available(), cny(50));
        book.hold(cny(35));
        assert_eq!((book.balance(Account::Wallet), book.debt(), book.balance(Account::Held)), (cny(0), cny(15), cny(35)));
        book.charge(cny(30), cny(35));
        book.give(Account::Held, cny(5));
        assert_eq!((book.debt(), book.balance(Account::Wallet), book.available()), (cny(10), cny(0), cny(20)));
        book.give(Account::Cash, cny(100));
        assert_eq!((book.debt(), book.balance(Account::Wallet)), (cny(0), cny(90)));
        assert_eq!(book.totals(), Totals { charged: cny(30), paid: cny(120) });
        assert_eq!(book.sum(), cny(0));
    }

    #[test]
    fn a_hold_takes_no_more_than_there_is() {
        let mut book = Accounts::default();
        book.give(Account::Cash, cny(3));
        let moves = book.hold(cny(5));
        assert_eq!(moves, [Movement { from: Account::Wallet, to: Account::Held, ticks: cny(3) }]);
        assert_eq!(book.available(), cny(0));
        assert!(book.hold(cny(5)).is_empty());
    }

    #[test]
    fn use_that_nobody_pays_for_is_a_loss_of_the_operator_and_no_debt() {
        let mut book = Accounts::default();
        book.lose(cny(94));
        assert_eq!((book.balance(Account::Loss), book.debt(), book.totals().charged), (cny(-94), cny(0), cny(0)));
        assert_eq!(book.sum(), cny(0));
    }

    proptest::proptest! {
        #[test]
        fn no_sequence_unbalances_the_book_or_overdraws_the_wallet(steps in proptest::collection::vec((0u8..6, 0i64..1000), 0..60)) {
            let mut book = Accounts { credit_limit: cny(100), ..Accounts::default() };
            for (what, n) in steps {
                let held = book.balance(Account::Held);
                match what {
                    0 => book.give(Account::Cash, cny(n)),
                    1 => book.hold(cny(n)),
                    2 => book.charge(cny(n).min(held), held),
                    3 => book.give(Account::Held, cny(n).min(held)),
                    4 => book.lose(cny(n)),
                    _ => book.charge(cny(n), held),
                };
                proptest::prop_assert_eq!(book.sum(), Ticks::ZERO);
                proptest::prop_assert!(book.balance(Account::Wallet) >= Ticks::ZERO);
                proptest::prop_assert!(book.balance(Account::Held) >= Ticks::ZERO);
                proptest::prop_assert!(book.debt() >= Ticks::ZERO);
            }
        }
    }
}
