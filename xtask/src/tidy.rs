//! House rules that neither the compiler nor clippy knows: sizes, names, first lines, words that must not stand somewhere.

use crate::source::{File, code, has_word};

/// Longest source file, in lines: beyond it a reader looks for two files with two names.
const LONGEST: usize = 500;

/// What counts as source for its length.
const SOURCES: &[&str] = &["rs", "sh", "py", "go", "js", "css", "html", "sql"];

/// Source files that may be longer: path, reason.
const LONG: &[(&str, &str)] = &[];

/// Words that say nothing about what a file knows.
const VAGUE: &[&str] = &["manager", "managers", "helper", "helpers", "util", "utils", "common", "misc"];

/// Top folders that belong to one machine and not to the project.
const MACHINE: &[&str] = &["work", "root", "tmp"];

/// Machine paths that are meant: file, path, reason.
const MEANT: &[(&str, &str, &str)] = &[];

/// Crates, words that their product code must not hold, and why.
const FORBIDDEN: &[(&[&str], &[&str], &str)] = &[
    (PURE, &["SystemTime", "Instant", "now()"], "a pure crate is told the time"),
    (PURE, &["HashMap", "HashSet"], "their order differs from run to run; use BTreeMap or BTreeSet"),
    (PURE, &["tokio", "async"], "a pure crate is synchronous"),
    (PURE, &["tracing", "println", "eprintln", "dbg"], "a pure crate returns explanations, shells print them"),
    (EXACT, &["f32", "f64"], "money is exact; use integers"),
];

/// Crates that take time, chance and the world as inputs.
const PURE: &[&str] = &["units", "billing", "placement", "advisor", "rental"];

/// Pure crates that count money.
const EXACT: &[&str] = &["billing", "rental"];

/// One line per broken rule: `path:line: what, and what instead`.
pub fn findings(files: &[File]) -> Vec<String> {
    let rules = [too_long, vague_name, no_first_line, unfinished, unwrapped, impure, machine_path];
    files.iter().flat_map(|file| rules.iter().flat_map(move |rule| rule(file))).collect()
}

fn too_long(file: &File) -> Vec<String> {
    let lines = file.text.lines().count();
    let counted = SOURCES.iter().any(|extension| file.is(extension)) && !LONG.iter().any(|(path, _)| *path == file.path);
    found(counted && lines > LONGEST, || format!("{}: {lines} lines, at most {LONGEST}; split it by what it knows", file.path))
}

fn vague_name(file: &File) -> Vec<String> {
    let mut words = file.path.split(['/', '.', '_', '-']);
    let vague = words.find(|word| VAGUE.contains(word));
    vague.map(|word| format!("{}: `{word}` says nothing; name what it knows", file.path)).into_iter().collect()
}

fn no_first_line(file: &File) -> Vec<String> {
    let missing = file.crate_source().is_some() && !file.text.starts_with("//! ");
    found(missing, || format!("{}:1: does not open with `//! ` and what the file knows", file.path))
}

fn unfinished(file: &File) -> Vec<String> {
    if !file.path.starts_with("crates/") || !file.is("rs") {
        return vec![];
    }
    let marks = ["todo!", "unimplemented!", "#[ignore"];
    let lines = file.text.lines().enumerate().map(|(i, line)| (i + 1, line));
    in_lines(file, lines, |line| {
        let mark = marks.iter().find(|mark| code(line).contains(*mark))?;
        Some(format!("`{mark}` is unfinished work; finish it or leave it out"))
    })
}

fn unwrapped(file: &File) -> Vec<String> {
    if file.crate_source().is_none() {
        return vec![];
    }
    in_lines(file, file.product_lines(), |line| {
        code(line)
            .contains(".unwrap()")
            .then(|| "`.unwrap()` gives no reason; return the error or `expect(\"why it holds\")`".into())
    })
}

fn impure(file: &File) -> Vec<String> {
    let Some(name) = file.crate_source() else { return vec![] };
    let laws: Vec<_> = FORBIDDEN.iter().filter(|(crates, ..)| crates.contains(&name)).collect();
    in_lines(file, file.product_lines(), |line| {
        laws.iter().find_map(|(_, words, reason)| {
            let word = words.iter().find(|word| has_word(code(line), word))?;
            Some(format!("`{word}` in `{name}`: {reason}"))
        })
    })
}

fn machine_path(file: &File) -> Vec<String> {
    in_lines(file, file.product_lines(), |line| {
        let path = MACHINE.iter().map(|top| format!("/{top}")).find(|path| starts_in(line, path))?;
        let meant = MEANT.iter().any(|(f, p, _)| *f == file.path && line.contains(p));
        (!meant).then(|| format!("`{path}` is one machine's folder; take it from an argument, a variable or `mktemp`"))
    })
}

/// Whether an absolute path under `top` starts in `line`: nothing of a longer path stands before it.
fn starts_in(line: &str, top: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || "_-./}~*:".contains(c);
    line.match_indices(top).any(|(at, _)| {
        let after = &line[at + top.len()..];
        !line[..at].ends_with(inner) && !after.starts_with(|c: char| c.is_alphanumeric() || "_-.".contains(c))
    })
}

fn in_lines<'a>(
    file: &File,
    lines: impl Iterator<Item = (usize, &'a str)>,
    rule: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    lines.filter_map(|(number, line)| Some(format!("{}:{number}: {}", file.path, rule(line)?))).collect()
}

fn found(broken: bool, line: impl FnOnce() -> String) -> Vec<String> {
    if broken { vec![line()] } else { vec![] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(path: &str, text: &str) -> Vec<String> {
        findings(&[File { path: path.into(), text: text.into() }])
    }

    fn assert_one(path: &str, text: &str, start: &str) {
        let lines = judged(path, text);
        assert!(lines.len() == 1 && lines[0].starts_with(start), "{path}: {lines:?}");
    }

    #[test]
    fn a_file_in_order_has_no_finding() {
        let text = "//! What a price is.\n\n/// A price; never an f64, read from /tmpl.\npub struct Price(i128);\n";
        assert_eq!(judged("crates/billing/src/price.rs", text), Vec::<String>::new());
    }

    #[test]
    fn five_hundred_lines_are_allowed_and_one_more_is_not() {
        assert_eq!(judged("xtask/src/a.rs", &"\n".repeat(500)), Vec::<String>::new());
        assert_one("xtask/src/a.rs", &"\n".repeat(501), "xtask/src/a.rs: 501 lines");
        assert_eq!(judged("Cargo.lock", &"\n".repeat(501)), Vec::<String>::new());
    }

    #[test]
    fn names_that_say_nothing_are_found_in_files_and_folders() {
        for path in ["crates/a/src/lease_util.rs", "crates/a/tests/common/a.rs", "docs/misc.md"] {
            assert_one(path, "//! A.\n", path);
        }
        assert_eq!(judged("crates/a/src/commonwealth.rs", "//! A.\n"), Vec::<String>::new());
    }

    #[test]
    fn a_source_file_opens_with_what_it_knows() {
        assert_one("crates/a/src/b.rs", "use x;\n", "crates/a/src/b.rs:1:");
        assert_eq!(judged("crates/a/tests/b.rs", "use x;\n"), Vec::<String>::new());
    }

    #[test]
    fn unfinished_work_is_found_in_tests_too() {
        assert_one("crates/a/src/b.rs", "//! B.\nfn b() { todo!() }\n", "crates/a/src/b.rs:2: `todo!`");
        assert_one("crates/a/tests/b.rs", "#[ignore = \"slow\"]\n", "crates/a/tests/b.rs:1: `#[ignore`");
    }

    #[test]
    fn an_unwrap_is_for_tests_only() {
        let text = "//! B.\nfn b() { c().unwrap() }\n#[cfg(test)]\nmod tests {\n    fn d() { c().unwrap() }\n}\n";
        assert_one("crates/a/src/b.rs", text, "crates/a/src/b.rs:2: `.unwrap()`");
    }

    #[test]
    fn pure_crates_hold_no_clock_no_hash_map_no_print_and_money_no_float() {
        for (name, line) in [
            ("units", "use std::time::SystemTime;"),
            ("placement", "let t = Timestamp::now();"),
            ("placement", "use std::collections::HashMap;"),
            ("rental", "async fn a() {}"),
            ("advisor", "println!(\"a\");"),
            ("billing", "let price: f64 = 1.0;"),
        ] {
            let path = format!("crates/{name}/src/a.rs");
            assert_one(&path, &format!("//! A.\n{line}\n"), &format!("{path}:2:"));
        }
        assert_eq!(judged("crates/placement/src/a.rs", "//! A.\nlet score: f64 = 1.0;\n"), Vec::<String>::new());
        assert_eq!(judged("crates/engine/src/a.rs", "//! A.\nuse std::time::Instant;\n"), Vec::<String>::new());
    }

    #[test]
    fn paths_of_one_machine_are_found_outside_tests() {
        for line in ["open(\"/tmp/a\")", concat!("cd /wo", "rk/main"), "HOME=/root", "`/tmp`"] {
            assert_one(".ci/run", &format!("{line}\n"), ".ci/run:1: `/");
        }
        for line in ["$dir/tmp/a", "a/root", "/rootfs", "/tmpfs", "root:x:0:0:root:/root:/bin/sh", "https://a.example/work"] {
            assert_eq!(judged(".ci/run", line), Vec::<String>::new(), "{line}");
        }
        assert_eq!(judged("crates/a/tests/b.rs", "open(\"/tmp/a\")\n"), Vec::<String>::new());
    }
}
