//! Every promise in `docs/promises.md` names tests that exist: a function of that name in a file of that crate, or a scenario.

use crate::source::{File, code};

/// The page of promises.
const PAGE: &str = "docs/promises.md";

/// One line per name that no test has, and per promise that names none.
pub fn findings(files: &[File]) -> Vec<String> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else { return vec![format!("{PAGE} is missing")] };
    let mut found = Vec::new();
    let mut promise = None;
    for (number, line) in (1..).zip(page.text.lines()) {
        let names: Vec<&str> = names(line).collect();
        let missing = names.iter().filter(|name| !exists(files, name));
        found.extend(missing.map(|name| format!("{PAGE}:{number}: there is no test `{name}`")));
        if let Some(first) = promise.filter(|_| line.is_empty() || begins_promise(line)) {
            found.push(format!("{PAGE}:{first}: this promise names no test"));
            promise = None;
        }
        if begins_promise(line) {
            promise = Some(number);
        }
        promise = promise.filter(|_| names.is_empty());
    }
    found.extend(promise.map(|first| format!("{PAGE}:{first}: this promise names no test")));
    found
}

/// Promises are numbered: `12. What is promised.`
fn begins_promise(line: &str) -> bool {
    line.split_once(". ").is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The words in backticks that name a test: `crate::file::test`.
fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2).filter(|word| word.contains("::"))
}

/// Whether the tree has this test. The words between crate and test are the end of the file's path; a module's folder stands
/// for its `mod.rs`.
fn exists(files: &[File], name: &str) -> bool {
    let words: Vec<&str> = name.split("::").collect();
    let [of_crate, place @ .., test] = &words[..] else { return false };
    let scenario = format!("crates/{of_crate}/tests/scenarios/{test}.scenario");
    let folders = [format!("crates/{of_crate}/"), format!("{of_crate}/")];
    let here = |file: &File| folders.iter().any(|folder| file.path.starts_with(folder)) && is_at(&file.path, place);
    files.iter().any(|file| (place == ["scenarios"] && file.path == scenario) || (here(file) && declares(file, test)))
}

fn is_at(path: &str, place: &[&str]) -> bool {
    let Some(module) = path.strip_suffix(".rs") else { return false };
    let module = module.strip_suffix("/mod").unwrap_or(module);
    let end: Vec<&str> = module.rsplit('/').take(place.len()).collect();
    !place.is_empty() && end.iter().rev().eq(place)
}

fn declares(file: &File, test: &str) -> bool {
    let declared = |line: &str| {
        let after = code(line).split_once("fn ").map(|(_, after)| after)?;
        Some(after.strip_prefix(test)?.starts_with('('))
    };
    file.text.lines().any(|line| declared(line) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMISE: &str = "# Promises\n\n1. A promise\n   over two lines. `rental::cases::it_is_kept`\n";

    fn judged(page: &str, tests: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): (&str, &str)| File { path: path.into(), text: text.into() };
        findings(&[(PAGE, page)].into_iter().chain(tests.iter().copied()).map(file).collect::<Vec<_>>())
    }

    #[test]
    fn a_test_is_found_by_crate_file_and_name() {
        for (path, text) in [
            ("crates/rental/tests/cases.rs", "#[test]\nfn it_is_kept() {}\n"),
            ("crates/rental/tests/cases.rs", "    async fn it_is_kept() {}\n"),
            ("crates/rental/src/cases/mod.rs", "pub fn it_is_kept(mut bench: Bench) {}\n"),
        ] {
            assert_eq!(judged(PROMISE, &[(path, text)]), Vec::<String>::new(), "{path}: {text}");
        }
        let deep = "1. A. `drivers::conformance::suite::b`, `rental::scenarios::B01_c`, `xtask::tidy::d`\n";
        let tests = [
            ("crates/drivers/tests/conformance/suite.rs", "fn b() {}"),
            ("crates/rental/tests/scenarios/B01_c.scenario", ""),
            ("xtask/src/tidy.rs", "fn d() {}"),
        ];
        assert_eq!(judged(deep, &tests), Vec::<String>::new());
    }

    #[test]
    fn a_name_that_no_test_has_is_told_with_its_line() {
        let line = ["docs/promises.md:4: there is no test `rental::cases::it_is_kept`"];
        for (path, text) in [
            ("crates/rental/tests/cases.rs", "fn it_is_kept_too() {}\nfn is_it_is_kept() {}\n// fn it_is_kept() {}\n"),
            ("crates/rental/tests/upper_cases.rs", "fn it_is_kept() {}\n"),
            ("crates/billing/tests/cases.rs", "fn it_is_kept() {}\n"),
            ("docs/cases.md", "fn it_is_kept() {}\n"),
        ] {
            assert_eq!(judged(PROMISE, &[(path, text)]), line, "{path}: {text}");
        }
        assert_eq!(judged("`rental::b`\n", &[]), ["docs/promises.md:1: there is no test `rental::b`"]);
    }

    #[test]
    fn a_promise_without_a_test_is_told() {
        let page = "Not. `b`\n\n1. One.\n2. Two `a::b::c`.\n3. Three\n   `d`.\n\nText.\n\n4. Four.\n";
        let lines = judged(page, &[("crates/a/src/b.rs", "fn c() {}")]);
        let told = [3, 5, 10].map(|line| format!("docs/promises.md:{line}: this promise names no test"));
        assert_eq!(lines, told);
        assert_eq!(findings(&[]), ["docs/promises.md is missing"]);
    }
}
