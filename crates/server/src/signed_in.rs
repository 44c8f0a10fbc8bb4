//! Browsers that signed in: one-time links and the cookie's sessions, in memory only.

use crate::secrets;
use axum::http::{HeaderMap, header};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
};
use units::{KeyId, Time};

/// The cookie's name.
pub(crate) const COOKIE: &str = "suanzu_session";
/// A link is followed within ten minutes or not at all.
const LINK_MS: i64 = 10 * 60_000;
/// A working day.
pub(crate) const SESSION_MS: i64 = 12 * 3_600_000;

/// Hashes of what browsers hold, with the key each stands for and its end.
#[derive(Default)]
pub(crate) struct SignedIn(Mutex<Tables>);

#[derive(Default)]
struct Tables {
    links: HashMap<[u8; 32], (KeyId, Time)>,
    sessions: HashMap<[u8; 32], (KeyId, Time)>,
}

impl SignedIn {
    /// A new one-time link's secret.
    pub fn link(&self, key: KeyId, now: Time) -> String {
        let secret = secrets::generate("");
        let mut tables = self.tables();
        tables.links.retain(|_, (_, end)| *end > now);
        tables.links.insert(hash(&secret), (key, now.plus_ms(LINK_MS)));
        secret
    }

    /// Uses a link up; gives the session's secret for the cookie.
    pub fn follow(&self, link: &str, now: Time) -> Option<String> {
        let mut tables = self.tables();
        let (key, _) = tables.links.remove(&hash(link)).filter(|(_, end)| *end > now)?;
        let secret = secrets::generate("");
        tables.sessions.retain(|_, (_, end)| *end > now);
        tables.sessions.insert(hash(&secret), (key, now.plus_ms(SESSION_MS)));
        Some(secret)
    }

    /// The key that the request's cookie stands for.
    pub fn key_of(&self, headers: &HeaderMap, now: Time) -> Option<KeyId> {
        let session = hash(cookie(headers)?);
        self.tables().sessions.get(&session).filter(|(_, end)| *end > now).map(|(key, _)| *key)
    }

    /// Ends the request's session.
    pub fn leave(&self, headers: &HeaderMap) {
        if let Some(secret) = cookie(headers) {
            self.tables().sessions.remove(&hash(secret));
        }
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().expect("nothing panics while it holds these tables")
    }
}

fn hash(secret: &str) -> [u8; 32] {
    secrets::sha256(&[secret.as_bytes()])
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get(header::COOKIE)?.to_str().ok()?;
    cookies.split(';').find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}
