//! Nothing is ordered or ended without a yes.

use crate::world::World;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::{
    fs::File,
    io::{Read, Write},
    os::unix::ffi::OsStrExt,
    path::Path,
    process::Command,
};

/// The command on a terminal of its own, where this was typed; its exit code and all that the terminal shows.
fn on_a_terminal(command: &mut Command, typed: &[u8]) -> (Option<i32>, String) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).and_then(|()| unlockpt(&ours)).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options().read(true).write(true).open(Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()))).unwrap();
    let mut ours = File::from(ours);
    ours.write_all(typed).unwrap();
    command.stdin(theirs.try_clone().unwrap()).stderr(theirs.try_clone().unwrap()).stdout(theirs);
    let mut child = command.spawn().unwrap();
    // Nobody else may hold the terminal open: its end is the end of what is read.
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut shown = Vec::new();
    // The kernel says EIO once the last one has left.
    let _ = ours.read_to_end(&mut shown);
    (child.wait().unwrap().code(), String::from_utf8_lossy(&shown).into_owned())
}

fn leases(world: &World) -> usize {
    world.tenant(&["lease", "list"])["items"].as_array().unwrap().len()
}

#[test]
fn where_nobody_can_be_asked_nothing_is_done_without_yes() {
    let world = World::start();
    let id = world.rent(&["--cpu", "1", "--", "sleep", "4000"]);
    for args in [
        vec!["run", "--cpu", "1", "--", "echo", "spent"],
        vec!["lease", "create", "--cpu", "1"],
        vec!["lease", "stop", &id],
        vec!["lease", "destroy", &id],
    ] {
        let refused = world.try_tenant(&args);
        let err = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{args:?}: {err}");
        assert!(err.contains("--yes") && err.lines().count() == 1 && refused.stdout.is_empty(), "{args:?}: {err}");
    }
    assert_eq!((leases(&world), &world.lease(&id)["state"]), (1, &"running".into()));
}

#[test]
fn what_is_not_a_yes_does_nothing_and_says_so() {
    let world = World::start();
    // An end of input is what Ctrl-D makes.
    for typed in [b"n\n".as_slice(), b"\n", b"\x04"] {
        for args in [["run", "--cpu=1"].as_slice(), &["lease", "create", "--cpu=1"]] {
            let (code, shown) = on_a_terminal(world.command_of_tenant().args(args), typed);
            assert_eq!(code, Some(1), "{args:?}: {shown}");
            assert!(shown.contains("[y/N]") && shown.contains("Nothing was done."), "{args:?}: {shown}");
        }
    }
    assert_eq!(leases(&world), 0);
    let (code, shown) =
        on_a_terminal(world.command_of_tenant().args(["lease", "create", "--cpu=1", "--", "sleep", "4000"]), b"y\n");
    assert_eq!((code, leases(&world)), (Some(0), 1), "{shown}");
}
