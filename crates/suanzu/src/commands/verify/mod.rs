//! `suanzu verify`: checks what was recorded, with nothing but the bytes. No server, and no rule of renting, is needed.

mod compare;
mod due;
mod receipt;
mod strict;

use crate::{
    app::{App, Done},
    client::Target,
    failure::Failure,
    language::{Language, Phrase, Told, phrases as p},
    output::{Column, Format, Show},
};
use journal::{Bundle, Failure as Broken, Reader, Source, note::Verifier, verify};
use receipt::Account;
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

/// The database of a data folder.
const JOURNAL: &str = "journal.sqlite";

const COLUMNS: &[Column] = &[
    Column::new(&p::LOG, "/log", Show::Text),
    Column::new(&p::ENTRIES, "/entries", Show::Text),
    Column::new(&p::PARTS, "/parts", Show::Text),
    Column::new(&p::CHECKPOINTS, "/checkpoints", Show::Text),
    Column::new(&p::BILLS, "/bills", Show::Text),
    Column::new(&p::ROOT, "/merkle_root", Show::Text),
    Column::new(&p::LEASE, "/lease", Show::Text),
    Column::new(&p::STATE, "/state", Show::Word),
    Column::new(&p::AMOUNT, "/total", Show::Money),
    Column::new(&p::LINES, "/lines", Show::Text),
    Column::new(&p::AS_OF_ENTRY, "/as_of_entry", Show::Text),
];

/// What was checked, and what is wrong.
pub struct Verdict {
    /// Bytes, hashes, proofs, signatures, order.
    pub log: verify::Report,
    /// How many leases' bills were worked out again from the record; `None` where it cannot tell.
    pub bills: Option<usize>,
    /// What a receipt comes to, where it is one.
    pub account: Option<Account>,
    /// What is wrong, in one sentence each.
    pub findings: Vec<Told>,
}

impl Verdict {
    fn of(log: verify::Report) -> Verdict {
        let findings = log.findings.iter().map(as_it_is).collect();
        Verdict { log, bills: None, account: None, findings }
    }

    /// Whether nothing is wrong.
    pub fn sound(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Carries it out. Ends with 1 where anything is wrong.
pub fn run(args: &Args, app: &App) -> Done {
    let key = args.public_key.as_deref().map(public_key).transpose()?;
    let verdict = checked(&args.what, key.as_ref(), app.client.target())?;
    show(&verdict, app)?;
    Ok(if verdict.sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks whatever this is. What lies at an address is fetched with the trust that goes for `target`.
pub fn checked(what: &str, key: Option<&Verifier>, target: &Target) -> Result<Verdict, Failure> {
    let path = Path::new(what);
    let verdict = if what.starts_with("http://") || what.starts_with("https://") {
        site(what, needed(key)?, target)?.map(Verdict::of)
    } else if path.join(JOURNAL).exists() {
        if fs::metadata(path.join(JOURNAL)).is_ok_and(|journal| journal.len() == 0) {
            return Err(said(&p::EMPTY_JOURNAL, &[what]));
        }
        folder(path)
    } else if path.is_dir() {
        published(what, key)?
    } else {
        let bytes = fs::read(path).map_err(|error| said(&p::CANNOT_READ, &[what, &error.to_string()]))?;
        file(what, &bytes, key)?
    };
    let verdict = verdict.map_err(|broken| said(&p::CANNOT_CHECK, &[what, &format!("{:#}", anyhow::Error::new(broken))]))?;
    // Nothing is wrong with nothing; but whoever asks believes that there is something.
    if verdict.log.size == 0 && path.is_dir() && verdict.sound() {
        return Err(said(&p::EMPTY_JOURNAL, &[what]));
    }
    Ok(verdict)
}

fn said(phrase: &'static Phrase, values: &[&str]) -> Failure {
    Failure::Said(Told::new(phrase, values))
}

/// What the crates beneath say in English alone.
fn as_it_is(finding: &impl ToString) -> Told {
    Told::new(&p::AS_IT_IS, &[&finding.to_string()])
}

/// A folder without a journal: a published log, or none at all.
fn published(what: &str, key: Option<&Verifier>) -> Result<Result<Verdict, Broken>, Failure> {
    let path = Path::new(what);
    if path.join("checkpoint").exists() {
        return Ok(verify::directory(path, needed(key)?).map(Verdict::of));
    }
    let phrase = if path.join("keys").exists() { &p::KEYS_WITHOUT_JOURNAL } else { &p::NO_LOG };
    Err(said(phrase, &[what]))
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
        verdict.findings.extend(audit.findings.iter().map(as_it_is));
    }
    Ok(verdict)
}

/// A bundle, or a receipt that carries one: then all of it must be what the parts say.
fn file(what: &str, bytes: &[u8], key: Option<&Verifier>) -> Result<Result<Verdict, Broken>, Failure> {
    let file = strict::parse(bytes).map_err(|error| said(&p::NO_JSON, &[what, &error.to_string()]))?;
    let is_receipt = ["lease", "lines", "total", "proof"].iter().any(|member| file.get(member).is_some());
    let carried = if is_receipt { file.pointer("/proof/bundle").filter(|bundle| !bundle.is_null()) } else { Some(&file) };
    let carried = carried.ok_or_else(|| said(&p::RECEIPT_WITHOUT_PROOF, &[what]))?.to_string();
    let bundle: Bundle = serde_json::from_str(&carried).map_err(|error| said(&p::NO_BUNDLE, &[what, &error.to_string()]))?;
    let checked = verify::bundle(carried.as_bytes(), key).map(Verdict::of);
    Ok(checked.map(|mut verdict| {
        if is_receipt {
            let (account, findings) = receipt::judge(&file, &bundle, key.is_some());
            verdict.bills = account.is_some().then_some(1);
            verdict.findings.extend(findings);
            verdict.account = account;
        }
        verdict
    }))
}

fn site(url: &str, key: &Verifier, target: &Target) -> Result<Result<verify::Report, Broken>, Failure> {
    let http = target.http()?;
    let base = url.trim_end_matches('/');
    let fetch = |path: &str| -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        Ok(http.get(format!("{base}/{path}")).send()?.error_for_status()?.bytes()?.to_vec())
    };
    Ok(verify::site(&fetch, key))
}

fn needed(key: Option<&Verifier>) -> Result<&Verifier, Failure> {
    key.ok_or_else(|| Failure::Misused(Told::new(&p::LOG_NEEDS_KEY, &[])))
}

/// A key in the `public` form of a note, or a file that holds one.
pub fn public_key(text: &str) -> Result<Verifier, Failure> {
    let read = if text.contains('+') && !Path::new(text).exists() { Ok(text.to_owned()) } else { fs::read_to_string(text) };
    let read = read.map_err(|error| said(&p::CANNOT_READ, &[text, &error.to_string()]))?;
    read.trim().parse().map_err(|error: Broken| said(&p::NO_PUBLIC_KEY, &[text, &error.to_string()]))
}

fn show(verdict: &Verdict, app: &App) -> Result<(), Failure> {
    let hex = |root: journal::Hash| root.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let Verdict { log, bills, account, findings } = verdict;
    let mut answer = json!({
        "log": log.origin, "entries": log.size, "parts": log.parts, "checkpoints": log.checkpoints, "bills": bills,
        "merkle_root": log.root.map(hex), "sound": verdict.sound(),
        "findings": findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    if let (Some(Value::Object(more)), Some(all)) = (account.as_ref().map(Account::told), answer.as_object_mut()) {
        all.extend(more);
    }
    app.screen.object(&answer, COLUMNS)?;
    if app.screen.format == Format::Table {
        app.screen.write(&in_words(verdict, app.screen.language))?;
    }
    Ok(())
}

/// The verdict, and beneath it what is wrong or, of a receipt, what is not covered.
fn in_words(verdict: &Verdict, language: Language) -> String {
    let lines: Vec<String> = match (&verdict.account, verdict.sound()) {
        (Some(account), true) => account.sentences().iter().map(|told| told.said(language)).collect(),
        (None, true) => vec![language.say(&p::SOUND).to_owned()],
        (_, false) => {
            let count = language.fill(&p::NOT_SOUND, &[&verdict.findings.len().to_string()]);
            let findings = verdict.findings.iter().map(|finding| format!("  · {}", finding.said(language)));
            std::iter::once(count).chain(findings).collect()
        }
    };
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(what: &Path) -> Failure {
        checked(&what.display().to_string(), None, &Target::default()).err().expect("there is nothing to judge")
    }

    #[test]
    fn what_is_no_bundle_is_a_failure_and_not_a_verdict() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (text, chinese) in [("{}", "没有本程序认识的"), ("{\"par", "无法读取"), ("{\"lines\": []}", "不带证明")]
        {
            fs::write(file.path(), text).unwrap();
            let said = failed(file.path()).explained(Language::Chinese);
            assert!(said.contains(chinese) && !said.contains("this is no bundle"), "{said}");
        }
    }

    #[test]
    fn a_published_log_is_never_believed_without_a_key() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("checkpoint"), "").unwrap();
        assert!(matches!(failed(folder.path()), Failure::Misused(_)));
    }

    #[test]
    fn a_folder_without_a_journal_or_with_an_empty_one_is_told_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let said = || failed(folder.path()).explained(Language::English);
        assert!(said().contains("neither a data folder"), "{}", said());
        drop(journal::Sqlite::open(folder.path(), &journal::Options::default()).unwrap());
        assert!(said().contains("holds no entry"), "{}", said());
        fs::remove_file(folder.path().join(JOURNAL)).unwrap();
        assert!(said().contains("has keys and no journal"), "{}", said());
        // What a server that refuses to begin a second history leaves behind.
        assert!(journal::Sqlite::open(folder.path(), &journal::Options::default()).is_err());
        assert!(said().contains("holds no entry") && said().contains("restore"), "{}", said());
        fs::write(folder.path().join(JOURNAL), "").unwrap();
        assert!(said().contains("holds no entry"), "{}", said());
    }
}
