//! Typed ids: one small registry. An id is a counter per kind, spoken as `kind-number` (`lease-1042`).

use minicbor::{Decode, Encode};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{fmt, str::FromStr};

/// A text that is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{given}' is not an id of the form {kind}-NUMBER")]
pub struct ParseIdError {
    /// What was given.
    pub given: String,
    /// The kind that was expected, such as `lease`.
    pub kind: &'static str,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $kind:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
        #[cbor(transparent)]
        pub struct $name(#[n(0)] pub u64);

        impl $name {
            /// The word before the number.
            pub const KIND: &'static str = $kind;
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}-{}", $kind, self.0)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;
            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                // One spelling only: no sign, no leading zero, so that an id never has two names.
                text.strip_prefix(concat!($kind, "-"))
                    .filter(|n| n.bytes().all(|b| b.is_ascii_digit()) && (*n == "0" || !n.starts_with('0')))
                    .and_then(|n| n.parse().ok())
                    .map($name)
                    .ok_or_else(|| ParseIdError { given: text.into(), kind: $kind })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                if s.is_human_readable() { s.collect_str(self) } else { s.serialize_u64(self.0) }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                if d.is_human_readable() {
                    String::deserialize(d)?.parse().map_err(D::Error::custom)
                } else {
                    u64::deserialize(d).map($name)
                }
            }
        }
    )*};
}

ids! {
    /// Who rents. Number 0 is never given out: as an [`Owner`] it means the operator.
    TenantId = "tenant";
    /// A part of a tenant, with members of its own.
    ProjectId = "project";
    /// A person, known to the journal by this number only.
    UserId = "user";
    /// An API key (its secret is in the directory, hashed).
    KeyId = "key";
    /// Nodes that are scheduled together.
    PoolId = "pool";
    /// One server.
    NodeId = "node";
    /// One GPU in a node. Numbers are unique over the whole fleet.
    DeviceId = "device";
    /// What a tenant rents.
    LeaseId = "lease";
    /// The process that runs leases on its nodes.
    AgentId = "agent";
    /// One version of the price list.
    PriceListId = "prices";
}

/// Whose part of an entry: the operator's (0) or a tenant's (his number).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize, Deserialize)]
#[cbor(transparent)]
#[serde(transparent)]
pub struct Owner(#[n(0)] pub u64);

impl Owner {
    /// The one who owns the fleet.
    pub const OPERATOR: Owner = Owner(0);

    /// The tenant, unless this is the operator.
    pub fn tenant(self) -> Option<TenantId> {
        (self.0 != 0).then_some(TenantId(self.0))
    }
}

impl From<TenantId> for Owner {
    fn from(tenant: TenantId) -> Self {
        Owner(tenant.0)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tenant() {
            None => f.write_str("operator"),
            Some(tenant) => tenant.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_as_it_is_spoken() {
        assert_eq!("lease-1042".parse(), Ok(LeaseId(1042)));
        assert_eq!(LeaseId(1042).to_string(), "lease-1042");
        assert_eq!(serde_json::to_string(&LeaseId(7)).unwrap(), "\"lease-7\"");
    }

    #[test]
    fn an_id_has_one_spelling_only() {
        for wrong in ["lease-01", "lease-+1", "lease-", "lease", "node-1", "lease-1 ", "LEASE-1", "lease-99999999999999999999"] {
            assert!(wrong.parse::<LeaseId>().is_err(), "{wrong}");
        }
    }
}
