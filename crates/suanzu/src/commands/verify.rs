//! `suanzu verify`: checks what was recorded, with nothing but the bytes. No server, and no rule of renting, is needed.

use crate::{
    app::{App, Done},
    failure::Failure,
    language::phrases as p,
    output::{Column, Format, Show},
};
use anyhow::{Context as _, anyhow};
use journal::{Failure as Broken, note::Verifier, verify};
use reqwest::blocking::Client as Http;
use serde_json::{Value, json};
use std::{error::Error, fs, path::Path, process::ExitCode};

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
    Column::new(&p::ROOT, "/root", Show::Text),
];

/// Carries it out. Ends with 1 where anything is wrong.
pub fn run(args: &Args, app: &App) -> Done {
    let key = args.public_key.as_deref().map(public_key).transpose()?;
    let report = checked(&args.what, key.as_ref())?;
    show(&report, app)?;
    Ok(if report.sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks whatever this is.
pub fn checked(what: &str, key: Option<&Verifier>) -> Result<verify::Report, Failure> {
    let path = Path::new(what);
    let report = if what.starts_with("http://") || what.starts_with("https://") {
        site(what, key)?
    } else if path.join("journal.sqlite").exists() {
        verify::folder(path)
    } else if path.is_dir() {
        verify::directory(path, needed(key)?)
    } else {
        let bytes = fs::read(path).with_context(|| format!("reading {what}"))?;
        verify::bundle(&bundle_in(&bytes), key)
    };
    Ok(report.with_context(|| format!("checking {what}"))?)
}

/// A receipt carries its bundle; a bundle is one.
fn bundle_in(bytes: &[u8]) -> Vec<u8> {
    let inner = serde_json::from_slice::<Value>(bytes).ok().and_then(|receipt| receipt.pointer("/proof/bundle").cloned());
    inner.map_or_else(|| bytes.to_vec(), |bundle| bundle.to_string().into_bytes())
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

fn show(report: &verify::Report, app: &App) -> Result<(), Failure> {
    let hex = |root: journal::Hash| root.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let findings: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    let answer = json!({
        "log": report.origin, "entries": report.size, "parts": report.parts, "checkpoints": report.checkpoints,
        "root": report.root.map(hex), "sound": report.sound(), "findings": findings,
    });
    app.screen.object(&answer, COLUMNS)?;
    if app.screen.format == Format::Table {
        let verdict = if report.sound() { &p::SOUND } else { &p::NOT_SOUND };
        let lines = findings.iter().map(|finding| format!("\n  · {finding}"));
        app.screen.write(&(app.screen.language.fill(verdict, &[&findings.len().to_string()]) + &lines.collect::<String>()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_checked_by_the_bundle_it_carries() {
        let receipt = json!({"lease": "lease-1", "proof": {"bundle": {"format": "x"}}}).to_string();
        assert_eq!(bundle_in(receipt.as_bytes()), br#"{"format":"x"}"#);
        assert_eq!(bundle_in(b"{\"format\":\"x\"}"), b"{\"format\":\"x\"}");
    }

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
