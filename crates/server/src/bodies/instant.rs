//! Instants on the wire.

use serde::{Deserialize, Deserializer, de::Error as _};
use units::Time;

/// Reads an instant, or none.
pub(crate) fn instant<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Time>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    let read = text.map(|text| text.parse());
    read.transpose().map_err(|_| D::Error::custom("write an instant as RFC 3339 does, such as 2026-05-01T09:00:00Z"))
}
