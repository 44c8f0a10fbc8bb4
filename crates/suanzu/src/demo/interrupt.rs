//! Ctrl-C and TERM: heard at any time, so that the demo cleans up behind itself wherever it is.

use std::{
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};
use tokio::signal::unix::{SignalKind, signal};

/// Whether somebody wants the demo to end.
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
        drop(entered);
        thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! { _ = terminate.recv() => {}, _ = ctrl_c.recv() => {} }
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

    /// Waits until somebody wants it to end.
    pub fn wait(&self) {
        while !self.within(Duration::from_secs(3600)) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_hears_of_it_at_once_and_ever_after() {
        let interrupt = Interrupt::default();
        assert!(!interrupt.within(Duration::ZERO));
        let other = interrupt.clone();
        let raising = thread::spawn(move || other.raise());
        interrupt.wait();
        raising.join().unwrap();
        assert!(interrupt.within(Duration::ZERO));
    }
}
