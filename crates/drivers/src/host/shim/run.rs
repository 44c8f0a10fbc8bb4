//! The shim of a process workload: starts it, keeps its output, ends it when told or when its money ends.

use super::{Job, Stdin, hand_over, output, tree};
use crate::{
    Failure,
    host::{
        cgroups, clock,
        folder::{Folder, ShimOrder},
        processes::Mark,
        record::{End, Record, State},
        sign::{Sign, SignFile},
    },
};
use rustix::{
    fs::inotify::{self, CreateFlags, WatchFlags},
    process::{Signal, WaitOptions, getpid, set_child_subreaper, setsid, wait},
};
use std::{
    io::{self, PipeReader, Read},
    mem::MaybeUninit,
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    process::Command,
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

/// Between two signs of life: as much as a tenant is given where nobody saw the end, for a write of one page each.
/// After the machine was suspended a deadline is late by no more than this.
pub(crate) const LONGEST_SLEEP_MS: u64 = 2_000;

/// Between two rounds of KILL: a process that forks while it is listed is caught by the next.
const KILL_AGAIN_MS: u64 = 20;

/// How long the last output may take to arrive after the tree is gone; only a descriptor passed elsewhere takes longer.
const DRAIN: Duration = Duration::from_secs(2);

/// What wakes the shim.
enum Event {
    /// A child ended with this code.
    Reaped(i32, i32),
    /// There is no child left, and so no descendant.
    Childless,
    /// The agent may have changed the control file.
    Told,
}

/// Runs the workload of a state folder to its end.
pub(super) fn run(folder: Folder) -> Result<(), Failure> {
    let order: ShimOrder = folder.order()?.ok_or_else(|| Failure::lasting("run a workload", "it has no order"))?;
    if folder.record()?.is_some() {
        return Err(Failure::lasting("run a workload", "it has been run before"));
    }
    folder.set_record(&Record::now(order.born, State::Starting))?;
    let (events, inbox) = mpsc::channel();
    match Shim::start(folder.clone(), order.clone(), events) {
        Ok(shim) => shim.serve(&inbox),
        Err(failure) => {
            tree::kill_leftovers(&order);
            folder.set_record(&Record::now(order.born, State::Ended(End::Failed(failure.reason))))
        }
    }
}

struct Shim {
    folder: Folder,
    order: ShimOrder,
    own: i32,
    main: i32,
    signs: SignFile,
    ending: Option<Ending>,
    childless: bool,
    drained: Receiver<()>,
}

/// How the workload is being ended.
struct Ending {
    end: End,
    since: Sign,
    /// From when on with KILL, in milliseconds since the machine's start.
    kill_at_ms: u64,
}

impl Shim {
    fn start(folder: Folder, order: ShimOrder, events: Sender<Event>) -> Result<Shim, Failure> {
        // A session of its own, so that no signal of the agent's terminal reaches it; it may lead one already.
        let _ = setsid();
        set_child_subreaper(Some(getpid())).map_err(failing("adopt orphans"))?;
        let own = Mark::own().pid;
        let (main, channel, output) = spawn_stage(&order).map_err(failing("start the stage"))?;
        cgroups::attach(&order.cgroups, main).map_err(failing("limit the workload"))?;
        hand_over(&channel, &job(&folder, &order, own)).map_err(failing("hand the job over"))?;
        wait_until_it_runs(channel)?;
        folder.set_record(&Record::now(order.born, State::Running))?;
        let drained = keep_output(&folder, &order, output);
        watch_control(&folder, events.clone()).map_err(failing("watch the control file"))?;
        thread::spawn(move || reap(&events));
        let signs = SignFile::open(&folder.sign_file());
        Ok(Shim { folder, order, own, main, signs, ending: None, childless: false, drained })
    }

    fn serve(mut self, inbox: &Receiver<Event>) -> Result<(), Failure> {
        self.heed_control()?;
        while !self.is_done() {
            match inbox.recv_timeout(self.sleep()) {
                Ok(Event::Reaped(pid, code)) if pid == self.main => self.note_exit(code)?,
                Ok(Event::Reaped(..)) => {}
                Ok(Event::Childless) => self.childless = true,
                Ok(Event::Told) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.heed_control()?;
            self.press_on();
            if self.ending.is_none() {
                self.signs.touch();
            }
        }
        // Whatever is still on its way is not worth more than this.
        let _ = self.drained.recv_timeout(DRAIN);
        let (end, since) = match self.ending {
            // What came after is its teardown, which is nobody's service.
            Some(ending) => (ending.end, ending.since),
            None => (End::Failed("it ended without a status".into()), Sign::now()),
        };
        self.folder.set_record(&Record { since, ..Record::now(self.order.born, State::Ended(end)) })
    }

    fn is_done(&self) -> bool {
        self.childless && cgroups::processes(&self.order.cgroups).is_empty()
    }

    /// Until something is due by the clock.
    fn sleep(&self) -> Duration {
        let now = clock::since_boot_ms();
        let due = match &self.ending {
            Some(ending) if ending.kill_at_ms <= now => now + KILL_AGAIN_MS,
            Some(ending) => ending.kill_at_ms,
            None => self.folder.control().ok().and_then(|control| control.stop_at_ms).unwrap_or(u64::MAX),
        };
        Duration::from_millis(due.saturating_sub(now).min(LONGEST_SLEEP_MS))
    }

    fn heed_control(&mut self) -> Result<(), Failure> {
        if self.ending.is_some() {
            return Ok(());
        }
        let control = self.folder.control()?;
        if control.end {
            self.begin_end(End::Requested, self.order.grace_ms)
        } else if control.stop_at_ms.is_some_and(|at| at <= clock::since_boot_ms()) {
            self.begin_end(End::OutOfFunds, self.order.grace_ms)
        } else {
            Ok(())
        }
    }

    /// The first process ended: what it left behind is killed, as when the first process of a container ends.
    fn note_exit(&mut self, code: i32) -> Result<(), Failure> {
        match &self.ending {
            None => self.begin_end(End::Exited(code), 0),
            Some(_) => Ok(()),
        }
    }

    fn begin_end(&mut self, end: End, grace_ms: u64) -> Result<(), Failure> {
        let record = Record::now(self.order.born, State::Ending(end.clone()));
        self.ending = Some(Ending { end, kill_at_ms: record.since.up_ms.saturating_add(grace_ms), since: record.since.clone() });
        self.folder.set_record(&record)?;
        if grace_ms > 0 {
            tree::of(&self.order, self.own).iter().for_each(|stat| stat.signal(Signal::TERM));
        }
        Ok(())
    }

    fn press_on(&self) {
        if self.ending.as_ref().is_some_and(|ending| ending.kill_at_ms <= clock::since_boot_ms()) {
            tree::of(&self.order, self.own).iter().for_each(|stat| stat.signal(Signal::KILL));
        }
    }
}

fn failing<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Failure {
    move |source| Failure::passing(doing, source.into())
}

fn spawn_stage(order: &ShimOrder) -> io::Result<(i32, UnixStream, PipeReader)> {
    let (channel, theirs) = UnixStream::pair()?;
    let (output, writer) = io::pipe()?;
    let mut stage = Command::new("/proc/self/exe");
    stage.args(&order.shim).arg("stage").env_clear().stdin(OwnedFd::from(theirs));
    stage.stdout(writer.try_clone()?).stderr(writer);
    if let Some((user, group)) = order.run_as {
        stage.gid(group).uid(user);
    }
    let child = stage.spawn()?;
    Ok((i32::try_from(child.id()).map_err(io::Error::other)?, channel, output))
}

fn job(folder: &Folder, order: &ShimOrder, own: i32) -> Job {
    let argv = if order.argv.is_empty() { placeholder(order) } else { order.argv.clone() };
    Job { argv, env: order.env.clone(), folder: folder.work(), stdin: Stdin::Null, dies_with: Some(own) }
}

/// A workload that only waits: this very binary, told to.
fn placeholder(order: &ShimOrder) -> Vec<String> {
    let words = ["/proc/self/exe".to_owned()].into_iter().chain(order.shim.iter().cloned());
    words.chain(["wait".to_owned()]).collect()
}

/// The channel closes when the stage has become the workload; a reason comes where it could not.
fn wait_until_it_runs(mut channel: UnixStream) -> Result<(), Failure> {
    let mut reason = String::new();
    channel.read_to_string(&mut reason).map_err(failing("start the workload"))?;
    if reason.is_empty() { Ok(()) } else { Err(Failure::lasting("start the workload", reason)) }
}

fn keep_output(folder: &Folder, order: &ShimOrder, output: PipeReader) -> Receiver<()> {
    let (done, drained) = mpsc::channel();
    let (path, limits) = (folder.output(), order.output);
    thread::spawn(move || {
        output::keep(output, &path, limits);
        // The shim may have given up on it.
        let _ = done.send(());
    });
    drained
}

fn watch_control(folder: &Folder, events: Sender<Event>) -> rustix::io::Result<()> {
    let watch = inotify::init(CreateFlags::CLOEXEC)?;
    inotify::add_watch(&watch, folder.path(), WatchFlags::MOVED_TO)?;
    thread::spawn(move || {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(watch, &mut buffer);
        while reader.next().is_ok() && events.send(Event::Told).is_ok() {}
    });
    Ok(())
}

/// Waits for every child, the adopted ones too.
fn reap(events: &Sender<Event>) {
    loop {
        let event = match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => Event::Reaped(pid.as_raw_nonzero().get(), code_of(status)),
            Err(rustix::io::Errno::INTR) | Ok(None) => continue,
            Err(_) => Event::Childless,
        };
        let last = matches!(event, Event::Childless);
        if events.send(event).is_err() || last {
            return;
        }
    }
}

/// As a shell says it: 128 + signal where a signal ended it.
fn code_of(status: rustix::process::WaitStatus) -> i32 {
    status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal)).unwrap_or(-1)
}
