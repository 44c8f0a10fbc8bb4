//! The auditor's word on a journal, and whether it is that of the live state: to the tick.

use auditor::{Auditor, Balances, Bill};
use billing::Account;
use journal::Source;
use rental::State;
use std::{collections::BTreeMap, ops::ControlFlow};
use units::{LeaseId, Ticks};

/// What an audit confirmed.
pub(crate) struct Audited {
    /// What all tenants were charged.
    pub charged: Ticks,
    /// What each lease cost.
    pub bills: BTreeMap<LeaseId, Bill>,
}

/// Recomputes everything from the stored bytes and holds the live state against it.
pub(crate) fn audit(journal: &dyn Source, state: &State) -> Result<Audited, String> {
    let mut auditor = Auditor::new();
    let mut first = None;
    let read = journal.read(1, &mut |stored| {
        let parts: Vec<(u64, &[u8])> = stored.parts.iter().map(|part| (part.owner.0, part.bytes)).collect();
        match auditor.feed(stored.seq, stored.header, &parts) {
            Ok(()) => ControlFlow::Continue(()),
            Err(finding) => {
                first = Some(finding);
                ControlFlow::Break(())
            }
        }
    });
    read.map_err(|failure| failure.to_string())?;
    if let Some(finding) = first {
        return Err(format!("the auditor finds: {finding}"));
    }
    let report = auditor.finish();
    if let Some(finding) = report.findings.first() {
        return Err(format!("the auditor finds: {finding}"));
    }
    for (tenant, book) in state.money.books() {
        let audited = report.balances.get(&tenant).copied().unwrap_or_default();
        let live = balances(book);
        if audited != live {
            return Err(format!("{tenant}: the auditor has {audited:?}, the state {live:?}"));
        }
    }
    let charged = report.balances.values().map(|b| b.charged).sum();
    Ok(Audited { charged, bills: report.bills })
}

fn balances(book: &billing::Accounts) -> Balances {
    let totals = book.totals();
    Balances {
        wallet: book.balance(Account::Wallet),
        held: book.balance(Account::Held),
        receivable: book.balance(Account::Receivable),
        revenue: book.balance(Account::Revenue),
        loss: book.balance(Account::Loss),
        adjustments: book.balance(Account::Adjustments),
        charged: totals.charged,
        paid: totals.paid,
    }
}
