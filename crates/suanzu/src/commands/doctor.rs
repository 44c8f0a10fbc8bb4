//! `suanzu doctor`: looks at everything a rental needs from here, and says what to do about what is missing.

use crate::{
    agent,
    app::{App, Done},
    client::{Answer, Call},
    failure::Failure,
    language::{Language, Phrase, phrases as p},
    output::{Column, Show, text_of},
    serve::{Config, leases_run_as_root},
};
use protocol::Capability;
use serde_json::{Value, json};
use std::{path::Path, process::ExitCode};

const COLUMNS: &[Column] = &[
    Column::new(&p::CHECK, "/check", Show::Text),
    Column::new(&p::STATE, "/state", Show::Text),
    Column::new(&p::FOUND, "/found", Show::Text),
    Column::new(&p::DO, "/do", Show::Text),
];

/// Below this much free space the journal's disk is nearly full: 1 GiB is days of a busy log.
const LITTLE_MIB: u64 = 1024;
/// Clocks that are further apart make a node unfit by the default policy.
const CLOCK_SECONDS: i64 = 5;

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    Note,
    Wrong,
}

/// One check.
struct Finding {
    check: &'static Phrase,
    verdict: Verdict,
    found: String,
    advice: Option<&'static Phrase>,
}

impl Finding {
    fn ok(check: &'static Phrase, found: String) -> Finding {
        Finding { check, verdict: Verdict::Ok, found, advice: None }
    }

    fn note(check: &'static Phrase, found: String, advice: &'static Phrase) -> Finding {
        Finding { check, verdict: Verdict::Note, found, advice: Some(advice) }
    }

    fn wrong(check: &'static Phrase, found: String, advice: &'static Phrase) -> Finding {
        Finding { check, verdict: Verdict::Wrong, found, advice: Some(advice) }
    }
}

/// Carries it out. Ends with 1 where anything is wrong.
pub fn run(app: &App) -> Done {
    let mut findings = of_server(app);
    findings.push(store(app));
    findings.extend(here(app)?);
    let rows: Vec<Value> = findings.iter().map(|finding| row(finding, app)).collect();
    app.screen.list(&json!({ "items": rows }), COLUMNS)?;
    let wrong = findings.iter().any(|finding| finding.verdict == Verdict::Wrong);
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn row(finding: &Finding, app: &App) -> Value {
    let language = app.screen.language;
    let state = match finding.verdict {
        Verdict::Ok => &p::IS_OK,
        Verdict::Note => &p::IS_NOTE,
        Verdict::Wrong => &p::IS_WRONG,
    };
    json!({
        "check": language.say(finding.check), "state": language.say(state), "found": finding.found,
        "do": finding.advice.map(|advice| language.say(advice)),
    })
}

/// Server, key, clock, pools: each only where the one before it stands.
fn of_server(app: &App) -> Vec<Finding> {
    let (language, url) = (app.screen.language, app.client.target().url.clone());
    match app.send(Call::get("/readyz")) {
        Err(Failure::Refused(_)) => {
            return vec![Finding::wrong(&p::CHECK_SERVER, language.fill(&p::SERVER_NOT_READY, &[&url]), &p::SERVER_FIX)];
        }
        Err(failure) => return vec![Finding::wrong(&p::CHECK_SERVER, failure.to_string(), &p::SERVER_FIX)],
        Ok(_) => {}
    }
    let mut findings = vec![Finding::ok(&p::CHECK_SERVER, language.fill(&p::SERVER_ANSWERS, &[&url]))];
    match app.send(Call::get("/v1/whoami")) {
        Err(failure) => findings.push(Finding::wrong(&p::CHECK_KEY, failure.to_string(), &p::DO_KEY)),
        Ok(answer) => {
            let who = |field: &str| text_of(&answer.body[field]);
            findings.push(Finding::ok(&p::CHECK_KEY, language.fill(&p::KEY_IS, &[&who("key"), &who("role")])));
            findings.extend(clock(&answer, app));
            findings.push(pools(app));
        }
    }
    findings
}

fn clock(answer: &Answer, app: &App) -> Option<Finding> {
    let apart = answer.clock_apart_seconds?;
    let said = app.screen.language.fill(&p::CLOCK_APART, &[&apart.to_string()]);
    Some(if apart.abs() > CLOCK_SECONDS {
        Finding::wrong(&p::CHECK_CLOCK, said, &p::CLOCK_FIX)
    } else {
        Finding::ok(&p::CHECK_CLOCK, said)
    })
}

fn pools(app: &App) -> Finding {
    let offers = app.send(Call::get("/v1/offers")).map(|answer| answer.body["items"].as_array().map_or(0, Vec::len));
    match offers {
        Err(failure) => Finding::wrong(&p::CHECK_POOLS, failure.to_string(), &p::POOLS_FIX),
        Ok(0) => Finding::note(&p::CHECK_POOLS, app.screen.language.say(&p::POOLS_EMPTY).into(), &p::POOLS_FIX),
        Ok(n) => Finding::ok(&p::CHECK_POOLS, app.screen.language.fill(&p::POOLS_OFFER, &[&n.to_string()])),
    }
}

fn store(app: &App) -> Finding {
    let language = app.screen.language;
    let Some(folder) = &app.data else {
        return Finding { advice: None, ..Finding::note(&p::CHECK_STORE, language.say(&p::STORE_NONE).into(), &p::STORE_FIX) };
    };
    match journal::verify::folder(folder) {
        Err(failure) => Finding::wrong(&p::CHECK_STORE, failure.to_string(), &p::STORE_FIX),
        Ok(report) if !report.sound() => {
            let (count, folder) = (report.findings.len().to_string(), folder.display().to_string());
            Finding::wrong(&p::CHECK_STORE, language.fill(&p::STORE_WRONG, &[&count, &folder]), &p::STORE_FIX)
        }
        Ok(report) => match free_mib(folder).filter(|mib| *mib < LITTLE_MIB) {
            Some(mib) => {
                let said = language.fill(&p::STORE_FULL, &[&mib.to_string()]);
                Finding::wrong(&p::CHECK_STORE, said, &p::STORE_FULL_FIX)
            }
            None => Finding::ok(&p::CHECK_STORE, language.fill(&p::STORE_SOUND, &[&report.size.to_string()])),
        },
    }
}

fn free_mib(folder: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize) / 1_048_576)
}

/// What this machine can do for a lease.
fn here(app: &App) -> Result<Vec<Finding>, Failure> {
    let found = agent::capabilities(app.data.as_deref().unwrap_or(Path::new(".")))?;
    let config = app.data.as_deref().map_or_else(|| Ok(Config::default()), |data| Config::load(None, data));
    let config = config.and_then(|config| config.check().map(|()| config));
    let configured = match config {
        Ok(config) => user(&config, rustix::process::geteuid().is_root(), app.screen.language),
        Err(error) => Some(Finding::wrong(&p::CHECK_CONFIG, format!("{error:#}").trim_end().replace('\n', " "), &p::CONFIG_FIX)),
    };
    Ok(found.into_iter().map(capability).chain(configured).collect())
}

/// Who process leases are: said where it is root.
fn user(config: &Config, is_root: bool, language: Language) -> Option<Finding> {
    let said = || Finding::note(&p::CHECK_PROCESSES, language.say(&p::PROCESSES_AS_ROOT).into(), &p::PROCESSES_AS_ROOT_FIX);
    leases_run_as_root(config, is_root).then(said)
}

fn capability(found: Capability) -> Finding {
    let (check, advice) = match found.name.as_str() {
        "gpu" => (&p::CHECK_GPU, &p::GPU_FIX),
        "processes" => (&p::CHECK_PROCESSES, &p::CONTAINERS_FIX),
        name if name.starts_with("containers") => (&p::CHECK_CONTAINERS, &p::CONTAINERS_FIX),
        _ => (&p::CHECK_CGROUPS, &p::LIMITS_FIX),
    };
    let said = format!("{}: {}", found.name, found.reason);
    if found.available { Finding::ok(check, said) } else { Finding::note(check, said, advice) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_process_leases_run_as_root_is_noted_in_both_languages_with_what_to_do() {
        for language in [Language::English, Language::Chinese] {
            let finding = user(&Config::default(), true, language).expect("it is root");
            assert_eq!(finding.verdict, Verdict::Note);
            assert_eq!(finding.found, language.say(&p::PROCESSES_AS_ROOT));
            let advice = finding.advice.expect("there is something to do");
            assert!(language.say(advice).contains("run_as"));
        }
        assert!(user(&Config::default(), false, Language::English).is_none());
    }
}
