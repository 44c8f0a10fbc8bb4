//! `suanzu run`: order, wait, show what it writes, stop, receipt, and the child's own exit code.

use super::{
    follow::{self, Follow},
    lease,
    order::Order,
    quote, receipt,
};
use crate::{
    app::{App, Done},
    client::{Call, Client},
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
/// How often in a row output is asked for in vain, and how long between: a workload may be silent, a node out of reach.
const MOST_IN_VAIN: u32 = 30;
const AGAIN: Duration = Duration::from_secs(1);
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
    // From here on a server that is away is waited for: the lease runs on without it.
    let app = &another(app);
    end_on(interrupt.clone(), id.clone(), another(app));
    let live = Arc::new(Live::new());
    let mut follow = Follow::new(&lease, Arc::clone(&live));
    let ran = follow.until(lease, PLACED, START, app).and_then(|lease| watch(lease, follow, &live, app));
    if ran.is_err() {
        // Whatever went wrong here, nothing may run on and cost money unseen.
        end(&id, app);
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
                    // Whoever reads us has left.
                    end(&id, app);
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

/// Shows the output until there is no more. Where the connection breaks it goes on from where it was; fails only where nobody
/// reads us any more.
fn attach(id: &str, live: &Live, app: &App) -> Result<(), Failure> {
    let (mut shown, mut in_vain) = (0, 0);
    loop {
        let before = shown;
        let ended = read_on(id, &mut shown, live, app)?;
        in_vain = if shown > before { 0 } else { in_vain + 1 };
        // A node that has shown the last of it reports the end a moment later.
        let look = Call::get(format!("/v1/leases/{id}")).query("wait", "2s").query("state", follow::AT_REST.join(","));
        let is_up = app.send(look).is_ok_and(|lease| PLACED.iter().any(|state| lease.body["state"] == *state));
        match ended {
            _ if is_up && in_vain < MOST_IN_VAIN => thread::sleep(AGAIN),
            Ok(()) => return Ok(()),
            Err(why) => {
                app.screen.say(&p::RUN_OUTPUT_UNREAD, &[&why.explained(app.screen.language)]);
                return Ok(());
            }
        }
    }
}

/// Shows what comes after the first `shown` bytes, and says how the reading ended.
fn read_on(id: &str, shown: &mut usize, live: &Live, app: &App) -> std::io::Result<Result<(), Failure>> {
    let mut output = match app.client.stream(Call::get(format!("/v1/leases/{id}/logs")).query("follow", "true")) {
        Ok(output) => output,
        Err(why) => return Ok(Err(why)),
    };
    let (mut buffer, mut at) = ([0; 16 * 1024], 0);
    loop {
        match output.read(&mut buffer) {
            Ok(0) => return Ok(Ok(())),
            Ok(read) => {
                let known = shown.saturating_sub(at).min(read);
                at += read;
                live.output(&buffer[known..read])?;
                *shown = at.max(*shown);
            }
            Err(error) => return Ok(Err(error.into())),
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

/// Ends the lease; where that cannot be told to the server, says that it may run on.
fn end(id: &str, app: &App) {
    if let Err(failure) = app.send(Call::post(format!("/v1/leases/{id}/destroy")).body(json!({}))) {
        app.screen.note(&failure.explained(app.screen.language));
        app.screen.say(&p::RUN_MAY_RUN_ON, &[id]);
    }
}

/// The same with more patience, and for another thread: a client stays on its own.
fn another(app: &App) -> App {
    app.before(app.screen.clone(), Client::patient(app.client.target().clone(), app.screen.language))
}

/// An interrupt ends the lease, not this process: what it cost is still told.
fn end_on(interrupt: Interrupt, id: String, app: App) {
    thread::spawn(move || {
        interrupt.wait();
        app.screen.say(&p::RUN_STOPPING, &[&id]);
        end(&id, &app);
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
