//! One device's books: what is taken, what is freed but not yet clean, what is left, on both axes.

use serde::{Deserialize, Serialize};
use units::{DeviceId, Share};

/// What lies on a card in one of the two states (taken, or freed and unclean).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Held {
    /// Permille of the card's compute.
    pub compute: u16,
    /// Soft shares; a whole card counts none.
    pub shares: u8,
    /// MiB of the card's memory.
    pub memory_mib: u32,
}

impl Held {
    fn add(&mut self, share: Share, slots: u8) {
        self.compute += share.compute as u16;
        self.memory_mib += share.memory_mib;
        self.shares += slots;
    }

    fn remove(&mut self, share: Share, slots: u8) -> Option<()> {
        self.compute = self.compute.checked_sub(u16::try_from(share.compute).ok()?)?;
        self.memory_mib = self.memory_mib.checked_sub(share.memory_mib)?;
        self.shares = self.shares.checked_sub(slots)?;
        Some(())
    }

    pub fn is_none(self) -> bool {
        self == Held::default()
    }

    pub fn share(self) -> Share {
        Share { compute: u32::from(self.compute), memory_mib: self.memory_mib }
    }
}

/// One device as the fleet counts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Card {
    pub id: DeviceId,
    /// Index of the fleet's kinds.
    pub kind: u16,
    pub max_shares: u8,
    pub offered: bool,
    pub memory_mib: u32,
    pub taken: Held,
    pub unclean: Held,
}

impl Card {
    /// All of it.
    pub fn whole(&self) -> Share {
        Share { compute: Share::WHOLE, memory_mib: self.memory_mib }
    }

    /// Nothing lies on it, neither a lease nor what one left behind.
    pub fn is_free(&self) -> bool {
        self.taken.is_none() && self.unclean.is_none()
    }

    /// What can still be placed, on each axis.
    pub fn left(&self) -> Share {
        Share {
            compute: Share::WHOLE - u32::from(self.taken.compute) - u32::from(self.unclean.compute),
            memory_mib: self.memory_mib - self.taken.memory_mib - self.unclean.memory_mib,
        }
    }

    /// Whether one more share may stand beside those that are there.
    pub fn has_slot(&self) -> bool {
        u16::from(self.taken.shares) + u16::from(self.unclean.shares) < u16::from(self.max_shares)
    }

    /// Whether the share goes on it now, offered or not. All of a card is a whole card and needs no slot.
    pub fn fits(&self, share: Share) -> bool {
        if share == self.whole() {
            return self.is_free();
        }
        let left = self.left();
        share != Share::default() && share.compute <= left.compute && share.memory_mib <= left.memory_mib && self.has_slot()
    }

    /// The card as it will be once all that was freed on it is measured clean.
    pub fn cleared(&self) -> Card {
        Card { unclean: Held::default(), ..self.clone() }
    }

    fn slots(&self, share: Share) -> u8 {
        u8::from(share != self.whole())
    }

    pub fn take(&mut self, share: Share) {
        assert!(self.fits(share), "never over-committed: {share:?} on {} with {:?} left", self.id, self.left());
        self.taken.add(share, self.slots(share));
    }

    pub fn free(&mut self, share: Share) {
        let slots = self.slots(share);
        self.taken.remove(share, slots).expect("only what was taken is freed");
        self.unclean.add(share, slots);
    }

    pub fn clear(&mut self, share: Share) {
        let slots = self.slots(share);
        self.unclean.remove(share, slots).expect("only what was freed is cleared");
    }
}
