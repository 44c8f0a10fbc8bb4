//! The watcher of a container workload: ends it when its money ends, also when no agent is there.

use crate::{
    Failure,
    host::{
        clock,
        container::{dial, is_already, is_missing, stop_options},
        folder::Folder,
        record::{End, Record, State},
        sign::SignFile,
    },
};
use bollard::{Docker, errors::Error};
use protocol::Generation;
use rustix::{
    fs::inotify::{self, CreateFlags, WatchFlags},
    process::setsid,
};
use serde::{Deserialize, Serialize};
use std::{
    mem::MaybeUninit,
    path::PathBuf,
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};
use tokio::runtime::{Builder, Runtime};

/// How long the watcher sleeps at most: between two signs of life, and until it ends after its container did. Each is a
/// question to the engine, which is dearer than a process's sign; and the engine mostly knows the end itself.
const LONGEST_SLEEP_MS: u64 = 5_000;

/// Before an engine that did not answer is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// What the watcher needs to know.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WatchOrder {
    pub(crate) born: Generation,
    pub(crate) socket: PathBuf,
    /// The container's id: a later one of the same name is another watcher's.
    pub(crate) container: String,
    pub(crate) grace_ms: u64,
}

/// Watches the container of a state folder until it has ended.
pub(super) fn run(folder: &Folder) -> Result<(), Failure> {
    let order: WatchOrder = folder.order()?.ok_or_else(|| Failure::lasting("watch a container", "it has no order"))?;
    // A session of its own, so that no signal of the agent's terminal reaches it; it may lead one already.
    let _ = setsid();
    folder.set_record(&Record::now(order.born, State::Running))?;
    let told = watch_control(folder)?;
    let signs = SignFile::open(&folder.sign_file());
    let runtime = Builder::new_current_thread().enable_all().build();
    let engine = Engine { order, runtime: runtime.map_err(|source| Failure::passing("start the watcher", source))? };
    loop {
        let now = clock::since_boot_ms();
        let stop_at = folder.control()?.stop_at_ms.unwrap_or(u64::MAX);
        if stop_at <= now {
            return end(folder, &engine);
        }
        // A control file that cannot be read any more means that the folder is gone, and the container with it.
        if !folder.exists() {
            return Ok(());
        }
        match engine.runs() {
            Some(true) => signs.touch(),
            Some(false) => return Ok(()),
            None => {}
        }
        // Woken by the agent or by the clock: both are looked at above.
        let _ = told.recv_timeout(Duration::from_millis((stop_at - now).min(LONGEST_SLEEP_MS)));
    }
}

/// The money has ended: stops the container, as often as it takes.
fn end(folder: &Folder, engine: &Engine) -> Result<(), Failure> {
    let ending = Record::now(engine.order.born, State::Ending(End::OutOfFunds));
    folder.set_record(&ending)?;
    while !engine.stop() {
        thread::sleep(ASK_AGAIN);
    }
    folder.set_record(&Record { state: State::Ended(End::OutOfFunds), ..ending })
}

struct Engine {
    order: WatchOrder,
    runtime: Runtime,
}

impl Engine {
    /// Dials anew each time: the engine may have been restarted meanwhile.
    fn docker(&self) -> Option<Docker> {
        dial(&self.order.socket).ok()
    }

    /// Whether the container may still run; `None` where the engine does not say.
    fn runs(&self) -> Option<bool> {
        let docker = self.docker()?;
        match self.runtime.block_on(docker.inspect_container(&self.order.container, None)) {
            Ok(container) => {
                use bollard::models::ContainerStateStatusEnum::{DEAD, EXITED};
                Some(!matches!(container.state?.status?, EXITED | DEAD))
            }
            Err(error) if is_missing(&error) => Some(false),
            Err(_) => None,
        }
    }

    /// Whether the container has been stopped.
    fn stop(&self) -> bool {
        let Some(docker) = self.docker() else { return false };
        let stopped = docker.stop_container(&self.order.container, Some(stop_options(self.order.grace_ms)));
        match self.runtime.block_on(stopped) {
            Ok(()) => true,
            Err(Error::DockerResponseServerError { status_code: 404, .. }) => true,
            Err(error) if is_already(&error) => self.runs() == Some(false),
            Err(_) => false,
        }
    }
}

fn watch_control(folder: &Folder) -> Result<Receiver<()>, Failure> {
    let failed = |source: rustix::io::Errno| Failure::passing("watch the control file", std::io::Error::from(source));
    let watch = inotify::init(CreateFlags::CLOEXEC).map_err(failed)?;
    inotify::add_watch(&watch, folder.path(), WatchFlags::MOVED_TO).map_err(failed)?;
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(watch, &mut buffer);
        while reader.next().is_ok() && tell.send(()).is_ok() {}
    });
    Ok(told)
}
