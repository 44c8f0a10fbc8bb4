//! The crate graph as a Mermaid drawing that ARCHITECTURE.md embeds, and the check that it is still true.

use crate::graph::Graph;

const BEGIN: &str = "<!-- arrows: begin (printed by `cargo xtask arrows --picture`) -->";
const END: &str = "<!-- arrows: end -->";

/// The drawing between its markers, ready to paste. The order depends on names only.
pub fn draw(graph: &Graph) -> String {
    let lines = graph.packages().iter().map(|package| {
        let arrows: Vec<&str> = graph.arrows(package).into_iter().collect();
        match arrows[..] {
            [] => format!("    {}\n", package.name),
            _ => format!("    {} --> {}\n", package.name, arrows.join(" & ")),
        }
    });
    let lines: String = lines.collect();
    format!("{BEGIN}\n```mermaid\nflowchart TD\n{lines}```\n{END}\n")
}

/// What is wrong with the drawing in `page`, or nothing if it equals `drawing`.
pub fn difference(page: &str, drawing: &str) -> Option<String> {
    let fix = "put there what `cargo xtask arrows --picture` prints";
    match embedded(page) {
        None => Some(format!("ARCHITECTURE.md: has no crate graph between its markers; {fix}")),
        Some(shown) if shown.trim() != drawing.trim() => {
            Some(format!("ARCHITECTURE.md: its crate graph is not the real one; {fix}"))
        }
        Some(_) => None,
    }
}

fn embedded(page: &str) -> Option<&str> {
    let start = page.find(BEGIN)?;
    let length = page[start..].find(END)? + END.len();
    Some(&page[start..start + length])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::sketch;

    #[test]
    fn draws_our_crates_and_leaves_out_tests_and_strangers() {
        let drawing = draw(&sketch("engine: rental units serde dev:drivers\nrental: units\nunits: serde\ndrivers: units"));
        let inner = "```mermaid\nflowchart TD\n    engine --> rental & units\n    rental --> units\n    units\n    drivers --> units\n```";
        assert_eq!(drawing, format!("{BEGIN}\n{inner}\n{END}\n"));
    }

    #[test]
    fn a_page_that_embeds_the_drawing_is_true() {
        let drawing = draw(&sketch("units:"));
        assert_eq!(difference(&format!("# Architecture\n\n{drawing}\nMore.\n"), &drawing), None);
    }

    #[test]
    fn a_stale_or_missing_drawing_is_told_with_the_fix() {
        let page = format!("# Architecture\n\n{}", draw(&sketch("units:")));
        let stale = difference(&page, &draw(&sketch("units:\nbilling: units")));
        assert!(stale.is_some_and(|line| line.contains("not the real one") && line.contains("--picture")));
        let missing = difference("# Architecture\n", &draw(&sketch("units:")));
        assert!(missing.is_some_and(|line| line.contains("no crate graph")));
    }
}
