//! Ctrl-C, TERM, and a terminal that is closed: heard at any time, so that whoever has rented something ends it.

use std::{
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};
use tokio::signal::unix::{SignalKind, signal};

/// Whether somebody wants this process to end.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<(Mutex<bool>, Condvar)>);

impl Interrupt {
    /// Listens from now on.
    pub fn listen() -> std::io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        let heard = interrupt.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let entered = runtime.enter();
        let (mut terminate, mut ctrl_c) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        // Under nohup the closed terminal is not to be heard.
        let mut hangup = (!is_ignored(HANGUP)).then(|| signal(SignalKind::hangup())).transpose()?;
        drop(entered);
        thread::spawn(move || {
            runtime.block_on(async {
                let hung_up = async {
                    match &mut hangup {
                        Some(hangup) => hangup.recv().await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! { _ = terminate.recv() => {}, _ = ctrl_c.recv() => {}, _ = hung_up => {} }
            });
            heard.raise();
        });
        Ok(interrupt)
    }

    fn raise(&self) {
        let (told, changed) = &*self.0;
        *told.lock().expect("nobody panics while holding a flag") = true;
        changed.notify_all();
    }

    /// Waits so long, or until somebody wants it to end. Says whether somebody does.
    pub fn within(&self, wait: Duration) -> bool {
        let (told, changed) = &*self.0;
        let told = told.lock().expect("nobody panics while holding a flag");
        *changed.wait_timeout_while(told, wait, |told| !*told).expect("nobody panics while holding a flag").0
    }

    /// Whether somebody wants it to end.
    pub fn is_raised(&self) -> bool {
        self.within(Duration::ZERO)
    }

    /// Waits until somebody wants it to end.
    pub fn wait(&self) {
        while !self.within(Duration::from_secs(3600)) {}
    }
}

/// SIGHUP, by its number (signal(7)).
const HANGUP: u32 = 1;

/// Whether whoever started this process wants it not to hear this signal, as the kernel tells (proc_pid_status(5)).
fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_hears_of_it_at_once_and_ever_after() {
        let interrupt = Interrupt::default();
        assert!(!interrupt.is_raised());
        let other = interrupt.clone();
        let raising = thread::spawn(move || other.raise());
        interrupt.wait();
        raising.join().unwrap();
        assert!(interrupt.is_raised());
    }
}
