//! Secrets that clients hold: API keys, leases' own keys, sign-in links and page tokens.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::{
    digest, hmac,
    rand::{SecureRandom, SystemRandom},
};
use units::LeaseId;

/// SHA-256 over the concatenation of `parts`.
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut context = digest::Context::new(&digest::SHA256);
    parts.iter().for_each(|part| context.update(part));
    context.finish().as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// A new secret: `prefix` and 32 random bytes in base64url.
pub(crate) fn generate(prefix: &str) -> String {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).expect("the system gives random bytes");
    format!("{prefix}{}", BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// A new API key's secret with the hash that is kept of it.
pub(crate) fn api_key() -> (String, [u8; 32]) {
    let secret = generate("sz_");
    let hash = sha256(&[secret.as_bytes()]);
    (secret, hash)
}

const LEASE_PREFIX: &str = "szl_";

/// The lease's own key: `szl_NUMBER_` and an HMAC of the lease's id. Nothing is stored of it.
pub(crate) fn of_lease(key: &hmac::Key, lease: LeaseId) -> String {
    let tag = hmac::sign(key, lease.to_string().as_bytes());
    format!("{LEASE_PREFIX}{}_{}", lease.0, BASE64_URL_SAFE_NO_PAD.encode(tag))
}

/// The lease whose own key this is.
pub(crate) fn lease_of(key: &hmac::Key, secret: &str) -> Option<LeaseId> {
    let (number, tag) = secret.strip_prefix(LEASE_PREFIX)?.split_once('_')?;
    let lease = LeaseId(number.parse().ok()?);
    let tag = BASE64_URL_SAFE_NO_PAD.decode(tag).ok()?;
    hmac::verify(key, lease.to_string().as_bytes(), &tag).ok().map(|()| lease)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_key_opens_its_own_lease_and_no_other() {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &[7; 32]);
        let own = of_lease(&key, LeaseId(12));
        assert_eq!(lease_of(&key, &own), Some(LeaseId(12)));
        assert_eq!(lease_of(&key, &own.replace("szl_12_", "szl_13_")), None);
        assert_eq!(lease_of(&hmac::Key::new(hmac::HMAC_SHA256, &[8; 32]), &own), None);
    }
}
