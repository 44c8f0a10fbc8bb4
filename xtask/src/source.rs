//! The repository's text files, and which of their lines are product and which are test.

use anyhow::{Context, Result, bail};
use std::{fs, path::Path, process::Command};

/// One text file of the tree.
pub struct File {
    /// Path from the root of the repository, with `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// Every text file that git tracks or would track, in the order of the paths.
pub fn files(root: &Path) -> Result<Vec<File>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"])
        .current_dir(root)
        .output()
        .context("git did not start")?;
    if !output.status.success() {
        bail!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let mut paths: Vec<String> = String::from_utf8_lossy(&output.stdout).split_terminator('\0').map(String::from).collect();
    paths.sort();
    // A file that is no text, or was just deleted, has nothing to say here.
    let read = |path: String| fs::read_to_string(root.join(&path)).ok().map(|text| File { path, text });
    Ok(paths.into_iter().filter_map(read).collect())
}

impl File {
    /// Whether the name ends in `.extension`.
    pub fn is(&self, extension: &str) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, end)| end == extension)
    }

    /// The crate whose `src` folder holds this Rust file.
    pub fn crate_source(&self) -> Option<&str> {
        let (name, rest) = self.path.strip_prefix("crates/")?.split_once('/')?;
        (rest.starts_with("src/") && self.is("rs")).then_some(name)
    }

    /// Lines with their numbers from 1, less those that only tests see: test files whole, and a test module at a file's end.
    pub fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let length = if self.is_test() { 0 } else { before_test_module(&self.text) };
        self.text.lines().enumerate().take(length).map(|(i, line)| (i + 1, line))
    }

    fn is_test(&self) -> bool {
        let mut parts = self.path.split('/');
        parts.any(|part| matches!(part, "tests" | "testdata" | "benches" | "tests.rs") || part.ends_with("_test.go"))
    }
}

/// How many lines stand before the first `#[cfg(test)]` that opens a module with a body.
fn before_test_module(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let opens =
        |pair: &[&str]| pair[0].trim() == "#[cfg(test)]" && pair[1].trim_start().starts_with("mod ") && pair[1].ends_with('{');
    lines.windows(2).position(opens).unwrap_or(lines.len())
}

/// What stands before a line's `//` comment.
pub fn code(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

/// Whether `word` stands in `text` with no letter, digit or underscore beside it.
pub fn has_word(text: &str, word: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| !text[..at].ends_with(inner) && !text[at + word.len()..].starts_with(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(path: &str, text: &str) -> Vec<usize> {
        File { path: path.into(), text: text.into() }.product_lines().map(|(number, _)| number).collect()
    }

    #[test]
    fn a_test_module_at_the_end_is_no_product() {
        assert_eq!(product("a.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n"), [1]);
        assert_eq!(product("a.rs", "#[cfg(test)]\nmod tests;\nfn a() {}\n"), [1, 2, 3]);
    }

    #[test]
    fn test_folders_and_files_are_no_product() {
        for path in ["crates/a/tests/b.rs", "crates/a/src/tests.rs", "crates/a/src/fold/tests.rs", "crates/a/benches/b.rs"] {
            assert_eq!(product(path, "fn a() {}\n"), Vec::<usize>::new(), "{path}");
        }
        assert_eq!(product("crates/a/src/contests.rs", "fn a() {}\n"), [1]);
    }

    #[test]
    fn only_rust_under_src_is_crate_source() {
        let file = |path: &str| File { path: path.into(), text: String::new() };
        assert_eq!(file("crates/billing/src/a/b.rs").crate_source(), Some("billing"));
        for path in ["crates/billing/tests/a.rs", "crates/billing/src/a.sql", "xtask/src/main.rs"] {
            assert_eq!(file(path).crate_source(), None, "{path}");
        }
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("let x: f64 = 1.0;", "f64"));
        assert!(!has_word("let x = as_f64(y);", "f64"));
        assert!(!has_word("eprintln!()", "println"));
        assert_eq!(code("let a = 1; // not f64"), "let a = 1; ");
    }
}
