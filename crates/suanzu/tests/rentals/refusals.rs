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
fn what_is_empty_in_the_environment_counts_as_unset_and_is_in_no_usage_line() {
    let world = World::start();
    let mut command = world.command_of_tenant();
    for name in ["SUANZU_URL", "SUANZU_CA"] {
        command.env(name, "");
    }
    let listed = command.args(["lease", "list"]).output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let (exit, err) = ended(&world, &["lease", "show"]);
    assert!(exit == Some(2) && err.contains("Usage: suanzu lease show <LEASE>"), "{err}");
    let (exit, err) = ended(&world, &["wallet"]);
    assert!(exit == Some(2) && err.contains("statement"), "a bare noun shows its verbs: {err}");
}

#[test]
fn what_is_wrong_is_named_by_the_option_that_sets_it_and_once() {
    let world = World::start();
    let (exit, err) = ended(&world, &["lease", "create", "--yes", "--cpu", "1", "--until", "2000-01-01T00:00:00Z"]);
    assert_eq!((exit, err.lines().count()), (Some(2), 1), "{err}");
    assert!(err.contains("--until") && !err.contains("/until"), "{err}");
    let (exit, err) = ended(&world, &["wallet", "credit", "5", "--tenant", "tenant-1"]);
    assert!(exit == Some(4) && err.contains("operator"), "{err}");
}

#[test]
fn a_port_that_is_taken_is_said_with_the_option_that_names_another() {
    let (folder, taken) = (tempfile::tempdir().unwrap(), std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let listen = taken.local_addr().unwrap().to_string();
    let served =
        bare(folder.path()).args(["serve", "--listen", &listen, "--data"]).arg(folder.path().join("data")).output().unwrap();
    let err = String::from_utf8_lossy(&served.stderr);
    assert!(served.status.code() == Some(1) && err.contains("--listen"), "{err}");
}

#[test]
fn a_container_where_there_is_no_engine_ends_in_one_clear_line() {
    let world = World::start();
    let mut command = world.command_of_tenant();
    let args = ["run", "--yes", "--cpu", "1", "--image", "localhost/suanzu-absent:1", "--", "true"];
    let ran = command.args(args).output().unwrap();
    let err = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.code() == Some(1) && ran.stdout.is_empty(), "{err}");
    assert!(err.lines().last().is_some_and(|line| line.starts_with("error: lease-1 ")) && !err.contains('{'), "{err}");
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
