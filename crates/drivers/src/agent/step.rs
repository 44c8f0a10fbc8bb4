//! One step of an agent: note what is listed, act on the differences, measure, and draw up the report.

use super::{Agent, trace::Trace};
use crate::{Action, Cleanliness, Driver, GrantedDevice, Held, Listing, Order, reconcile};
use protocol::{Fault, Instance, Report};
use std::collections::BTreeMap;
use units::{DeviceId, Phase, Slice, Time, Wanted};

/// Complete listings that must lack a workload before the direct question is put.
const LISTINGS_BEFORE_ABSENT: u32 = 2;

/// A deadline that moved by less is left alone: the answer's way through the network moves it that much.
const DEADLINE_SLACK_MS: i64 = 1_000;

/// Before a start that failed is repeated: long enough not to press an engine that is coming up.
const RETRY_MS: i64 = 1_000;

impl Agent {
    pub(super) fn act_on(&mut self, driver: &mut dyn Driver, now: Time) {
        let mut listing = driver.observe(now);
        // Another agent of the same log may use the same backend: its nodes are its own.
        listing.seen.retain(|seen| self.nodes.contains_key(&seen.instance.node));
        self.unsettled = !listing.failures.is_empty();
        self.note(&listing, now);
        for action in reconcile(&self.assigned, &self.log, &listing.seen) {
            self.act(driver, action, now);
        }
        self.move_deadlines(driver, now);
        self.measure(driver, now);
        self.note_faults(driver, now);
    }

    fn note(&mut self, listing: &Listing, now: Time) {
        for trace in self.traces.values_mut() {
            trace.present = false;
            trace.missing += u32::from(listing.failures.is_empty());
        }
        for seen in listing.seen.iter().filter(|seen| seen.log == self.log) {
            let trace = self.traces.entry(seen.instance).or_default();
            trace.known = true;
            trace.present = true;
            trace.missing = 0;
            trace.last_seen = Some(now);
            trace.enter(seen.phase.clone(), now.plus_ms(-i64::try_from(seen.ago_ms).unwrap_or(i64::MAX)));
        }
        let assigned = &self.assigned;
        self.traces.retain(|instance, trace| trace.present || assigned.get(*instance).is_some());
    }

    fn act(&mut self, driver: &mut dyn Driver, action: Action, now: Time) {
        match action {
            // Repeated until it is seen to be gone; so a start that could not be interrupted is ended once it exists.
            Action::End(instance) => self.unsettled |= driver.end(instance, now).is_err(),
            Action::ConfirmGone(instance) => {
                // What is kept of it beside its processes goes too.
                self.unsettled |= driver.end(instance, now).is_err();
                self.conclude(driver, instance, Phase::Gone, now);
            }
            Action::Start(instance) => {
                let served = self.assigned.get(instance).is_some_and(|held| held.body.ready);
                let trace = self.traces.entry(instance).or_default();
                if !trace.known && !served && !trace.has_ended() {
                    self.start(driver, instance, now);
                } else if !trace.has_ended() {
                    let lost = Phase::Failed("it vanished from the node without a trace of its end".into());
                    self.conclude(driver, instance, lost, now);
                }
            }
        }
    }

    /// Concludes that a workload is absent, once enough speaks for it.
    fn conclude(&mut self, driver: &mut dyn Driver, instance: Instance, phase: Phase, now: Time) {
        let trace = self.traces.entry(instance).or_default();
        if trace.phase.as_ref() == Some(&phase) {
            return;
        }
        if trace.missing >= LISTINGS_BEFORE_ABSENT && matches!(driver.look(instance, now), Ok(None)) {
            // Nobody saw it end: it counts to where it was last seen.
            trace.enter(phase, trace.last_seen.unwrap_or(now));
        } else {
            self.unsettled = true;
        }
    }

    fn start(&mut self, driver: &mut dyn Driver, instance: Instance, now: Time) {
        self.unsettled = true;
        let order = self.order(instance);
        let trace = self.traces.entry(instance).or_default();
        // The listing may have missed it, and a second copy would be worse than a step's delay.
        if now < trace.retry_at || !matches!(driver.look(instance, now), Ok(None)) {
            return;
        }
        let order = match order {
            Ok(order) => order,
            Err(reason) => return trace.enter(Phase::Failed(reason), now),
        };
        trace.deadline = Some(order.stop_by);
        match driver.start(&order, now) {
            Ok(()) => {
                trace.known = true;
                trace.enter(Phase::Starting("starting".into()), now);
                self.unsettled = false;
            }
            Err(failure) if failure.retryable => {
                trace.retry_at = now.plus_ms(RETRY_MS);
                trace.enter(Phase::Starting(failure.to_string()), now);
            }
            Err(failure) => trace.enter(Phase::Failed(failure.to_string()), now),
        }
    }

    fn order(&self, instance: Instance) -> Result<Order, String> {
        let held = self.assigned.get(instance).ok_or("it is not assigned")?;
        let grant = held.body.assignment.grant.clone();
        let node = self.nodes.get(&instance.node).ok_or(format!("{} is not this agent's", instance.node))?;
        Ok(Order {
            instance,
            born: self.assigned.generation(),
            node: node.clone(),
            workload: held.body.workload.clone().ok_or("the server sent nothing to run")?,
            devices: grant.slices.iter().map(|slice| self.granted(slice)).collect::<Result<_, _>>()?,
            grant,
            env: held.body.env.clone(),
            stop_by: held.stop_by,
        })
    }

    fn granted(&self, slice: &Slice) -> Result<GrantedDevice, String> {
        let (uuid, index) = self.devices.get(&slice.device).ok_or(format!("{} is not this agent's", slice.device))?;
        Ok(GrantedDevice { uuid: uuid.clone(), index: *index, share: slice.share })
    }

    fn move_deadlines(&mut self, driver: &mut dyn Driver, now: Time) {
        for (instance, held) in self.assigned.iter().filter(|(_, held)| held.wanted() == Wanted::Run) {
            let Some(trace) = self.traces.get_mut(&instance).filter(|t| t.known && !t.has_ended()) else { continue };
            let near = |given: Option<Time>| match (given, held.stop_by) {
                (Some(given), Some(wanted)) => given.since(wanted).abs() < DEADLINE_SLACK_MS,
                (given, wanted) => given == wanted,
            };
            if trace.deadline.is_some_and(near) {
                continue;
            }
            match driver.set_deadline(instance, held.stop_by, now) {
                Ok(()) => trace.deadline = Some(held.stop_by),
                Err(_) => self.unsettled = true,
            }
        }
    }

    fn measure(&mut self, driver: &mut dyn Driver, now: Time) {
        let waiting: Vec<_> = self.measuring.difference(&self.clean).copied().collect();
        for device in waiting {
            // Others share the card and may stay on it: their neighbour's part is clean with its processes gone.
            if self.is_shared(device) {
                self.clean.insert(device);
                continue;
            }
            let Some((uuid, _)) = self.devices.get(&device) else { continue };
            match driver.measure_clean(uuid, now) {
                Ok(Cleanliness::Clean) => drop(self.clean.insert(device)),
                Ok(Cleanliness::Occupied { .. }) => {}
                Err(_) => self.unsettled = true,
            }
        }
    }

    fn is_shared(&self, device: DeviceId) -> bool {
        let uses = |held: &Held| held.body.assignment.grant.slices.iter().any(|slice| slice.device == device);
        self.assigned.iter().any(|(_, held)| held.wanted() == Wanted::Run && uses(held))
    }

    fn note_faults(&mut self, driver: &mut dyn Driver, now: Time) {
        let faults: BTreeMap<String, String> = driver.faults(now).into_iter().collect();
        let fault = |uuid: &String| faults.get(uuid).cloned();
        self.faults = self.devices.iter().filter_map(|(id, (uuid, _))| Some((*id, fault(uuid)?))).collect();
        let still = &self.faults;
        self.reported_faults.retain(|device, _| still.contains_key(device));
    }

    pub(super) fn report(&mut self, driver: &mut dyn Driver, now: Time) -> Report {
        let proof = now >= self.proof_due;
        if proof {
            self.proof_due = now.plus_ms(self.pace.proof_ms);
        }
        let assigned = || self.traces.iter().filter(|(instance, _)| self.assigned.get(**instance).is_some());
        let wanted = |instance| self.assigned.get(instance).is_some_and(|held| held.wanted() == Wanted::Run);
        let serves = |(instance, trace): &(&Instance, &Trace)| proof && trace.serves() && wanted(**instance);
        let new_fault = |(device, reason): (&_, &String)| {
            let known = self.reported_faults.get(device) == Some(reason);
            (!known).then(|| Fault { device: *device, reason: reason.clone() })
        };
        Report {
            agent: self.id,
            generation: self.assigned.generation(),
            observations: assigned().filter_map(|(instance, trace)| trace.news(*instance, now)).collect(),
            clean: self.clean.iter().copied().collect(),
            serving: assigned().filter(serves).map(|(instance, _)| *instance).collect(),
            faults: self.faults.iter().filter_map(new_fault).collect(),
            usage: if proof { driver.usage(now) } else { Vec::new() },
        }
    }
}
