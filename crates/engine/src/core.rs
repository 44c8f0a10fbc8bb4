//! One batch at a time: decide ahead of the disk, append durably, publish.

use crate::{
    Answer, FoldError, Idempotency, Liveness, Rejected, Snapshots, Submission,
    directory::{self, changes},
    fold::{decode, fold},
    published::Published,
    recent::Parts,
};
use journal::{Batch, Entry, Failure, Head, Header, Repeat, Source, Store};
use rental::{Command, Event, Failed, Part, Refusal, State, apply, decide, due, seal, seal_nothing};
use rustc_hash::FxHashMap;
use std::{
    ops::ControlFlow,
    sync::{Arc, MutexGuard, RwLockReadGuard},
};
use units::{KeyId, Owner, Time};

/// Due commands that one wake carries out at most, so that what people submit is never starved.
pub const MAX_DUE_PER_WAKE: usize = 4096;

/// The writer: the only holder of the append handle.
pub struct Engine {
    store: Box<dyn Store>,
    epoch: u64,
    /// What is durable, and what readers see of it.
    published: Arc<Published>,
    /// What is decided, ahead of the disk by the open batch.
    ahead: State,
    open: Open,
    failed: Failed,
    stopped: bool,
}

/// The batch that is being gathered.
#[derive(Default)]
struct Open {
    batch: Batch,
    parts: Vec<Parts>,
    /// Where a repeat within the batch finds the first answer.
    repeats: FxHashMap<(Owner, [u8; 32]), ([u8; 32], Answer)>,
}

impl Engine {
    /// Opens the writer: the newest snapshot, then every entry after it.
    pub fn open(
        store: Box<dyn Store>,
        snapshots: Option<&Snapshots>,
        reader: &mut (dyn Source + Send),
    ) -> Result<Engine, FoldError> {
        let mut committed = snapshots.map(|snapshots| snapshots.load(&*reader)).transpose()?.unwrap_or_default();
        fold(&mut committed, reader)?;
        Engine::with_state(store, committed)
    }

    /// A writer on a store whose entries are all folded into `committed`.
    pub fn with_state(store: Box<dyn Store>, committed: State) -> Result<Engine, FoldError> {
        let secrets = directory::Directory(&*store).secrets()?;
        let epoch = store.head().epoch.max(1);
        let ahead = committed.clone();
        let published = Arc::new(Published::new(committed, secrets, store.head()));
        for (agent, heard) in directory::Directory(&*store).heard()? {
            published.liveness().remember(agent, heard);
        }
        Ok(Engine { store, epoch, published, ahead, open: Open::default(), failed: Failed::default(), stopped: false })
    }

    /// What is durable.
    pub fn state(&self) -> RwLockReadGuard<'_, State> {
        self.published.state()
    }

    pub(crate) fn published(&self) -> Arc<Published> {
        Arc::clone(&self.published)
    }

    /// The store, to read.
    pub fn source(&self) -> &dyn Source {
        &*self.store
    }

    /// The store's keys: the log's id, its signing key, its secret.
    pub fn keys(&self) -> &journal::Keys {
        self.store.keys()
    }

    /// Where the log ends.
    pub fn head(&self) -> Head {
        self.store.head()
    }

    /// The key that a secret of this hash opens.
    pub fn authenticate(&self, hash: &[u8; 32]) -> Option<KeyId> {
        self.published.secret(hash)
    }

    /// Last signs of life.
    pub fn liveness(&self) -> MutexGuard<'_, Liveness> {
        self.published.liveness()
    }

    /// Why nothing can be written now: for good, or until there is room on the disk again.
    pub fn stopped(&self) -> Option<String> {
        self.published.stopped()
    }

    /// Decides one wish within the open batch. The answer is true once [`Engine::commit`] has succeeded, not before.
    pub fn submit(&mut self, now: Time, submission: Submission) -> Result<Answer, Rejected> {
        if self.stopped {
            return Err(Rejected::Stopped(self.published.stopped().unwrap_or_default()));
        }
        if let Some(first) = submission.idempotency.map(|key| self.first_answer(&key)).transpose()?.flatten() {
            return Ok(first);
        }
        let now = now.max(self.ahead.time);
        let events = decide(&self.ahead, now, &submission.command)?;
        // What nobody can repeat leaves no trace where it changes nothing. A repeat must find its first answer, whatever has
        // changed since: it would act where the first did not.
        if events.is_empty() && submission.idempotency.is_none() {
            return Ok(Answer { seq: None, time: now, parts: Arc::default(), repeated: false });
        }
        Ok(self.enter(now, submission, events))
    }

    /// What a wish would lead to; nothing is written.
    pub fn preview(state: &State, now: Time, command: &Command) -> Result<Vec<Event>, Refusal> {
        decide(state, now.max(state.time), command)
    }

    /// Carries out what is due, and gives the verdict on nodes that went silent. Returns how many commands.
    pub fn tick(&mut self, now: Time) -> usize {
        if self.stopped {
            return 0;
        }
        let now = now.max(self.ahead.time);
        if self.published.stopped().is_some() {
            // The disk may have room again: find out without waiting for somebody's wish.
            self.open.batch.directory.push(directory::probe(now));
        }
        let heard = self.published.liveness().due_to_keep(now);
        self.open.batch.directory.extend(heard.into_iter().map(|(agent, at)| directory::heard(agent, at)));
        let verdicts = self.published.liveness().verdicts(&self.ahead, now);
        for command in verdicts {
            // A verdict on what has moved on meanwhile is refused or empty: both are fine.
            let _ = self.submit(now, Submission::plain("liveness", command));
        }
        for done in 0..MAX_DUE_PER_WAKE {
            let Some(command) = due(&self.ahead, now, &mut self.failed) else { return done };
            let kind = command.kind();
            let answer = self.submit(now, Submission::plain("time", command));
            assert!(answer.is_ok_and(|a| a.seq.is_some()), "a due command is never refused and never empty: {kind}");
        }
        MAX_DUE_PER_WAKE
    }

    /// When [`Engine::tick`] has something to do if nothing happens before.
    pub fn next_wakeup(&self, now: Time) -> Option<Time> {
        rental::next_wakeup(&self.ahead, now)
    }

    /// Makes the open batch durable and publishes it. On a failure nothing of it is published; where it is not known
    /// what the disk holds, writes stop.
    pub fn commit(&mut self) -> Result<Head, Failure> {
        if self.open.batch.is_empty() {
            return Ok(self.store.head());
        }
        let open = std::mem::take(&mut self.open);
        match self.store.append(&open.batch) {
            Ok(head) => {
                self.published.add_secrets(open.batch.directory.iter().filter_map(secret_of));
                let mut state = self.published.change();
                open.parts.iter().for_each(|parts| apply(&mut state, &**parts));
                drop(state);
                self.published.recent.push(open.parts);
                self.published.stop(None);
                self.published.head.send_replace(head);
                Ok(head)
            }
            Err(failure) => {
                self.ahead = self.published.state().clone();
                self.failed = Failed::default();
                self.stopped = !failure.retryable();
                // A full disk is told, too, until an append succeeds again.
                self.published.stop(Some(failure.to_string()));
                Err(failure)
            }
        }
    }

    /// Carries out what is due and commits: one turn of the writer without anybody's wish.
    pub fn step(&mut self, now: Time) -> Result<Head, Failure> {
        self.tick(now);
        self.commit()
    }

    /// Signs where the log ends and keeps the checkpoint.
    pub fn checkpoint(&mut self) -> Result<String, Failure> {
        let head = self.store.head();
        let signed = self.store.keys().checkpoint(&head);
        self.store.keep_checkpoint(head.size, &signed)?;
        Ok(signed)
    }

    /// Forgets idempotency keys of entries before `before`.
    pub fn prune_repeats(&mut self, before: Time) -> Result<u64, Failure> {
        self.store.prune_repeats(before)
    }

    fn enter(&mut self, now: Time, submission: Submission, events: Vec<Event>) -> Answer {
        let changes = changes(&submission.attach, &events);
        let asker = submission.idempotency.map(|key| key.owner).filter(|_| events.is_empty());
        let parts: Parts = match asker {
            Some(owner) => [seal_nothing(&self.ahead, now, owner)].into(),
            None => seal(&self.ahead, now, events).into(),
        };
        let seq = self.ahead.seq + 1;
        let header = Header {
            format: journal::header::FORMAT,
            log: self.store.keys().log(),
            epoch: self.epoch,
            seq,
            time: now,
            command: submission.command.kind().into(),
            actor: submission.actor,
            key: submission.idempotency.map(|i| i.key),
            request: submission.idempotency.map(|i| i.request),
        };
        let entry = Entry::new(header, parts.iter().map(encode).collect());
        let answer = Answer { seq: Some(seq), time: now, parts: Arc::clone(&parts), repeated: false };
        self.open.batch.entries.push(entry);
        self.open.batch.directory.extend(changes);
        if let Some(key) = submission.idempotency {
            let Idempotency { owner, key, request } = key;
            self.open.batch.repeats.push(Repeat { owner, key, request, seq, time: now });
            self.open.repeats.insert((owner, key), (request, answer.clone()));
        }
        apply(&mut self.ahead, &*parts);
        self.open.parts.push(parts);
        answer
    }

    /// The answer that this owner's key got before, in the open batch or in the store.
    pub(crate) fn first_answer(&self, asked: &Idempotency) -> Result<Option<Answer>, Rejected> {
        let stopped = |failure: Failure| Rejected::Stopped(failure.to_string());
        let (request, answer) = match self.open.repeats.get(&(asked.owner, asked.key)) {
            Some((request, answer)) => (*request, Some(answer.clone())),
            None => match self.store.repeat(asked.owner, &asked.key).map_err(stopped)? {
                None => return Ok(None),
                Some(known) => (known.request, self.answer_of(known.seq).map_err(|e| Rejected::Stopped(e.to_string()))?),
            },
        };
        if request != asked.request {
            return Err(Rejected::KeyReused);
        }
        Ok(answer.map(|answer| Answer { repeated: true, ..answer }))
    }

    fn answer_of(&self, seq: u64) -> Result<Option<Answer>, FoldError> {
        let mut found = Ok(None);
        self.store.read(seq, &mut |stored| {
            found = decode(&stored).map(|parts| {
                let time = parts.first().map_or(Time(0), |part| part.time);
                Some(Answer { seq: Some(seq), time, parts: parts.into(), repeated: true })
            });
            ControlFlow::Break(())
        })?;
        found
    }
}

fn secret_of(change: &journal::Change) -> Option<([u8; 32], KeyId)> {
    match change {
        journal::Change::Put { key, value } => directory::secret(key, value),
        journal::Change::Delete { .. } => None,
    }
}

fn encode(part: &Part) -> journal::Part {
    // Most parts are a few hundred bytes.
    let mut bytes = Vec::with_capacity(384);
    minicbor::encode(part, &mut bytes).expect("a Vec takes every byte");
    journal::Part { owner: part.owner, bytes }
}
