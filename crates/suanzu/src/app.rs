//! What every command is given: the screen, a way to the server, and the options that all take.

use crate::{
    ask,
    cli::Global,
    client::{Answer, Call, Client, Target},
    failure::Failure,
    language::{Language, Phrase},
    output::{Column, Format, Screen},
};
use serde_json::Value;
use std::{path::PathBuf, process::ExitCode, thread, time::Duration};

/// How a command ends.
pub type Done = Result<ExitCode, Failure>;

/// How often `--watch` looks again: a person sees the cost move by the second.
const WATCH: Duration = Duration::from_secs(1);

/// What a command works with.
pub struct App {
    /// Where answers go.
    pub screen: Screen,
    /// A way to the server.
    pub client: Client,
    /// How long to wait for what was asked, if at all, in milliseconds.
    pub wait_ms: Option<i64>,
    /// The data folder, where one is named.
    pub data: Option<PathBuf>,
    watch: bool,
}

impl App {
    /// From the options.
    pub fn new(global: &Global, language: Language) -> Result<App, Failure> {
        let format = global.output.or(global.json.then_some(Format::Json)).unwrap_or_else(Screen::format_for_reader);
        let screen = Screen { format, ids_only: global.quiet, language, yes: global.yes };
        let client = Client::new(Target::resolve(&global.given())?, global.mode(), language);
        let wait_ms = global.wait.as_deref().map(ask::milliseconds).transpose().map_err(Failure::Usage)?;
        Ok(App { screen, client, wait_ms, data: global.data(), watch: global.watch })
    }

    /// Somebody else's view: another screen, another server or key.
    pub fn before(&self, screen: Screen, client: Client) -> App {
        App { screen, client, wait_ms: self.wait_ms, data: self.data.clone(), watch: false }
    }

    /// Asks before something is done; nothing is asked where the call is only shown.
    pub fn confirm(&self, question: &Phrase) -> Result<(), Failure> {
        if self.client.only_shows() { Ok(()) } else { self.screen.confirm(question) }
    }

    /// Sends a call.
    pub fn send(&self, call: Call) -> Result<Answer, Failure> {
        self.client.send(call)
    }

    /// Reads a list and shows it, again and again with `--watch`.
    pub fn list(&self, call: Call, columns: &[Column]) -> Done {
        self.shown(call, |answer| self.screen.list(answer, columns))
    }

    /// Reads or changes one object and shows it, again and again with `--watch` where it only reads.
    pub fn object(&self, call: Call, columns: &[Column]) -> Done {
        self.shown(call, |answer| self.screen.object(answer, columns))
    }

    /// The answer; of a list, all its pages as one.
    fn whole(&self, call: Call) -> Result<Value, Failure> {
        let mut answer = self.send(call.clone())?.body;
        while let Some(token) = answer.get_mut("next_page").map(Value::take).and_then(|token| Some(token.as_str()?.to_owned())) {
            let mut next = self.send(call.clone().query("page_token", token))?.body;
            if let (Some(all), Some(more)) = (answer["items"].as_array_mut(), next["items"].as_array_mut()) {
                all.append(more);
            }
            answer["next_page"] = next["next_page"].take();
        }
        Ok(answer)
    }

    /// Reads and shows, again and again with `--watch` where it only reads.
    pub fn shown(&self, call: Call, show: impl Fn(&Value) -> Result<(), Failure>) -> Done {
        let again = self.watch && call.method == reqwest::Method::GET;
        let mut last = None;
        loop {
            let answer = self.whole(call.clone())?;
            if last.as_ref() != Some(&answer) {
                if again {
                    self.screen.clear();
                }
                show(&answer)?;
            }
            if !again {
                return Ok(ExitCode::SUCCESS);
            }
            last = Some(answer);
            thread::sleep(WATCH);
        }
    }
}
