//! Everything that future decisions need, and nothing else.

use crate::{Table, fleet, lease, market, money, tenancy};
use billing::Account;
use serde::{Deserialize, Serialize};
use units::{Grant, LeaseId, Owner, Ticks, Time};

/// The folded journal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Number of the last entry; 0 before the first.
    pub seq: u64,
    /// Time of the last entry.
    pub time: Time,
    /// Rises whenever something happened that may let a waiting lease in.
    pub room: u64,
    parts: Table<u64, u64>,
    /// Servers and cards.
    pub fleet: fleet::State,
    /// Prices and policies.
    pub market: market::State,
    /// Tenants, projects, members, keys.
    pub tenancy: tenancy::State,
    /// What is rented.
    pub lease: lease::State,
    /// Wallets.
    pub money: money::State,
}

/// An invariant that does not hold: a bug, with the facts that show it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invariant broken: {0}")]
pub struct Broken(pub String);

impl State {
    /// How many parts an owner has so far.
    pub fn part_seq(&self, owner: Owner) -> u64 {
        self.parts.get(owner.0).copied().unwrap_or(0)
    }

    pub(crate) fn set_part_seq(&mut self, owner: Owner, part_seq: u64) {
        self.parts.insert(owner.0, part_seq);
    }

    /// Checks every invariant by recounting. Costs a walk over everything: for simulation and tests.
    pub fn check(&self, now: Time) -> Result<(), Broken> {
        self.lease.check().map_err(Broken)?;
        self.fleet.check().map_err(Broken)?;
        self.check_balances()?;
        self.check_grants()?;
        self.check_cover(now)
    }

    fn check_balances(&self) -> Result<(), Broken> {
        let mut held_by_tenant: Table<units::TenantId, Ticks> = Table::default();
        for (lease, run) in self.money.runs() {
            let tenant =
                self.lease.get(lease).map(|l| l.tenant).ok_or_else(|| Broken(format!("{lease} is gone but money is held")))?;
            if run.held < Ticks::ZERO {
                return Err(Broken(format!("{lease}: {} are held", run.held)));
            }
            *held_by_tenant.entry(tenant) += run.held;
        }
        for (tenant, book) in self.money.books() {
            let held = held_by_tenant.get(tenant).copied().unwrap_or_default();
            if book.sum() != Ticks::ZERO {
                return Err(Broken(format!("{tenant}: the book sums to {}", book.sum())));
            }
            if book.balance(Account::Wallet) < Ticks::ZERO {
                return Err(Broken(format!("{tenant}: the wallet is at {}", book.balance(Account::Wallet))));
            }
            if book.balance(Account::Receivable) > Ticks::ZERO {
                return Err(Broken(format!("{tenant}: the debt is at {}", book.debt())));
            }
            if book.balance(Account::Held) != held {
                return Err(Broken(format!("{tenant}: held {} but leases hold {held}", book.balance(Account::Held))));
            }
        }
        Ok(())
    }

    /// What leases believe to hold, and what they left to be measured clean, is what the fleet counts as such.
    fn check_grants(&self) -> Result<(), Broken> {
        let members = self.lease.all().flat_map(|lease| &lease.members);
        let holding: Vec<Grant> = members.filter(|m| m.seen != lease::Seen::Gone).map(|m| m.grant.clone()).collect();
        let unclean: Vec<Grant> = self.fleet.waiting().map(|(_, grant)| grant.clone()).collect();
        self.fleet.devices().check_against(&holding, &unclean).map_err(Broken)
    }

    fn check_cover(&self, now: Time) -> Result<(), Broken> {
        let uncovered =
            |lease: &&lease::Lease| lease.status == lease::Status::Running && lease.funded_until.plus_ms(crate::GATHER_MS) < now;
        let late: Option<LeaseId> = self.lease.all().find(uncovered).map(|lease| lease.id);
        late.map_or(Ok(()), |lease| Err(Broken(format!("{lease} runs but nothing covers it"))))
    }
}
