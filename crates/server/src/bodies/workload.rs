//! What to run, as it is sent, and what of it could never run.

use crate::Problem;
use serde::Deserialize;
use std::collections::BTreeMap;
use units::{Runtime, Workload};
use utoipa::ToSchema;

/// Two minutes: the notice that a spot lease gets. Teardown is free, so it must be short.
const LONGEST_GRACE_MS: u32 = 120_000;

/// Half of what Linux surely leaves a program for its arguments and environment, as the agent adds some of its own.
const LARGEST_BYTES: usize = 64 * 1024;

/// A name of 255 characters, a tag of 128 and a digest, with their separators.
const LONGEST_IMAGE: usize = 512;

/// A program to run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadBody {
    /// `"process"`, or `{"container": "IMAGE"}`.
    #[serde(default = "process")]
    #[schema(value_type = Object)]
    pub runtime: Runtime,
    /// Command and arguments; with the environment at most 64 KiB.
    #[serde(default)]
    pub argv: Vec<String>,
    /// Environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Milliseconds between TERM and KILL when it is ended, at most 120000.
    #[serde(default = "ten_seconds")]
    pub grace_ms: u32,
}

fn process() -> Runtime {
    Runtime::Process
}

/// As in `units::Workload`.
fn ten_seconds() -> u32 {
    10_000
}

impl WorkloadBody {
    /// The workload, unless it could never run; `pointer` is where it stands in the body.
    pub(crate) fn workload(self, pointer: &str) -> Result<Workload, Problem> {
        let WorkloadBody { runtime, argv, env, grace_ms } = self;
        if grace_ms > LONGEST_GRACE_MS {
            return Err(Problem::field(format!("{pointer}/grace_ms"), format!("at most {LONGEST_GRACE_MS} milliseconds")));
        }
        if let Runtime::Container(image) = &runtime {
            reference(&format!("{pointer}/runtime/container"), image)?;
        }
        words(&format!("{pointer}/argv"), &argv)?;
        for (name, value) in &env {
            variable(&format!("{pointer}/env"), name, value)?;
        }
        let bytes = argv.iter().map(|word| word.len() + 1).sum::<usize>()
            + env.iter().map(|(name, value)| name.len() + value.len() + 2).sum::<usize>();
        if bytes > LARGEST_BYTES {
            return Err(Problem::field(pointer, "argv and env have at most 64 KiB together"));
        }
        Ok(Workload { runtime, argv, env, grace_ms })
    }
}

/// Refuses words that no program can be started with. No words at all are fine here.
pub(crate) fn words(pointer: &str, argv: &[String]) -> Result<(), Problem> {
    if argv.first().is_some_and(String::is_empty) {
        return Err(Problem::field(format!("{pointer}/0"), "the first word names the program"));
    }
    match argv.iter().position(|word| word.contains('\0')) {
        Some(at) => Err(Problem::field(format!("{pointer}/{at}"), "no word holds a NUL")),
        None => Ok(()),
    }
}

fn variable(pointer: &str, name: &str, value: &str) -> Result<(), Problem> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(Problem::field(pointer, "a variable's name is not empty and holds neither '=' nor NUL"));
    }
    if value.contains('\0') {
        return Err(Problem::field(format!("{pointer}/{}", crate::body::escaped(name)), "no value holds a NUL"));
    }
    Ok(())
}

/// `[HOST[:PORT]/]NAME[:TAG][@DIGEST]`, as far as its characters go; the registry knows the rest.
fn reference(pointer: &str, image: &str) -> Result<(), Problem> {
    let outer = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let fit = outer(image.chars().next())
        && image.len() <= LONGEST_IMAGE
        && image.chars().all(|c| c.is_ascii_alphanumeric() || "._-/:@".contains(c))
        && !image.ends_with(['/', ':', '@'])
        && !["..", "//", "::", "@@", "/:", ":/"].iter().any(|wrong| image.contains(wrong));
    if fit { Ok(()) } else { Err(Problem::field(pointer, "write an image as [HOST[:PORT]/]NAME[:TAG][@DIGEST]")) }
}
