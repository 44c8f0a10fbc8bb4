//! A lease's way from state to state, with the seconds of each step.

use crate::{
    app::App,
    ask,
    client::Call,
    failure::Failure,
    language::{phrases as p, word},
    output::text_of,
};
use anyhow::anyhow;
use serde_json::Value;
use std::time::{Duration, Instant};

/// It runs, or will not run any more.
pub const READY: &[&str] = &["running"];
/// Nothing of it runs any more.
pub const AT_REST: &[&str] = &["stopped", "ended"];

/// Each look waits so long for the state at the server: short enough that progress is seen to move.
const LOOK_SECONDS: u64 = 1;

/// Waits for one of these states where `--wait` asks for it.
pub fn asked_for(lease: Value, goal: &[&str], app: &App) -> Result<Value, Failure> {
    match app.wait_ms {
        Some(ms) => until(lease, goal, Duration::from_millis(ms.unsigned_abs()), app),
        None => Ok(lease),
    }
}

/// Follows a lease into one of these states, and says each step with its seconds.
pub fn until(lease: Value, goal: &[&str], patience: Duration, app: &App) -> Result<Value, Failure> {
    let id = text_of(&lease["id"]);
    let path = format!("/v1/leases/{id}");
    let began = Instant::now();
    let mut steps = Steps::new(began);
    let mut lease = lease;
    loop {
        steps.look(&lease, app);
        let state = lease["state"].as_str().unwrap_or_default();
        if goal.contains(&state) {
            return Ok(lease);
        }
        if AT_REST.contains(&state) {
            let why = word(app.screen.language, why(&lease));
            let state = word(app.screen.language, state);
            return Err(Failure::Other(anyhow!(app.screen.language.fill(&p::CAME_TO_REST, &[&id, &state, &why]))));
        }
        if began.elapsed() >= patience {
            let state = word(app.screen.language, state);
            return Err(Failure::TimedOut(app.screen.language.fill(&p::STILL, &[&id, &state])));
        }
        let wait = format!("{LOOK_SECONDS}s");
        lease = app.send(Call::get(&path).query("wait", wait).query("state", goal.join(",")))?.body;
    }
}

/// Why it came to rest: in full where more is known than the reason.
fn why(lease: &Value) -> &str {
    let mut said = ["detail", "reason"].iter().filter_map(|field| lease[field].as_str());
    said.find(|text| !text.is_empty()).unwrap_or("–")
}

/// The steps so far.
struct Steps {
    began: Instant,
    since: Instant,
    shown: Option<(String, String)>,
}

impl Steps {
    fn new(began: Instant) -> Steps {
        Steps { began, since: began, shown: None }
    }

    /// Says the step if it is another one than before.
    fn look(&mut self, lease: &Value, app: &App) {
        let step = (text_of(&lease["state"]), text_of(&lease["progress"]));
        if self.shown.as_ref() == Some(&step) {
            return;
        }
        let (at, took) = (millis(self.began), millis(self.since));
        self.since = Instant::now();
        let state = word(app.screen.language, &step.0);
        let progress = if step.1.is_empty() { String::new() } else { format!(" · {}", step.1) };
        let took = if self.shown.is_some() { format!("  (+{})", ask::spoken(took)) } else { String::new() };
        app.screen.note(&format!("  {:>6}  {state}{progress}{took}", ask::spoken(at)));
        self.shown = Some(step);
    }
}

fn millis(since: Instant) -> i64 {
    i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_reason_of_a_rest_is_never_empty() {
        assert_eq!(why(&json!({ "detail": "exit code 7", "reason": "completed" })), "exit code 7");
        assert_eq!(why(&json!({ "detail": "", "reason": "balance_exhausted" })), "balance_exhausted");
        assert_eq!(why(&json!({ "detail": "", "reason": null })), "–");
    }
}
