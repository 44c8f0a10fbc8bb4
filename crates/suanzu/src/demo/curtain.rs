//! After the demo's lease: the console's link, a context for the next terminal, and what to try.

use super::world::World;
use crate::{
    client::{Context, Contexts},
    failure::Failure,
    language::phrases as p,
};
use std::path::PathBuf;

/// The context's name.
const NAME: &str = "demo";

/// The saved context, until the demo ends.
pub struct Curtain {
    file: PathBuf,
    /// Which context was current before.
    before: Option<String>,
}

impl Curtain {
    /// Saves the tenant's context and makes it the current one, so that a second terminal just works.
    pub fn raise(world: &World) -> Result<Curtain, Failure> {
        let file = Contexts::file()?;
        let mut contexts = Contexts::load(&file)?;
        let target = world.tenant.client.target().clone();
        let context = Context { url: target.url, key: target.key, ca_file: target.ca_file, tenant: None };
        contexts.contexts.insert(NAME.into(), context);
        let before = contexts.current.replace(NAME.into()).filter(|name| name != NAME);
        contexts.save(&file)?;
        Ok(Curtain { file, before })
    }

    /// The link and three commands that can be pasted.
    pub fn tell(&self, world: &World) {
        let screen = &world.tenant.screen;
        screen.say(&p::SIGN_IN, &[&world.sign_in_link()]);
        screen.say(&p::DEMO_NEXT, &[NAME]);
        let binary = std::env::args().next().unwrap_or_else(|| "suanzu".into());
        for line in [
            "run --cpu 1 --for 1h -- sh -c 'for i in 1 2 3; do echo $i; sleep 1; done'",
            "quote --gpu A100:8",
            "lease create --gpu A100:0.25,20GB --wait",
        ] {
            screen.note(&format!("  {binary} {line}"));
        }
        screen.say(&p::DEMO_SERVES, &[]);
    }

    /// Takes the context back: its server is about to end.
    pub fn fall(self) -> Result<(), Failure> {
        let mut contexts = Contexts::load(&self.file)?;
        contexts.contexts.remove(NAME);
        if contexts.current.as_deref() == Some(NAME) {
            contexts.current = self.before;
        }
        Ok(contexts.save(&self.file)?)
    }
}
