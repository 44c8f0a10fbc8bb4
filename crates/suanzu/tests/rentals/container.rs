//! Container leases, where an engine is at hand: the same promises as for processes.

use crate::{
    bill,
    os::{self, marked, sleepers},
    world::{World, until},
};
use std::os::unix::net::UnixStream;

/// An image with a shell, loaded into the engine beforehand.
const IMAGE: &str = "localhost/suanzu-busybox:1";

/// Whether the engine that `SUANZU_CONTAINER_SOCKET` names answers; says so where it does not.
fn engine() -> bool {
    let answers = std::env::var_os("SUANZU_CONTAINER_SOCKET").is_some_and(|socket| UnixStream::connect(socket).is_ok());
    if !answers {
        eprintln!("skipped: no container engine");
    }
    answers
}

fn rent(world: &World, mark: &str) -> String {
    let env = format!("{}={mark}", os::MARK);
    let script = "(sleep 4000 &); echo started; sleep 4001";
    world.rent(&["--cpu", "1", "--image", IMAGE, "--env", &env, "--grace", "500ms", "--", "sh", "-c", script])
}

#[test]
fn a_container_is_rented_watched_stopped_and_billed_to_the_tick() {
    if !engine() {
        return;
    }
    let world = World::start();
    let mark = os::mark("container");
    let id = rent(&world, &mark);
    until("its processes run", || Some(sleepers(&mark)).filter(|pids| pids.len() == 2));
    until("its output is read", || {
        let logs = world.try_tenant(&["lease", "logs", &id]);
        String::from_utf8_lossy(&logs.stdout).contains("started").then_some(())
    });
    let exec = world.try_tenant(&["lease", "exec", &id, "--", "sh", "-c", "exit 5"]);
    assert_eq!(exec.status.code(), Some(5), "{}", String::from_utf8_lossy(&exec.stderr));
    world.tenant(&["lease", "stop", &id, "--yes", "--wait=60s"]);
    assert_eq!(marked(&mark).len(), 0, "nothing of it is left on the machine");
    bill::check(&world.tenant(&["lease", "receipt", &id]));
}

#[test]
fn a_container_outlives_a_server_that_is_killed_and_is_metered_once() {
    if !engine() {
        return;
    }
    let mut world = World::start();
    let mark = os::mark("container-killed");
    let id = rent(&world, &mark);
    let before = until("its processes run", || Some(sleepers(&mark)).filter(|pids| pids.len() == 2));
    let ready = world.lease(&id)["ready"].clone();
    world.kill();
    assert_eq!(sleepers(&mark), before, "the workload does not notice");
    world.restart();
    let lease = world.lease(&id);
    assert_eq!((&lease["state"], &lease["ready"]), (&"running".into(), &ready));
    world.tenant(&["lease", "destroy", &id, "--yes", "--wait=60s"]);
    assert_eq!(marked(&mark).len(), 0, "nothing of it is left on the machine");
    let receipt = world.tenant(&["lease", "receipt", &id]);
    bill::check(&receipt);
    assert_eq!(receipt["runs"], 1);
}
