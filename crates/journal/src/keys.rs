//! The keys of a log: its signing key and its secret. They are part of the backup: without the secret nobody
//! can recompute a salt, without the signing key nobody can go on with the log.
//!
//! Files in the `keys` folder, mode 0600:
//!
//! ```text
//! log.key     the Ed25519 signing key in the `private` form of `note`; its name is suanzu/<log id>
//! log.secret  32 random bytes as 64 hexadecimal digits and a newline
//! log.pub     the public key in the `public` form of `note`: give it to whoever verifies
//! ```

use crate::{
    Checkpoint, Failure, Head, LogId, checkpoint,
    leaf::Salts,
    note::{Signer, Verifier},
};
use ring::rand::{SecureRandom, SystemRandom};
use std::{fs, io::Write, os::unix::fs::OpenOptionsExt, path::Path, sync::Arc};

const KEY_FILE: &str = "log.key";
const SECRET_FILE: &str = "log.secret";
const PUBLIC_FILE: &str = "log.pub";

/// The keys of one log. Cloning is cheap.
#[derive(Clone)]
pub struct Keys {
    log: LogId,
    signer: Arc<Signer>,
    secret: [u8; 32],
}

impl Keys {
    /// Keys that are a function of `seed`: for tests and simulations, never for a log that matters.
    pub fn from_seed(seed: u64) -> Keys {
        let hash = |label: &str| crate::leaf::sha256(&[label.as_bytes(), &seed.to_be_bytes()]);
        let log = LogId(hash("log")[..16].try_into().expect("a hash is longer than an id"));
        Keys { log, signer: Arc::new(Signer::new(&checkpoint::origin(log), hash("key"))), secret: hash("secret") }
    }

    /// Reads the keys in `folder`.
    pub fn load(folder: &Path) -> Result<Keys, Failure> {
        let read =
            |file: &str| fs::read_to_string(folder.join(file)).map_err(|e| wrong(folder, format!("{file} cannot be read: {e}")));
        let signer = Signer::parse(&read(KEY_FILE)?).map_err(|e| wrong(folder, format!("{KEY_FILE}: {e}")))?;
        let log = signer.verifier().name().strip_prefix("suanzu/").and_then(|id| id.parse().ok());
        let log = log.ok_or_else(|| wrong(folder, format!("{KEY_FILE} is not named suanzu/<log id>")))?;
        let mut secret = [0; 32];
        hex::decode_to_slice(read(SECRET_FILE)?.trim(), &mut secret)
            .map_err(|_| wrong(folder, format!("{SECRET_FILE} is not 64 hexadecimal digits")))?;
        Ok(Keys { log, signer: Arc::new(signer), secret })
    }

    /// Makes the keys of a new log and writes them into `folder`, where there must be none.
    pub fn create(folder: &Path) -> Result<Keys, Failure> {
        let log = LogId(random());
        let keys = Keys { log, signer: Arc::new(Signer::new(&checkpoint::origin(log), random())), secret: random() };
        fs::create_dir_all(folder).map_err(|e| Failure::io("making the folder of the keys", e))?;
        // The signing key comes last: a folder that has it is complete.
        write(folder, SECRET_FILE, &format!("{}\n", hex::encode(keys.secret)))?;
        write(folder, PUBLIC_FILE, &format!("{}\n", keys.verifier()))?;
        write(folder, KEY_FILE, &format!("{}\n", keys.signer.private_text()))?;
        fs::File::open(folder).and_then(|f| f.sync_all()).map_err(|e| Failure::io("writing the keys", e))?;
        Ok(keys)
    }

    /// Whether `folder` holds a signing key.
    pub fn exist(folder: &Path) -> bool {
        folder.join(KEY_FILE).exists()
    }

    /// Which log they belong to.
    pub fn log(&self) -> LogId {
        self.log
    }

    /// The public key.
    pub fn verifier(&self) -> &Verifier {
        self.signer.verifier()
    }

    /// The salts of this log.
    pub fn salts(&self) -> Salts {
        Salts::new(&self.secret)
    }

    /// A secret of its own for another purpose, such as deriving the leases' own keys: HKDF-Expand of the salt
    /// key with info `"suanzu/secret/1" ‖ purpose`.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        self.salts().expand(&[b"suanzu/secret/1", purpose.as_bytes()])
    }

    /// The signed checkpoint of a head of this log.
    pub fn checkpoint(&self, head: &Head) -> String {
        Checkpoint::of(self.log, head).sign(&self.signer)
    }
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the system gives random bytes");
    bytes
}

fn wrong(folder: &Path, what: String) -> Failure {
    Failure::Keys { folder: folder.into(), what }
}

fn write(folder: &Path, file: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(file);
    // A file left by a creation that was cut short is replaced; one beside a signing key is never reached.
    if !Keys::exist(folder) {
        let _ = fs::remove_file(&path);
    }
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
    written.map_err(|e| Failure::io("writing the keys", e))
}
