//! Where an ask goes: one search per kind of size, scans over the rows (of a share: over blocks of them) with the least key
//! winning.

mod cards;
mod compute;
mod cpu;
mod ever;
mod search;
mod servers;
mod shares;
mod why;

use crate::{Fleet, WhyNot};
use search::Search;
use units::{Ask, Grant, Size, UnitKind};

/// Finds room for all of the ask, now, or says why there is none.
///
/// The grants are ascending by node and may be taken as they are. Each carries the CPU and memory of
/// [`units::Beside`]; a server all that the node has.
///
/// - `Servers(n)`: wholly empty, clean nodes, exclusively; alike in model and number of cards.
/// - `Cards(n)`: whole cards of one model, on the node with the fewest free cards that has room; over several
///   nodes only where no node of the fleet is large enough.
/// - `Share`: on the device with the least left.
/// - `Units(Tflops, _)`: whole cards, then a share for the rest, lowest rank first, over any number of nodes.
/// - `Units(Cpu, _)`: on one node, those without devices first, with the least CPU left. The units are all the CPU
///   there is: that of `Beside` is not added.
pub fn place(fleet: &Fleet, ask: &Ask) -> Result<Vec<Grant>, WhyNot> {
    let search = Search::new(fleet, ask);
    search.find().ok_or_else(|| why::count(&search))
}

/// [`place`] for those who do not want to know why: a refusal is then as cheap as a success.
pub fn find(fleet: &Fleet, ask: &Ask) -> Option<Vec<Grant>> {
    Search::new(fleet, ask).find()
}

/// Whether the ask would fit if the whole fleet were offered, clean and empty. One that never can is refused, not queued.
pub fn could_ever_fit(fleet: &Fleet, ask: &Ask) -> bool {
    Search::new(fleet, ask).could_ever_fit()
}

impl Search<'_> {
    fn find(&self) -> Option<Vec<Grant>> {
        match self.ask.size {
            Size::Servers(0) | Size::Cards(0) | Size::Units(_, 0) => None,
            Size::Servers(n) => self.servers(n),
            Size::Cards(n) => self.cards(n),
            Size::Share(share) => self.share(share),
            Size::Units(UnitKind::Tflops, milli) => self.compute(milli),
            Size::Units(UnitKind::Cpu, milli) => self.cpu(milli),
        }
    }
}
