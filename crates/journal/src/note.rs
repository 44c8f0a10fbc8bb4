//! C2SP `signed-note` with Ed25519: a text and the signatures under it, as Go's `golang.org/x/mod/sumdb/note` has it.
//!
//! ```text
//! note       text (ends with a newline) ‖ "\n" ‖ signature lines
//! signature  "— " ‖ name ‖ " " ‖ base64(key hash (4 bytes) ‖ Ed25519 signature (64 bytes) of text) ‖ "\n"
//! key hash   first 4 bytes of SHA-256(name ‖ "\n" ‖ 0x01 ‖ public key)
//! public     name ‖ "+" ‖ key hash in 8 hexadecimal digits ‖ "+" ‖ base64(0x01 ‖ public key (32 bytes))
//! private    "PRIVATE+KEY+" ‖ name ‖ "+" ‖ key hash in hexadecimal ‖ "+" ‖ base64(0x01 ‖ seed (32 bytes))
//! ```

use crate::{Failure, leaf::sha256};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use std::{fmt, str::FromStr};

const ED25519_KIND: u8 = 1;

fn key_hash(name: &str, public: &[u8; 32]) -> [u8; 4] {
    let hash = sha256(&[name.as_bytes(), b"\n", &[ED25519_KIND], public]);
    hash[..4].try_into().expect("a hash is longer than four bytes")
}

/// `name+hash+base64(kind ‖ key)`: the form that public and private keys share.
fn split_key(text: &str) -> Option<(&str, [u8; 4], [u8; 32])> {
    let mut pieces = text.splitn(3, '+');
    let (name, hash, key) = (pieces.next()?, pieces.next()?, pieces.next()?);
    let mut id = [0; 4];
    hex::decode_to_slice(hash, &mut id).ok()?;
    let key = BASE64_STANDARD.decode(key).ok()?;
    let (kind, key) = key.split_first()?;
    let sound = *kind == ED25519_KIND && !name.is_empty() && !name.contains(char::is_whitespace);
    sound.then_some((name, id, key.try_into().ok()?))
}

/// Checks signatures of one name and key. Spoken as the `public` form above.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verifier {
    name: String,
    public: [u8; 32],
}

impl Verifier {
    /// Whose signatures it checks.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of a note whose signature by this key holds. Signatures by others are passed over.
    pub fn open<'a>(&self, note: &'a str) -> Result<&'a str, Failure> {
        let (text, signatures) = note.rfind("\n\n").map(|at| (&note[..=at], &note[at + 2..])).ok_or_else(no_note)?;
        if !signatures.ends_with('\n') {
            return Err(no_note());
        }
        let id = key_hash(&self.name, &self.public);
        for line in signatures.lines() {
            let (name, value) = line.strip_prefix("— ").and_then(|l| l.split_once(' ')).ok_or_else(no_note)?;
            let value = BASE64_STANDARD.decode(value).map_err(|_| no_note())?;
            if let Some(signature) = value.strip_prefix(&id).filter(|_| name == self.name) {
                return match UnparsedPublicKey::new(&ED25519, self.public).verify(text.as_bytes(), signature) {
                    Ok(()) => Ok(text),
                    Err(_) => Err(Failure::invalid(format!("the signature of {name} does not hold"))),
                };
            }
        }
        Err(Failure::invalid(format!("there is no signature of {}", self.name)))
    }
}

fn no_note() -> Failure {
    Failure::invalid("this is no signed note")
}

impl fmt::Display for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = BASE64_STANDARD.encode([&[ED25519_KIND][..], &self.public].concat());
        write!(f, "{}+{}+{key}", self.name, hex::encode(key_hash(&self.name, &self.public)))
    }
}

impl FromStr for Verifier {
    type Err = Failure;
    fn from_str(text: &str) -> Result<Self, Failure> {
        split_key(text.trim())
            .filter(|(name, id, public)| key_hash(name, public) == *id)
            .map(|(name, _, public)| Verifier { name: name.into(), public })
            .ok_or_else(|| Failure::invalid("this is no public key of a note"))
    }
}

/// Signs notes.
pub struct Signer {
    pair: Ed25519KeyPair,
    seed: [u8; 32],
    verifier: Verifier,
}

impl Signer {
    /// A signer of this name from an Ed25519 seed.
    pub fn new(name: &str, seed: [u8; 32]) -> Signer {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).expect("every 32 bytes are a seed");
        let public = pair.public_key().as_ref().try_into().expect("an Ed25519 public key is 32 bytes");
        Signer { pair, seed, verifier: Verifier { name: name.into(), public } }
    }

    /// Reads the `private` form above.
    pub fn parse(text: &str) -> Result<Signer, Failure> {
        let signer = text.trim().strip_prefix("PRIVATE+KEY+").and_then(split_key).and_then(|(name, id, seed)| {
            let signer = Signer::new(name, seed);
            (key_hash(name, &signer.verifier.public) == id).then_some(signer)
        });
        signer.ok_or_else(|| Failure::invalid("this is no private key of a note"))
    }

    /// The `private` form above.
    pub fn private_text(&self) -> String {
        let key = BASE64_STANDARD.encode([&[ED25519_KIND][..], &self.seed].concat());
        let verifier = &self.verifier;
        format!("PRIVATE+KEY+{}+{}+{key}", verifier.name, hex::encode(key_hash(&verifier.name, &verifier.public)))
    }

    /// Checks this signer's signatures.
    pub fn verifier(&self) -> &Verifier {
        &self.verifier
    }

    /// The note of `text`, which must end with a newline.
    pub fn sign(&self, text: &str) -> String {
        assert!(text.ends_with('\n'), "the text of a note ends with a newline");
        let Verifier { name, public } = &self.verifier;
        let signature = [&key_hash(name, public)[..], self.pair.sign(text.as_bytes()).as_ref()].concat();
        format!("{text}\n— {name} {}\n", BASE64_STANDARD.encode(signature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_back_as_they_are_written() {
        let signer = Signer::new("suanzu/abc", [9; 32]);
        let again = Signer::parse(&signer.private_text()).unwrap();
        assert_eq!(again.verifier(), signer.verifier());
        assert_eq!(signer.verifier().to_string().parse::<Verifier>().unwrap(), *signer.verifier());
    }

    #[test]
    fn a_note_opens_for_its_key_only_and_with_its_text_only() {
        let signer = Signer::new("suanzu/abc", [9; 32]);
        let note = signer.sign("one\n\ntwo\n");
        assert_eq!(signer.verifier().open(&note).unwrap(), "one\n\ntwo\n");
        assert!(Signer::new("suanzu/abc", [8; 32]).verifier().open(&note).is_err());
        assert!(signer.verifier().open(&note.replace("one", "One")).is_err());
        assert!(signer.verifier().open(note.trim_end()).is_err());
    }

    #[test]
    fn a_note_may_carry_signatures_of_others() {
        let (signer, witness) = (Signer::new("log", [1; 32]), Signer::new("witness", [2; 32]));
        let cosigned = signer.sign("text\n") + witness.sign("text\n").split_once("\n\n").unwrap().1;
        assert!(signer.verifier().open(&cosigned).is_ok());
        assert!(witness.verifier().open(&cosigned).is_ok());
    }
}
