//! Chores of the repository, run as `cargo xtask NAME`. Each prints one line per finding and fails if there is one.

mod arrows;
mod graph;
mod picture;
mod promises;
mod source;
mod tidy;

use anyhow::{Context, Result, bail};
use graph::Graph;
use std::{
    env, fs,
    path::Path,
    process::{Command, ExitCode},
};

const USAGE: &str = "usage: cargo xtask NAME

  arrows                  check that crates import only what the architecture allows
  arrows --picture        print the crate graph as it is, for ARCHITECTURE.md
  arrows --check-picture  check that ARCHITECTURE.md shows the crate graph as it is
  promises                check that every promise in docs/promises.md names tests that exist
  tidy                    check sizes, names, first lines and forbidden words of the source";

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no folder above it")?;
    let findings = match arguments[..] {
        ["arrows"] => arrows::violations(&graph(root)?),
        ["arrows", "--picture"] => {
            print!("{}", picture::draw(&graph(root)?));
            vec![]
        }
        ["arrows", "--check-picture"] => check_picture(root)?,
        ["promises"] => promises::findings(&source::files(root)?),
        ["tidy"] => tidy::findings(&source::files(root)?),
        _ => {
            eprintln!("{USAGE}");
            return Ok(ExitCode::from(2));
        }
    };
    for finding in &findings {
        println!("{finding}");
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The workspace as cargo sees it now.
fn graph(root: &Path) -> Result<Graph> {
    let output = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("cargo metadata did not start")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Graph::parse(&output.stdout).context("cargo metadata printed what this program cannot read")
}

/// A repository without the page has nothing to compare.
fn check_picture(root: &Path) -> Result<Vec<String>> {
    let page = root.join("ARCHITECTURE.md");
    if !page.exists() {
        return Ok(vec![]);
    }
    let text = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
    Ok(picture::difference(&text, &picture::draw(&graph(root)?)).into_iter().collect())
}
