//! An agent of its own process, that joins over HTTP.

use crate::{
    os::{self, marked, sleepers},
    world::{World, until},
};
use std::{fs::File, process::Child};

/// An agent that is ended with the test.
struct Joined(Child);

impl Drop for Joined {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn join(world: &World, secret: &str) -> Joined {
    let log = File::create(world.file("agent.log")).unwrap();
    let mut command = world.command(secret);
    command.args(["agent", "run", "--state"]).arg(world.file("agent")).stderr(log);
    Joined(command.spawn().unwrap())
}

#[test]
fn an_agent_joins_over_http_and_what_it_runs_outlives_it() {
    let world = World::with(&["--no-host"]);
    let added = world.operator(&["agent", "add", "rack-1"]);
    let secret = added["secret"].as_str().unwrap();
    let agent = join(&world, secret);
    until("its node is on offer", || (world.operator(&["node", "list"])["items"][0]["mark"] == "offered").then_some(()));
    let mark = os::mark("agent");
    let env = format!("{}={mark}", os::MARK);
    let id = world.rent(&["--cpu", "1", "--env", &env, "--", "sh", "-c", "echo far away; sleep 4000"]);
    let before = until("it runs", || Some(sleepers(&mark)).filter(|pids| pids.len() == 1));
    until("its output is read", || {
        let logs = world.try_tenant(&["lease", "logs", &id]);
        (String::from_utf8_lossy(&logs.stdout) == "far away\n").then_some(())
    });
    drop(agent);
    assert_eq!(sleepers(&mark), before, "the workload does not notice that its agent is gone");
    let _agent = join(&world, secret);
    world.tenant(&["lease", "stop", &id, "--yes", "--wait=60s"]);
    assert_eq!(marked(&mark).len(), 0, "the next agent adopted it and ended it");
}

#[test]
fn an_agent_without_a_key_is_told_how_to_get_one() {
    let world = World::with(&["--no-host"]);
    let mut command = world.command("");
    let ended = command.env_remove("SUANZU_KEY").args(["agent"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("suanzu agent add"));
}

#[test]
fn what_will_not_pass_by_itself_ends_an_agent_before_it_says_that_it_runs() {
    let world = World::with(&["--no-host"]);
    let secret = world.operator(&["agent", "add", "rack-1"])["secret"].as_str().unwrap().to_owned();
    let mut runs =
        vec![(world.command("sz_nobody"), vec![], 4, "agent add"), (world.command_of_tenant(), vec![], 4, "agent add")];
    runs.push((world.command_of_operator(), vec![], 4, "agent add"));
    runs.push((world.command(&secret), vec!["--pool", "racks"], 3, "suanzu pool add racks"));
    for (mut command, args, code, advice) in runs {
        let ended = command.args(["agent", "run", "--state"]).arg(world.file("agent")).args(&args).output().unwrap();
        let err = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code() == Some(code) && err.contains(advice), "{args:?}: {err}");
        assert!(!err.contains("runs leases"), "{err}");
    }
}
