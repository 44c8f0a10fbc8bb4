//! Events: facts, two levels by area, each with a kind and a version on the wire.
//!
//! An event is the CBOR array `[kind, body]`; `kind` is text with a version (`"lease.placed/1"`), `body` the array of the
//! event's fields in the order of their numbers. A changed shape gets a new version beside the old.

use crate::{fleet, lease, market, money, tenancy};
use minicbor::{Decode, Decoder, Encode, Encoder, decode, encode};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use units::Owner;

/// A fact, by the area that folds it.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Servers and cards.
    Fleet(fleet::Event),
    /// Prices and policies.
    Market(market::Event),
    /// Tenants, projects, members, keys.
    Tenancy(tenancy::Event),
    /// What is rented; with whose it is.
    Lease(units::TenantId, lease::Event),
    /// Wallets; with whose it is.
    Money(units::TenantId, money::Event),
}

impl Event {
    /// Whose part the event stands in.
    pub fn owner(&self) -> Owner {
        match self {
            Event::Fleet(_) | Event::Market(_) => Owner::OPERATOR,
            Event::Tenancy(e) => e.owner(),
            Event::Lease(tenant, _) | Event::Money(tenant, _) => (*tenant).into(),
        }
    }

    /// Kind and version, such as `lease.placed/1`.
    pub fn kind(&self) -> &'static str {
        match self {
            Event::Fleet(e) => e.kind(),
            Event::Market(e) => e.kind(),
            Event::Tenancy(e) => e.kind(),
            Event::Lease(_, e) => e.kind(),
            Event::Money(_, e) => e.kind(),
        }
    }
}

impl<C> Encode<C> for Event {
    fn encode<W: encode::Write>(&self, e: &mut Encoder<W>, _: &mut C) -> Result<(), encode::Error<W::Error>> {
        e.array(2)?.str(self.kind())?;
        match self {
            Event::Fleet(event) => event.encode_body(e),
            Event::Market(event) => event.encode_body(e),
            Event::Tenancy(event) => event.encode_body(e),
            Event::Lease(_, event) => event.encode_body(e),
            Event::Money(_, event) => event.encode_body(e),
        }
    }
}

/// For people and event streams: `{"kind": …, "data": {…}}`. Nothing stored is ever written so.
impl Serialize for Event {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut event = s.serialize_struct("Event", 2)?;
        event.serialize_field("kind", self.kind())?;
        match self {
            Event::Fleet(data) => event.serialize_field("data", data),
            Event::Market(data) => event.serialize_field("data", data),
            Event::Tenancy(data) => event.serialize_field("data", data),
            Event::Lease(_, data) => event.serialize_field("data", data),
            Event::Money(_, data) => event.serialize_field("data", data),
        }?;
        event.end()
    }
}

/// Bytes that are not an event of a known kind.
pub type DecodeEventError = decode::Error;

impl Event {
    /// Reads an event from the part of `owner`. A kind that this build does not know is an error, not a guess.
    pub fn decode(d: &mut Decoder<'_>, owner: Owner) -> Result<Event, DecodeEventError> {
        if d.array()? != Some(2) {
            return Err(decode::Error::message("an event is [kind, body]"));
        }
        let kind = d.str()?;
        let tenant = || owner.tenant().ok_or_else(|| decode::Error::message("a tenant's event in the operator's part"));
        match kind.split_once('.').map_or("", |(area, _)| area) {
            "fleet" => fleet::Event::decode_body(kind, d).map(Event::Fleet),
            "market" => market::Event::decode_body(kind, d).map(Event::Market),
            "tenancy" => tenancy::Event::decode_body(kind, d).map(Event::Tenancy),
            "lease" => lease::Event::decode_body(kind, d).and_then(|e| Ok(Event::Lease(tenant()?, e))),
            "money" => money::Event::decode_body(kind, d).and_then(|e| Ok(Event::Money(tenant()?, e))),
            _ => Err(unknown(kind)),
        }
    }
}

pub(crate) fn unknown(kind: &str) -> decode::Error {
    decode::Error::message(format!("unknown event kind '{kind}': written by a newer release?"))
}

pub(crate) fn body<C, W: encode::Write, T: Encode<()>>(
    value: &T,
    e: &mut Encoder<W>,
    _: &C,
) -> Result<(), encode::Error<W::Error>> {
    value.encode(e, &mut ())
}

pub(crate) fn read<'b, T: Decode<'b, ()>>(d: &mut Decoder<'b>) -> Result<T, decode::Error> {
    T::decode(d, &mut ())
}

/// Declares an area's events: the enum, their kinds, and the bodies' coding. `each names its lease: LeaseId;` before them gives
/// `lease()` too, from the field that all of them have.
macro_rules! events {
    (each names its $field:ident: $id:ty; $(#[$doc:meta])* $($name:ident = $kind:literal)*) => {
        crate::event::events! { $(#[$doc])* $($name = $kind)* }

        impl Event {
            /// Which one it is about.
            pub fn $field(&self) -> $id {
                match self {
                    $(Event::$name(body) => body.$field,)*
                }
            }
        }
    };
    ($(#[$doc:meta])* $($name:ident = $kind:literal)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        #[allow(missing_docs)]
        pub enum Event {
            $($name($name),)*
        }

        impl Event {
            /// Kind and version.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Event::$name(_) => $kind,)*
                }
            }

            pub(crate) fn encode_body<W: minicbor::encode::Write>(
                &self,
                e: &mut minicbor::Encoder<W>,
            ) -> Result<(), minicbor::encode::Error<W::Error>> {
                match self {
                    $(Event::$name(body) => crate::event::body(body, e, &()),)*
                }
            }

            pub(crate) fn decode_body(kind: &str, d: &mut minicbor::Decoder<'_>) -> Result<Event, minicbor::decode::Error> {
                match kind {
                    $($kind => crate::event::read(d).map(Event::$name),)*
                    _ => Err(crate::event::unknown(kind)),
                }
            }
        }

        $(impl From<$name> for Event {
            fn from(body: $name) -> Event {
                Event::$name(body)
            }
        })*
    };
}
pub(crate) use events;
