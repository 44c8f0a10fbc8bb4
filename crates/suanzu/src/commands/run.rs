//! `suanzu run`: order, wait, show what it writes, stop, receipt, and the child's own exit code.

use super::{
    follow::{self, Follow},
    lease,
    order::Order,
    quote, receipt,
};
use crate::{
    app::{App, Done},
    client::{Call, Client, Mode},
    failure::{Failure, exit},
    interrupt::Interrupt,
    language::phrases as p,
    output::{Format, Live, Screen, money, text_of},
};
use serde_json::{Value, json};
use std::{
    io::Read,
    process::ExitCode,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

/// A start that takes longer than this is looked at by a person.
const START: Duration = Duration::from_secs(3600);
/// It has its place: from here on its output can be read.
const PLACED: &[&str] = &["starting", "running"];
/// What is stopped is gone within its grace; a node that does not answer is not waited for any longer.
const END: Duration = Duration::from_secs(120);

/// Carries it out.
pub fn run(order: &Order, app: &App) -> Done {
    let call = quote::agreed(order, app)?;
    if app.client.only_shows() {
        return app.send(call).map(|_| ExitCode::SUCCESS);
    }
    // From before the order on: no signal may leave something behind that costs money unseen.
    let interrupt = Interrupt::listen()?;
    let lease = app.send(call)?.body;
    let id = text_of(&lease["id"]);
    app.screen.say(&p::RUN_ORDERED, &[&id]);
    end_on(interrupt.clone(), id.clone(), another(app));
    let live = Arc::new(Live::new());
    let mut follow = Follow::new(&lease, Arc::clone(&live));
    let ran = follow.until(lease, PLACED, START, app).and_then(|lease| watch(lease, follow, &live, app));
    if ran.is_err() {
        // Whatever went wrong here, nothing may run on and cost money unseen.
        let _ = app.send(destroy(&id));
    }
    let lease = ran.as_ref().map_or_else(|_| lease::read(&id, app), |lease| Ok(lease.clone()))?;
    let trouble = ran.err().unwrap_or_else(|| follow::came_to_rest(&lease, app.screen.language));
    show_receipt(&lease, app)?;
    let asked_for = lease["reason"] == "end_reached";
    match exit_code(&lease) {
        Some(code) => Ok(ExitCode::from(code)),
        None if interrupt.is_raised() => Ok(ExitCode::from(exit::INTERRUPTED)),
        None if asked_for => {
            app.screen.say(&p::RUN_END_REACHED, &[&id]);
            Ok(ExitCode::from(exit::END_REACHED))
        }
        None => Err(trouble),
    }
}

/// What is waited for: the last of the output, and the lease at rest.
enum Over {
    Output(Result<(), Failure>),
    Lease(Result<Value, Failure>),
}

/// Shows the output until there is no more, and meanwhile each step. Gives the lease at rest.
fn watch(lease: Value, mut follow: Follow, live: &Arc<Live>, app: &App) -> Result<Value, Failure> {
    let id = text_of(&lease["id"]);
    let (say, over) = mpsc::channel();
    let (say_too, live, of, beside, reading) = (say.clone(), Arc::clone(live), id.clone(), another(app), another(app));
    // Whoever waits for them may have given up: then nobody is told.
    thread::spawn(move || {
        let _ = say.send(Over::Lease(follow.until(lease, follow::AT_REST, Duration::MAX, &beside)));
    });
    thread::spawn(move || {
        let _ = say_too.send(Over::Output(attach(&of, &live, &reading)));
    });
    let (mut shown, mut rest) = (None, None);
    loop {
        // The output may be read slowly; a node that does not answer is not waited for.
        let wait = if shown.is_some() { END } else { Duration::MAX };
        match over.recv_timeout(wait) {
            Ok(Over::Output(output)) => {
                if output.is_err() {
                    let _ = app.send(destroy(&id));
                }
                shown = Some(output);
            }
            Ok(Over::Lease(lease)) => rest = Some(lease?),
            Err(_) => return Err(Failure::TimedOut(app.screen.language.fill(&p::RUN_NOT_GONE, &[&id]))),
        }
        match (shown.take(), rest.take()) {
            // What did not start wrote nothing.
            (None, Some(lease)) if lease["reason"] == "start_failed" => return Ok(lease),
            // A workload can be over before its output was asked for: then its own end counts.
            (Some(output), Some(lease)) => return output.or_else(|why| exit_code(&lease).map(|_| ()).ok_or(why)).map(|()| lease),
            so_far => (shown, rest) = so_far,
        }
    }
}

/// Shows the output until there is no more.
fn attach(id: &str, live: &Live, app: &App) -> Result<(), Failure> {
    let mut output = app.client.stream(Call::get(format!("/v1/leases/{id}/logs")).query("follow", "true"))?;
    let mut buffer = [0; 16 * 1024];
    loop {
        match output.read(&mut buffer)? {
            0 => return Ok(()),
            read => live.output(&buffer[..read])?,
        }
    }
}

/// On standard error: standard output is the child's.
fn show_receipt(lease: &Value, app: &App) -> Result<(), Failure> {
    let id = text_of(&lease["id"]);
    let call = Call::get(format!("/v1/leases/{id}/receipt")).maybe("at_least", lease["seq"].as_u64().map(|seq| seq.to_string()));
    let receipt = app.send(call)?.body;
    let people = Screen { format: Format::Table, ids_only: false, ..app.screen.clone() };
    app.screen.note(&receipt::for_people(&receipt, &people));
    app.screen.say(&p::RUN_COST, &[&id, &money(&receipt["total"])]);
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

/// The same for another thread: a client stays on its own.
fn another(app: &App) -> App {
    let client = Client::new(app.client.target().clone(), Mode::Send, app.screen.language);
    app.before(app.screen.clone(), client)
}

/// An interrupt ends the lease, not this process: what it cost is still told.
fn end_on(interrupt: Interrupt, id: String, app: App) {
    thread::spawn(move || {
        interrupt.wait();
        app.screen.say(&p::RUN_STOPPING, &[&id]);
        if let Err(failure) = app.send(destroy(&id)) {
            app.screen.note(&failure.explained(app.screen.language));
        }
    });
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
