//! What scripts tell apart: exit codes, and one line that says what to do.

use crate::world::{World, bare};

fn ended(world: &World, args: &[&str]) -> (Option<i32>, String) {
    let output = world.try_tenant(args);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_kind_of_refusal_has_its_exit_code() {
    let world = World::start();
    for (args, code, said) in [
        (vec!["lease", "show", "lease-999"], 3, "not_found"),
        (vec!["node", "list"], 4, "forbidden"),
        (vec!["lease", "create", "--yes", "--cpu", "1", "--memory", "1000TB"], 5, "never_fits"),
        (vec!["lease", "create", "--yes", "--cpu", "1000"], 6, "insufficient_funds"),
        (vec!["lease", "create", "--yes", "--cpu", "1", "--max-price", "0.01"], 6, "too_dear"),
        (vec!["lease", "create", "--yes", "--cpu", "none"], 2, "usage"),
        (vec!["lease", "create", "--gpu", "A100:0"], 2, "A100:8"),
    ] {
        let (exit, err) = ended(&world, &args);
        assert_eq!(exit, Some(code), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
    }
    let (exit, err) = ended(&world, &["whoami"]);
    assert_eq!(exit, Some(2), "{err}");
}

#[test]
fn a_key_that_is_none_is_not_allowed() {
    let world = World::start();
    let output = world.run("sz_nobody", &["lease", "list"]);
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn one_process_serves_a_folder_and_a_second_one_is_told_so() {
    let world = World::start();
    let second = world.command("").args(["serve", "--listen", "127.0.0.1:0"]).output().unwrap();
    let err = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(1), "{err}");
    assert!(err.contains("another process serves"), "{err}");
}

#[test]
fn explain_and_curl_send_nothing() {
    let world = World::start();
    for how in ["--explain", "--curl"] {
        let shown = world.try_tenant(&["lease", "create", "--cpu", "1", how]);
        let out = String::from_utf8_lossy(&shown.stdout);
        assert!(shown.status.success() && out.contains("/v1/leases") && out.contains("Idempotency-Key"), "{out}");
        assert!(!out.contains("sz_"), "a key is never shown: {out}");
    }
    assert_eq!(world.tenant(&["lease", "list"])["items"].as_array().unwrap().len(), 0);
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    for args in [["completions", "bash"].as_slice(), &["lease", "list", "--explain"]] {
        let mut command = bare(folder.path());
        command.args(args).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success() && ended.stderr.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

#[test]
fn nobody_there_is_said_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    // Port 1 of loopback: nothing listens there.
    let output = bare(folder.path()).args(["--url", "http://127.0.0.1:1", "offer", "list"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("suanzu serve"));
}
