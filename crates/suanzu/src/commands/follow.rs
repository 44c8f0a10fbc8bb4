//! A lease's way from state to state, by the instants that the lease itself tells.

use crate::{
    app::App,
    ask,
    client::Call,
    failure::Failure,
    language::{Language, phrases as p, word},
    output::{Live, money_to, text_of},
};
use anyhow::anyhow;
use serde_json::Value;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use units::Time;

/// It runs, or will not run any more.
pub const READY: &[&str] = &["running"];
/// Nothing of it runs any more.
pub const AT_REST: &[&str] = &["stopped", "ended"];

const STATES: &[&str] = &["queued", "starting", "running", "stopping", "stopped", "ended"];
/// Each look waits so long for another state at the server: short enough that progress and cost are seen to move.
const LOOK: &str = "1s";
/// Costs that move are shown with all their decimals, so that they do not jump about.
pub const PLACES: usize = 6;

/// Waits for one of these states where `--wait` asks for it.
pub fn asked_for(lease: Value, goal: &[&str], app: &App) -> Result<Value, Failure> {
    match app.wait_ms {
        Some(ms) => until(lease, goal, Duration::from_millis(ms.unsigned_abs()), app),
        None => Ok(lease),
    }
}

/// Follows a lease into one of these states, and says each step with its seconds.
pub fn until(lease: Value, goal: &[&str], patience: Duration, app: &App) -> Result<Value, Failure> {
    Follow::new(&lease, Arc::new(Live::new())).until(lease, goal, patience, app)
}

/// Follows one lease, and says each step once.
pub struct Follow {
    live: Arc<Live>,
    steps: Steps,
}

impl Follow {
    /// From this look at the lease on; its steps are said on this terminal.
    pub fn new(lease: &Value, live: Arc<Live>) -> Follow {
        Follow { live, steps: Steps::new(lease) }
    }

    /// Follows it into one of these states. Coming to rest elsewhere is a failure.
    pub fn until(&mut self, lease: Value, goal: &[&str], patience: Duration, app: &App) -> Result<Value, Failure> {
        let (began, language) = (Instant::now(), app.screen.language);
        let path = format!("/v1/leases/{}", text_of(&lease["id"]));
        let mut lease = lease;
        loop {
            self.say(&lease, language);
            let state = lease["state"].as_str().unwrap_or_default();
            if goal.contains(&state) {
                self.live.clear();
                return Ok(lease);
            }
            if AT_REST.contains(&state) {
                return Err(came_to_rest(&lease, language));
            }
            if began.elapsed() >= patience {
                self.live.clear();
                let said = [text_of(&lease["id"]), word(language, state)];
                return Err(Failure::TimedOut(language.fill(&p::STILL, &[&said[0], &said[1]])));
            }
            let others: Vec<&str> = STATES.iter().copied().filter(|other| *other != state).collect();
            lease = app.send(Call::get(&path).query("wait", LOOK).query("state", others.join(",")))?.body;
        }
    }

    fn say(&mut self, lease: &Value, language: Language) {
        self.steps.look(lease, language).iter().for_each(|step| self.live.note(step));
        if lease["state"] == "running" {
            let cost = money_to(&lease["cost_so_far"], PLACES);
            self.live.set(&format!("{}  {cost}", self.steps.line(time(&lease["as_of"]), &word(language, "running"))));
        }
    }
}

/// That it came to rest, and why.
pub fn came_to_rest(lease: &Value, language: Language) -> Failure {
    let [id, state] = ["id", "state"].map(|field| word(language, &text_of(&lease[field])));
    Failure::Other(anyhow!(language.fill(&p::CAME_TO_REST, &[&id, &state, &why(lease, language)])))
}

/// Why it came to rest: the reason, and what more is known.
fn why(lease: &Value, language: Language) -> String {
    let said = [word(language, &text_of(&lease["reason"])), text_of(&lease["detail"])];
    let said: Vec<&str> = said.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    if said.is_empty() { "–".into() } else { said.join(": ") }
}

/// The steps so far.
struct Steps {
    origin: Option<Time>,
    last: Option<Time>,
    ran: Option<Time>,
    shown: Option<(String, String)>,
}

impl Steps {
    fn new(lease: &Value) -> Steps {
        Steps { origin: time(&lease["since"]), last: None, ran: None, shown: None }
    }

    /// What is new since the look before. A run that began and ended between two looks is told as well.
    fn look(&mut self, lease: &Value, language: Language) -> Vec<String> {
        let (state, since) = (text_of(&lease["state"]), time(&lease["since"]));
        let ready = time(&lease["ready"]).filter(|ready| Some(*ready) >= self.origin && self.ran != Some(*ready));
        let mut said = Vec::new();
        if let Some(ready) = ready {
            self.ran = Some(ready);
            said.extend(self.step("running", "", Some(ready), language));
        }
        let progress = text_of(&lease["progress"]);
        let goes_on = self.shown.as_ref().is_some_and(|(shown, _)| *shown == state);
        let at = if goes_on { time(&lease["as_of"]) } else { since };
        said.extend(self.step(&state, &progress, at, language));
        said
    }

    fn step(&mut self, state: &str, progress: &str, at: Option<Time>, language: Language) -> Option<String> {
        let step = (state.to_owned(), progress.to_owned());
        if self.shown.as_ref() == Some(&step) {
            return None;
        }
        let progress = if progress.is_empty() { String::new() } else { format!(" · {progress}") };
        let took = self.last.zip(at).map(|(last, at)| format!("  (+{})", ask::spoken(at.since(last).max(0))));
        self.shown = Some(step);
        self.last = at;
        Some(format!("{}{progress}{}", self.line(at, &word(language, state)), took.unwrap_or_default()))
    }

    fn line(&self, at: Option<Time>, state: &str) -> String {
        let at = at.zip(self.origin).map_or_else(|| "–".into(), |(at, origin)| ask::spoken(at.since(origin).max(0)));
        format!("  {at:>6}  {state}")
    }
}

fn time(value: &Value) -> Option<Time> {
    value.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_reason_of_a_rest_is_never_empty_and_ends_without_a_space() {
        for (reason, detail, said) in [
            (json!("completed"), "exit code 7", "completed: exit code 7"),
            (json!("balance_exhausted"), "", "balance exhausted"),
            (Value::Null, "", "–"),
        ] {
            assert_eq!(why(&json!({ "detail": detail, "reason": reason }), Language::English), said);
        }
    }

    fn at(second: u32) -> String {
        format!("2026-05-01T01:00:{second:02}.000Z")
    }

    #[test]
    fn steps_and_their_times_are_the_leases_own_whenever_they_are_looked_at() {
        let ordered = json!({ "state": "starting", "since": at(0), "requested": at(0), "ready": null });
        let running = json!({ "state": "running", "since": at(3), "ready": at(3), "as_of": at(5) });
        let ended = json!({ "state": "ended", "since": at(12), "ready": at(3), "ended": at(12) });
        let lines = |looks: &[&Value]| {
            let mut steps = Steps::new(&ordered);
            looks.iter().flat_map(|look| steps.look(look, Language::English)).collect::<Vec<_>>()
        };
        let told = ["    0.0s  starting", "    3.0s  running  (+3.0s)", "     12s  ended  (+9.0s)"];
        assert_eq!(lines(&[&ordered, &running, &running, &ended]), told);
        assert_eq!(lines(&[&ordered, &ended]), told, "also where nobody looked while it ran");
    }

    #[test]
    fn what_ran_before_is_no_step_of_a_stop() {
        let stopping = json!({ "state": "stopping", "since": at(30), "ready": at(3) });
        let mut steps = Steps::new(&stopping);
        assert_eq!(steps.look(&stopping, Language::English), ["    0.0s  stopping"]);
    }
}
