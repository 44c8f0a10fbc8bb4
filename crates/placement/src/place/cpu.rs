//! CPU without a device: on one node, and not beside GPUs where that can be helped.

use super::search::Search;
use crate::row::NO_KIND;
use units::Grant;

impl Search<'_> {
    pub(super) fn cpu(&self, milli: u64) -> Option<Vec<Grant>> {
        let cpu_milli = u32::try_from(milli).ok()?;
        let memory_mib = self.ask.beside.memory_mib;
        let fits = self.places().filter(|(_, row)| row.open && row.cpu_left >= cpu_milli && row.memory_left >= memory_mib);
        let (_, row) = fits.min_by_key(|(_, row)| (row.kind != NO_KIND, row.cpu_left))?;
        Some(vec![Grant { node: row.id, cpu_milli, memory_mib, slices: Vec::new(), exclusive: false }])
    }
}
