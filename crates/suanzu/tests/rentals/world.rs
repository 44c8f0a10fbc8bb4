//! A server of its own for each test: the binary on a fresh data folder and a free port, spoken to by the command line only.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The binary under test.
const BINARY: &str = env!("CARGO_BIN_EXE_suanzu");
/// Far beyond what anything here takes on a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Asks again until there is an answer. Panics with `what` at the deadline.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "not in time: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A server and somebody who rents from it.
pub struct World {
    folder: TempDir,
    server: Child,
    options: Vec<String>,
    operator: String,
    tenant: String,
}

impl World {
    /// A server with this machine as its pool.
    pub fn start() -> World {
        World::with(&[])
    }

    /// A server with these options, prices, and a tenant with 100 CNY.
    pub fn with(options: &[&str]) -> World {
        let folder = tempfile::tempdir().unwrap();
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let server = serve(folder.path(), &options);
        // It listens before it says so.
        let operator = until("the operator's first key is shown", || secret_in(&folder.path().join("serve.log")));
        let mut world = World { folder, server, options, operator, tenant: String::new() };
        world.operator(&["price", "publish", "unit/cpu=0.36"]);
        let founded = world.operator(&["tenant", "create", "acme"]);
        world.tenant = founded["secret"].as_str().unwrap().to_owned();
        world.operator(&["wallet", "top-up", "100", "--payment", "first", "--tenant", "tenant-1"]);
        until("this machine is on offer", || {
            let nodes = world.operator(&["node", "list"]);
            (world.options.iter().any(|o| o == "--no-host") || nodes["items"][0]["mark"] == "offered").then_some(())
        });
        world
    }

    /// Where the server listens.
    pub fn url(&self) -> String {
        let listening: Value = serde_json::from_slice(&fs::read(self.data().join("listening.json")).unwrap()).unwrap();
        listening["url"].as_str().unwrap().to_owned()
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A file beside the data folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the operator's command answers. It must succeed.
    pub fn operator(&self, args: &[&str]) -> Value {
        answered(args, &self.run(&self.operator, args))
    }

    /// What the tenant's command answers. It must succeed.
    pub fn tenant(&self, args: &[&str]) -> Value {
        answered(args, &self.run(&self.tenant, args))
    }

    /// The tenant's command and however it ends.
    pub fn try_tenant(&self, args: &[&str]) -> Output {
        self.run(&self.tenant, args)
    }

    /// The command with this key and however it ends.
    pub fn run(&self, key: &str, args: &[&str]) -> Output {
        self.command(key).args(args).output().unwrap()
    }

    /// A command of this key's holder, not yet run. Nothing of the user's own configuration reaches it.
    pub fn command(&self, key: &str) -> Command {
        let mut command = bare(self.folder.path());
        command.env("SUANZU_DATA", self.data()).env("SUANZU_KEY", key);
        command
    }

    /// A command of the tenant's, not yet run.
    pub fn command_of_tenant(&self) -> Command {
        self.command(&self.tenant)
    }

    /// A command of the operator's, not yet run.
    pub fn command_of_operator(&self) -> Command {
        self.command(&self.operator)
    }

    /// Orders what `words` say and waits until it runs; gives the lease's id.
    pub fn rent(&self, words: &[&str]) -> String {
        let args = [&["lease", "create", "--yes", "--wait=60s"], words].concat();
        self.tenant(&args)["id"].as_str().unwrap().to_owned()
    }

    /// One lease.
    pub fn lease(&self, id: &str) -> Value {
        self.tenant(&["lease", "show", id])
    }

    /// The server dies without a chance to do anything.
    pub fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// The server is told to stop; gives how it ended.
    pub fn stop(&mut self) -> ExitStatus {
        kill_process(Pid::from_child(&self.server), Signal::TERM).unwrap();
        self.server.wait().unwrap()
    }

    /// The server starts again on the same folder, with these options.
    pub fn restart_with(&mut self, options: &[&str]) {
        self.options = options.iter().map(|option| (*option).to_owned()).collect();
        self.restart();
    }

    /// The server starts again on the same folder.
    pub fn restart(&mut self) {
        self.server = serve(self.folder.path(), &self.options);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if self.tenant.is_empty() || self.server.try_wait().is_ok_and(|ended| ended.is_some()) {
            let _ = self.server.kill();
            return;
        }
        // A test that failed halfway leaves nothing running on the machine.
        let left = self.run(&self.operator, &["lease", "list", "--quiet"]);
        for id in String::from_utf8_lossy(&left.stdout).lines() {
            let _ = self.run(&self.operator, &["lease", "destroy", id, "--yes", "--wait=20s"]);
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The binary without any surroundings of the user's.
pub fn bare(folder: &Path) -> Command {
    let mut command = Command::new(BINARY);
    for name in ["SUANZU_URL", "SUANZU_KEY", "SUANZU_DATA", "SUANZU_CA", "LC_ALL"] {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", folder.join("config")).env("LANG", "C.UTF-8").stdin(Stdio::null());
    command
}

/// Starts a server and waits until it has written down where it listens.
fn serve(folder: &Path, options: &[String]) -> Child {
    let data = folder.join("data");
    let log = File::options().create(true).append(true).open(folder.join("serve.log")).unwrap();
    let mut command = bare(folder);
    command.arg("serve").arg("--data").arg(&data).args(options).stderr(log);
    if !options.iter().any(|option| option == "--listen") {
        command.args(["--listen", "127.0.0.1:0"]);
    }
    let mut server = command.spawn().unwrap();
    let pid = u64::from(server.id());
    until("the server listens", || {
        if let Some(status) = server.try_wait().unwrap() {
            panic!("the server ended with {status}: {}", fs::read_to_string(folder.join("serve.log")).unwrap());
        }
        let written = fs::read(data.join("listening.json")).ok()?;
        let written: Value = serde_json::from_slice(&written).ok()?;
        (written["pid"] == pid).then_some(())
    });
    server
}

/// The key in this log, once its line is whole.
fn secret_in(log: &Path) -> Option<String> {
    let log = fs::read_to_string(log).unwrap();
    let lines = log.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.flat_map(str::split_whitespace).find(|word| word.starts_with("sz_")).map(Into::into)
}

fn answered(args: &[&str], output: &Output) -> Value {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{args:?} ended with {}: {err}{out}", output.status);
    if out.trim().is_empty() { Value::Null } else { serde_json::from_str(&out).unwrap() }
}
