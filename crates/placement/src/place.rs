//! Where an ask goes: one search per kind of size, all of them scans over the rows with the least key winning.

mod cards;
mod compute;
mod cpu;
mod search;
mod servers;
mod shares;
mod why;

use crate::{Fleet, WhyNot};
use search::Search;
use units::{Ask, Grant, Size, UnitKind};

/// Finds room for all of the ask, now. The grants are ascending by node and may be taken as they are.
///
/// - `Servers(n)`: wholly empty, clean nodes, exclusively; alike in model and number of cards.
/// - `Cards(n)`: whole cards of one model, on the node with the fewest free cards that has room; over several
///   nodes only where no node of the fleet is large enough.
/// - `Share`: on the device with the least left.
/// - `Units(Tflops, _)`: whole cards, then a share for the rest, lowest rank first, over any number of nodes.
/// - `Units(Cpu, _)`: on one node, those without devices first, with the least CPU left. [`units::Beside`] gives the
///   memory; its CPU is not added.
pub fn place(fleet: &Fleet, ask: &Ask) -> Result<Vec<Grant>, WhyNot> {
    let search = Search::new(fleet, ask);
    find(&search).ok_or_else(|| why::count(&search))
}

fn find(search: &Search<'_>) -> Option<Vec<Grant>> {
    match search.ask.size {
        Size::Servers(n) => search.servers(n),
        Size::Cards(n) => search.cards(n),
        Size::Share(share) => search.share(share),
        Size::Units(UnitKind::Tflops, milli) => search.compute(milli),
        Size::Units(UnitKind::Cpu, milli) => search.cpu(milli),
    }
}
