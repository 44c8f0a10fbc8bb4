//! The newcomer's first command.

use crate::world::bare;
use std::fs;

#[test]
fn the_demo_shows_a_rental_checks_its_sums_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let places = folder.path().join("places");
    fs::create_dir(&places).unwrap();
    let played = bare(folder.path()).env("TMPDIR", &places).args(["demo", "--exit"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&played.stdout), String::from_utf8_lossy(&played.stderr));
    assert!(played.status.success(), "{err}{out}");
    for shown in ["SIMULATED", "unit/cpu", "total:"] {
        assert!(out.contains(shown), "{shown}: {out}");
    }
    for said in ["starting", "running", "primes below", "stopped", "price × seconds", "verified without the server"] {
        assert!(err.contains(said), "{said}: {err}");
    }
    assert_eq!(fs::read_dir(&places).unwrap().count(), 0, "its folder is removed");
    assert!(!folder.path().join("config").exists(), "no context is left");
}
