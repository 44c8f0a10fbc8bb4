//! `suanzu run`: order, wait, show what it writes, stop, receipt, and the child's own exit code.

use super::{follow, lease, order::Order, quote, receipt};
use crate::{
    app::{App, Done},
    client::{Call, Client, Mode, Target},
    failure::Failure,
    language::{Language, phrases as p},
    output::{Format, Screen, money, text_of},
};
use anyhow::anyhow;
use serde_json::{Value, json};
use std::{
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};
use tokio::signal::unix::{SignalKind, signal};

/// A start that takes longer than this is looked at by a person.
const START: Duration = Duration::from_secs(3600);
/// What shells report of a child that Ctrl-C ended: 128 + SIGINT.
const INTERRUPTED: u8 = 130;
/// It has its place: from here on its output can be read.
const PLACED: &[&str] = &["starting", "running"];
/// What is stopped is gone within its grace; a node that does not answer is not waited for any longer.
const END: Duration = Duration::from_secs(120);

/// Carries it out.
pub fn run(order: &Order, app: &App) -> Done {
    let Some(call) = quote::agreed(order, app)? else { return Ok(ExitCode::SUCCESS) };
    let lease = app.send(call)?.body;
    let id = text_of(&lease["id"]);
    app.screen.say(&p::RUN_ORDERED, &[&id]);
    let interrupted = stop_on_interrupt(id.clone(), app.client.target().clone(), app.screen.language)?;
    let ran = follow::until(lease, PLACED, START, app).and_then(|_| attach(&id, app));
    if let Err(failure) = ran {
        // Whatever went wrong here, nothing may run on and cost money unseen.
        let _ = app.send(destroy(&id));
        // A workload can be over before its output was asked for: then its own end counts.
        let lease = lease::read(&id, app)?;
        return exit_code(&lease).map_or(Err(failure), |code| finished(&id, code, app));
    }
    let lease = follow::until(lease::read(&id, app)?, follow::AT_REST, END, app)?;
    match exit_code(&lease) {
        Some(code) => finished(&id, code, app),
        None if interrupted.load(Relaxed) => finished(&id, INTERRUPTED, app),
        None => {
            show_receipt(&id, app)?;
            Err(Failure::Other(anyhow!("{id}: {} {}", text_of(&lease["reason"]), text_of(&lease["detail"]))))
        }
    }
}

fn finished(id: &str, code: u8, app: &App) -> Done {
    show_receipt(id, app)?;
    Ok(ExitCode::from(code))
}

/// Shows the output until there is no more.
fn attach(id: &str, app: &App) -> Result<(), Failure> {
    let mut output = app.client.stream(Call::get(format!("/v1/leases/{id}/logs")).query("follow", "true"))?;
    std::io::copy(&mut output, &mut std::io::stdout())?;
    Ok(())
}

/// On standard error: standard output is the child's.
fn show_receipt(id: &str, app: &App) -> Result<(), Failure> {
    let receipt = app.send(Call::get(format!("/v1/leases/{id}/receipt")))?.body;
    let people = Screen { format: Format::Table, ids_only: false, ..app.screen.clone() };
    app.screen.note(&receipt::for_people(&receipt, &people));
    app.screen.say(&p::RUN_COST, &[id, &money(&receipt["total"])]);
    Ok(())
}

/// What the child ended with, as its lease tells.
pub fn exit_code(lease: &Value) -> Option<u8> {
    let told = lease["exit_code"].as_i64();
    let code = told.or_else(|| lease["detail"].as_str()?.strip_prefix("exit code ")?.parse().ok())?;
    u8::try_from(code & 0xff).ok()
}

fn destroy(id: &str) -> Call {
    Call::post(format!("/v1/leases/{id}/destroy")).body(json!({}))
}

/// Ctrl-C and TERM end the lease, not this process: what it cost is still told.
fn stop_on_interrupt(id: String, target: Target, language: Language) -> Result<Arc<AtomicBool>, Failure> {
    let told = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&told);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _guard = runtime.enter();
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    drop(_guard);
    thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        });
        told.store(true, Relaxed);
        eprintln!("{}", language.fill(&p::RUN_STOPPING, &[&id]));
        let client = Client::new(target, Mode::Send, language);
        if let Err(failure) = client.send(destroy(&id)) {
            eprintln!("{}", failure.explained(language));
        }
    });
    Ok(interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_childs_code_is_read_from_its_lease() {
        assert_eq!(exit_code(&json!({"detail": "exit code 3"})), Some(3));
        assert_eq!(exit_code(&json!({"exit_code": 137})), Some(137));
        assert_eq!(exit_code(&json!({"detail": "the image is missing"})), None);
    }
}
