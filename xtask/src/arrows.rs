//! The law of the crate graph: which of our crates may import which, and what the pure ones must not touch.

use crate::graph::{Graph, Package};

/// Each crate and the crates of ours that it may be built with. Dev-dependencies are free.
const LAW: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("billing", &["units"]),
    ("placement", &["units"]),
    ("advisor", &["units", "billing"]),
    ("rental", &["units", "billing", "placement"]),
    ("journal", &["units"]),
    ("engine", &["units", "rental", "journal"]),
    ("protocol", &["units"]),
    ("drivers", &["units", "protocol"]),
    ("server", &["units", "rental", "engine", "protocol", "advisor"]),
    ("console", &["units", "rental", "engine", "protocol", "advisor"]),
    ("gateway", &["units", "protocol"]),
    ("auditor", &["units"]),
    ("simulator", &["units", "billing", "placement", "advisor", "rental", "auditor", "journal", "engine", "protocol", "drivers"]),
    ("suanzu", &[EVERY]),
    ("fake-nvml", &[]),
    ("simulated-disk", &[]),
    ("xtask", &[]),
];

/// Stands in the law for every crate of the workspace.
const EVERY: &str = "*";

/// Arrows beyond the law: from, to, reason.
const EXTRA: &[(&str, &str, &str)] = &[("server", "console", "the server mounts the console's pages on its own router")];

/// Crates that take time, chance and the world as inputs.
const PURE: &[&str] = &["units", "billing", "placement", "advisor", "rental"];

/// What no pure crate may be built with, and why.
const IMPURE: &[(&str, &str)] = &[
    ("tokio", "pure crates are synchronous"),
    ("tracing", "pure crates return explanations, shells log them"),
    ("log", "pure crates return explanations, shells log them"),
    ("rand", "pure crates take chance as an input"),
];

/// One line per broken rule, in the order of the crates' names.
pub fn violations(graph: &Graph) -> Vec<String> {
    graph.packages().iter().flat_map(|package| forbidden_arrows(graph, package).chain(impurities(package))).collect()
}

fn forbidden_arrows<'a>(graph: &'a Graph, package: &'a Package) -> impl Iterator<Item = String> + 'a {
    let from = package.name.as_str();
    let law = LAW.iter().find(|(name, _)| *name == from).map(|(_, allowed)| *allowed);
    let unknown = law.is_none().then(|| format!("{from}: has no line in the law (xtask/src/arrows.rs)"));
    let broken = graph
        .arrows(package)
        .into_iter()
        .filter(move |to| law.is_some_and(|allowed| !may_import(from, to, allowed)))
        .map(move |to| format!("{from} -> {to}: not allowed; {from} may import {}", listed(law)));
    unknown.into_iter().chain(broken)
}

fn may_import(from: &str, to: &str, allowed: &[&str]) -> bool {
    allowed.iter().any(|name| *name == to || *name == EVERY) || EXTRA.iter().any(|(f, t, _)| (*f, *t) == (from, to))
}

fn listed(law: Option<&[&str]>) -> String {
    match law.unwrap_or_default() {
        [] => "none of ours".into(),
        names => names.join(", "),
    }
}

fn impurities(package: &Package) -> impl Iterator<Item = String> + '_ {
    let pure = PURE.contains(&package.name.as_str());
    let (built, tested) = (package.built_with(), package.tested_with());
    IMPURE
        .iter()
        // A test may draw lots or log; a test that needs a runtime is testing something that is not pure.
        .filter(move |(name, _)| pure && (built.contains(name) || *name == "tokio" && tested.contains(name)))
        .map(move |(name, reason)| format!("{} -> {name}: not allowed; {reason}", package.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::sketch;

    #[test]
    fn the_lawful_graph_passes() {
        let graph = sketch(
            "units: serde\nbilling: units\nplacement: units\nrental: units billing placement dev:proptest\n\
             journal: units ring\nengine: units rental journal\nserver: units engine console\nconsole: units\nxtask: serde",
        );
        assert_eq!(violations(&graph), Vec::<String>::new());
    }

    #[test]
    fn an_arrow_outside_the_law_is_one_line_naming_both_ends() {
        let graph = sketch("units:\njournal: units\nserver: units journal");
        assert_eq!(
            violations(&graph),
            ["server -> journal: not allowed; server may import units, rental, engine, protocol, advisor"]
        );
    }

    #[test]
    fn xtask_and_the_fake_import_none_of_ours() {
        let graph = sketch("units:\nxtask: units\nfake-nvml: units");
        assert_eq!(
            violations(&graph),
            [
                "xtask -> units: not allowed; xtask may import none of ours",
                "fake-nvml -> units: not allowed; fake-nvml may import none of ours"
            ]
        );
    }

    #[test]
    fn the_binary_may_import_every_crate() {
        assert_eq!(violations(&sketch("units:\ngateway: units\nsuanzu: units gateway")), Vec::<String>::new());
    }

    #[test]
    fn a_crate_without_a_line_in_the_law_is_named() {
        assert_eq!(violations(&sketch("shop:")), ["shop: has no line in the law (xtask/src/arrows.rs)"]);
    }

    #[test]
    fn dev_dependencies_are_free_but_a_pure_crate_never_tests_with_tokio() {
        let graph = sketch("units:\njournal: units dev:tokio dev:engine\nengine: dev:drivers\nrental: units dev:tokio dev:rand");
        assert_eq!(violations(&graph), ["rental -> tokio: not allowed; pure crates are synchronous"]);
    }

    #[test]
    fn a_pure_crate_is_not_built_with_chance_or_logging() {
        assert_eq!(
            violations(&sketch("billing: rand tracing")),
            [
                "billing -> tracing: not allowed; pure crates return explanations, shells log them",
                "billing -> rand: not allowed; pure crates take chance as an input"
            ]
        );
    }

    #[test]
    fn the_law_has_no_cycle() {
        let settled = LAW
            .iter()
            .enumerate()
            .all(|(i, (_, allowed))| allowed.iter().all(|to| *to == EVERY || LAW[..i].iter().any(|(earlier, _)| earlier == to)));
        assert!(settled, "a crate's line in the law must stand below the lines of all that it may import");
    }
}
