//! The crate graph, as `cargo metadata --no-deps` tells it: who imports whom, and how.

use serde::Deserialize;
use std::collections::BTreeSet;

/// The packages of the workspace.
#[derive(Deserialize)]
pub struct Graph {
    packages: Vec<Package>,
}

/// One crate and what it imports, ours and others'.
#[derive(Deserialize)]
pub struct Package {
    /// The crate's name.
    pub name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

impl Graph {
    /// Reads what `cargo metadata --format-version 1` printed; crates come out in the order of their names.
    pub fn parse(json: &[u8]) -> serde_json::Result<Graph> {
        let mut graph: Graph = serde_json::from_slice(json)?;
        graph.packages.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(graph)
    }

    /// Every crate of the workspace, by name.
    pub fn packages(&self) -> &[Package] {
        &self.packages
    }

    /// The crates of this workspace that `package` is built with, by name.
    pub fn arrows<'a>(&'a self, package: &'a Package) -> BTreeSet<&'a str> {
        package.built_with().into_iter().filter(|name| self.packages.iter().any(|p| p.name == *name)).collect()
    }
}

impl Package {
    /// Names of normal and build dependencies: what users of the crate get with it.
    pub fn built_with(&self) -> BTreeSet<&str> {
        self.of_kind(|kind| kind != Some("dev"))
    }

    /// Names of dev-dependencies: what only the crate's own tests get.
    pub fn tested_with(&self) -> BTreeSet<&str> {
        self.of_kind(|kind| kind == Some("dev"))
    }

    fn of_kind(&self, wanted: impl Fn(Option<&str>) -> bool) -> BTreeSet<&str> {
        self.dependencies.iter().filter(|d| wanted(d.kind.as_deref())).map(|d| d.name.as_str()).collect()
    }
}

/// A graph for tests, one line a crate: `name: dependency dependency dev:dependency`.
#[cfg(test)]
pub fn sketch(lines: &str) -> Graph {
    let dependency = |word: &str| match word.strip_prefix("dev:") {
        Some(name) => Dependency { name: name.into(), kind: Some("dev".into()) },
        None => Dependency { name: word.into(), kind: None },
    };
    let package = |(name, rest): (&str, &str)| Package {
        name: name.trim().into(),
        dependencies: rest.split_whitespace().map(dependency).collect(),
    };
    Graph { packages: lines.lines().filter_map(|line| line.split_once(':')).map(package).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_crates_in_order_and_tells_kinds_apart() {
        let graph = Graph::parse(
            br#"{"packages": [
                {"name": "rental", "dependencies": [
                    {"name": "units", "kind": null}, {"name": "serde", "kind": null}, {"name": "billing", "kind": "build"},
                    {"name": "proptest", "kind": "dev"}]},
                {"name": "billing", "dependencies": []},
                {"name": "units", "dependencies": []}]}"#,
        )
        .expect("the text above is what cargo prints");
        let names: Vec<&str> = graph.packages().iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["billing", "rental", "units"]);
        let rental = &graph.packages()[1];
        assert_eq!(rental.built_with(), BTreeSet::from(["billing", "serde", "units"]));
        assert_eq!(rental.tested_with(), BTreeSet::from(["proptest"]));
        assert_eq!(graph.arrows(rental), BTreeSet::from(["billing", "units"]));
    }
}
