//! `suanzu verify`: checks what was recorded, with nothing but the bytes. No server, and no rule of renting, is needed.

mod receipt;

use crate::{
    app::{App, Done},
    failure::Failure,
    language::phrases as p,
    output::{Column, Format, Show},
};
use anyhow::{Context as _, anyhow};
use journal::{Bundle, Failure as Broken, Reader, Source, note::Verifier, verify};
use reqwest::blocking::Client as Http;
use serde_json::{Value, json};
use std::{error::Error, fs, ops::ControlFlow, path::Path, process::ExitCode};

/// What to check.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A receipt or bundle, a data folder, a folder or address of a published log
    #[arg(value_name = "FILE|FOLDER|URL")]
    what: String,
    /// The log's public key, or a file that holds it (log.pub): without it a bundle's own key is believed
    #[arg(long, value_name = "KEY|FILE")]
    public_key: Option<String>,
}

const COLUMNS: &[Column] = &[
    Column::new(&p::LOG, "/log", Show::Text),
    Column::new(&p::ENTRIES, "/entries", Show::Text),
    Column::new(&p::PARTS, "/parts", Show::Text),
    Column::new(&p::CHECKPOINTS, "/checkpoints", Show::Text),
    Column::new(&p::BILLS, "/bills", Show::Text),
    Column::new(&p::ROOT, "/merkle_root", Show::Text),
];

/// What was checked, and what is wrong.
pub struct Verdict {
    /// Bytes, hashes, proofs, signatures, order.
    pub log: verify::Report,
    /// How many leases' bills were worked out again from the record; `None` where it cannot tell.
    pub bills: Option<usize>,
    /// What is wrong, in one sentence each.
    pub findings: Vec<String>,
}

impl Verdict {
    fn of(log: verify::Report) -> Verdict {
        let findings = log.findings.iter().map(ToString::to_string).collect();
        Verdict { log, bills: None, findings }
    }

    /// Whether nothing is wrong.
    pub fn sound(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Carries it out. Ends with 1 where anything is wrong.
pub fn run(args: &Args, app: &App) -> Done {
    let key = args.public_key.as_deref().map(public_key).transpose()?;
    let verdict = checked(&args.what, key.as_ref())?;
    show(&verdict, app)?;
    Ok(if verdict.sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks whatever this is.
pub fn checked(what: &str, key: Option<&Verifier>) -> Result<Verdict, Failure> {
    let path = Path::new(what);
    if what.starts_with("http://") || what.starts_with("https://") {
        return Ok(Verdict::of(site(what, key)?.with_context(|| format!("checking {what}"))?));
    }
    let verdict = if path.join("journal.sqlite").exists() {
        folder(path)
    } else if path.is_dir() {
        verify::directory(path, needed(key)?).map(Verdict::of)
    } else {
        file(&fs::read(path).with_context(|| format!("reading {what}"))?, key)
    };
    Ok(verdict.with_context(|| format!("checking {what}"))?)
}

/// A data folder: its bytes, then every bill and balance by the auditor, who shares no code with whoever wrote them.
fn folder(path: &Path) -> Result<Verdict, Broken> {
    let mut verdict = Verdict::of(verify::folder(path)?);
    let mut auditor = auditor::Auditor::new();
    let read = Reader::open(path)?.read(1, &mut |stored| {
        if stored.seq > verdict.log.size {
            return ControlFlow::Break(());
        }
        let parts: Vec<(u64, &[u8])> = stored.parts.iter().map(|part| (part.owner.0, part.bytes)).collect();
        // What is wrong is told at the end, all of it.
        let _ = auditor.feed(stored.seq, stored.header, &parts);
        ControlFlow::Continue(())
    });
    // A row that cannot be read is among the findings already; what stands behind it cannot be audited.
    if read.is_ok() {
        let audit = auditor.finish();
        verdict.bills = Some(audit.bills.len());
        verdict.findings.extend(audit.findings.iter().map(ToString::to_string));
    }
    Ok(verdict)
}

/// A bundle, or a receipt that carries one: then its lines must be the record's.
fn file(bytes: &[u8], key: Option<&Verifier>) -> Result<Verdict, Broken> {
    let receipt = serde_json::from_slice::<Value>(bytes).ok().filter(|file| file.pointer("/proof/bundle").is_some());
    let Some(receipt) = receipt else { return verify::bundle(bytes, key).map(Verdict::of) };
    let bundle = receipt.pointer("/proof/bundle").map(Value::to_string).unwrap_or_default();
    let mut verdict = Verdict::of(verify::bundle(bundle.as_bytes(), key)?);
    verdict.findings.extend(receipt::findings(&receipt, &Bundle::parse(bundle.as_bytes())?));
    verdict.bills = Some(1);
    Ok(verdict)
}

fn site(url: &str, key: Option<&Verifier>) -> Result<Result<verify::Report, Broken>, Failure> {
    let http = Http::builder().build().context("setting up HTTP")?;
    let base = url.trim_end_matches('/');
    let fetch = |path: &str| -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        Ok(http.get(format!("{base}/{path}")).send()?.error_for_status()?.bytes()?.to_vec())
    };
    Ok(verify::site(&fetch, needed(key)?))
}

fn needed(key: Option<&Verifier>) -> Result<&Verifier, Failure> {
    key.ok_or_else(|| Failure::Usage("a published log is checked against its public key: --public-key keys/log.pub".into()))
}

/// A key in the `public` form of a note, or a file that holds one.
pub fn public_key(text: &str) -> Result<Verifier, Failure> {
    let read = if text.contains('+') && !Path::new(text).exists() { Ok(text.to_owned()) } else { fs::read_to_string(text) };
    let text = read.with_context(|| format!("reading the public key {text}"))?;
    text.trim().parse().map_err(|error| Failure::Other(anyhow!("{error}")))
}

fn show(verdict: &Verdict, app: &App) -> Result<(), Failure> {
    let hex = |root: journal::Hash| root.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let Verdict { log, bills, findings } = verdict;
    let answer = json!({
        "log": log.origin, "entries": log.size, "parts": log.parts, "checkpoints": log.checkpoints, "bills": bills,
        "merkle_root": log.root.map(hex), "sound": verdict.sound(), "findings": findings,
    });
    app.screen.object(&answer, COLUMNS)?;
    if app.screen.format == Format::Table {
        let phrase = if verdict.sound() { &p::SOUND } else { &p::NOT_SOUND };
        let lines = findings.iter().map(|finding| format!("\n  · {finding}"));
        app.screen.write(&(app.screen.language.fill(phrase, &[&findings.len().to_string()]) + &lines.collect::<String>()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_bundle_is_a_failure_and_not_a_verdict() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "{}").unwrap();
        assert!(checked(&file.path().display().to_string(), None).is_err());
    }

    #[test]
    fn a_published_log_is_never_believed_without_a_key() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(checked(&folder.path().display().to_string(), None), Err(Failure::Usage(_))));
    }
}
