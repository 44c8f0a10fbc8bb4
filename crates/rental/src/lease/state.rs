//! Leases that are not ended, and the ordered indexes that time and agents read.

mod fold;

pub(crate) use fold::apply;

use super::{Event, OnFailure, Reason, Then};
use crate::Table;
use billing::SkuId;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, ops::Bound};
use units::{Ask, Grant, LeaseId, Micro, NodeId, ProjectId, Slice, TenantId, Ticks, Time};

/// Where a lease is; see the picture at the top of this area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waits for room.
    Queued,
    /// Placed, not yet usable on every node.
    Starting,
    /// Usable, and charged.
    Running,
    /// Charged no more, not yet gone from every node.
    Stopping(Then),
    /// Has no place; may be started again.
    Stopped,
}

/// How far a node's part of a lease is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Seen {
    /// Not heard of.
    NotYet,
    /// Usable.
    Ready,
    /// Nothing of it is left.
    Gone,
}

/// A lease's part on one node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// What it has there.
    pub grant: Grant,
    /// What that counts against the tenant's limit, in thousandths of a card.
    pub cards: u64,
    /// How far it is.
    pub seen: Seen,
}

/// What is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Priced {
    /// The SKU.
    pub sku: SkuId,
    /// How much of it, in thousandths.
    pub milli: u64,
}

/// A lease that is not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lease {
    /// Its id.
    pub id: LeaseId,
    /// Whose.
    pub tenant: TenantId,
    /// Of which project.
    pub project: ProjectId,
    /// What was asked for.
    pub ask: Ask,
    /// What becomes of it when its service fails.
    pub on_failure: OnFailure,
    /// Most that an hour may cost where it is placed.
    pub most: Option<Micro>,
    /// Where it is.
    pub status: Status,
    /// Since when.
    pub since: Time,
    /// Why it stopped, or is stopping.
    pub reason: Option<Reason>,
    /// More on why: of a wait, a stop, a failure.
    pub detail: String,
    /// How often it was placed.
    pub attempt: u32,
    /// How often in a row it was started in vain.
    pub failed_starts: u32,
    /// When it was ordered, or started again: its place in the queue.
    pub requested: Time,
    /// What is charged, once it was placed.
    pub priced: Option<Priced>,
    /// Its parts by node; empty where it has no place.
    pub members: Vec<Member>,
    /// When this run became usable.
    pub ready: Option<Time>,
    /// Covered until then.
    pub funded_until: Time,
    /// Since when it runs on grace.
    pub arrears_since: Option<Time>,
    /// Since when nothing covered it, until it is known how long it ran on.
    pub unfunded_from: Option<Time>,
    /// When the service of the last run ended.
    pub served_until: Option<Time>,
    /// Since when it has which size, in thousandths of the SKU, from the start of this run: what is given back is given
    /// back at the size it was charged at.
    pub sizes: Vec<(Time, u64)>,
    /// What earlier runs cost.
    pub charged_before: Ticks,
    /// The entry that last changed what should run.
    pub changed: u64,
}

impl Lease {
    /// Its part on a node, while something of it may be there.
    pub fn member(&self, node: NodeId) -> Option<&Member> {
        self.members.iter().find(|m| m.grant.node == node && m.seen != Seen::Gone)
    }

    /// Shares of devices that it has.
    pub fn slices(&self) -> impl Iterator<Item = &Slice> {
        self.members.iter().filter(|m| m.seen != Seen::Gone).flat_map(|m| &m.grant.slices)
    }

    /// The sizes that this run had over `[from, until)`, each with its stretch of it.
    pub fn sizes_over(&self, from: Time, until: Time) -> impl Iterator<Item = (Time, Time, u64)> {
        let ends = self.sizes.iter().skip(1).map(|(since, _)| *since).chain([Time::MAX]);
        let all = self.sizes.iter().zip(ends).map(move |((since, milli), end)| ((*since).max(from), end.min(until), *milli));
        all.filter(|(since, end, _)| since < end)
    }

    /// When time itself next concerns its money: the end of its cover while it runs.
    fn boundary(&self) -> Option<(Time, LeaseId)> {
        (self.status == Status::Running).then_some((self.funded_until, self.id))
    }

    fn end(&self) -> Option<(Time, LeaseId)> {
        let live = !matches!(self.status, Status::Stopping(_));
        self.ask.interval.until.filter(|_| live).map(|end| (end, self.id))
    }

    fn place_in_queue(&self) -> Option<(Time, LeaseId)> {
        (self.status == Status::Queued).then_some((self.requested, self.id))
    }

    /// Started again it waits like a new order; what comes back by no act of the tenant keeps its place.
    fn take_turn(&mut self, now: Time) {
        if self.status == Status::Stopped {
            self.requested = now;
            self.failed_starts = 0;
        }
    }
}

/// All leases that are not ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    // Boxed: 384 bytes each would be moved about within the tree.
    leases: Table<LeaseId, Box<Lease>>,
    /// Number of the last lease ever ordered.
    pub last: u64,
    boundaries: BTreeSet<(Time, LeaseId)>,
    ends: BTreeSet<(Time, LeaseId)>,
    queue: BTreeSet<(Time, LeaseId)>,
    tenants: Table<TenantId, OfTenant>,
    nodes: Table<NodeId, OnNode>,
}

/// A tenant's leases and what they count for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct OfTenant {
    leases: BTreeSet<LeaseId>,
    cards_milli: u64,
}

/// What a node has to do with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct OnNode {
    leases: Vec<LeaseId>,
    changed: u64,
}

/// Which entry an event stands in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    pub seq: u64,
    pub time: Time,
}

impl State {
    /// A lease that is not ended.
    pub fn get(&self, lease: LeaseId) -> Option<&Lease> {
        self.leases.get(lease).map(Box::as_ref)
    }

    /// All of them, ascending by id. Sorts: for lists and checks.
    pub fn all(&self) -> impl Iterator<Item = &Lease> {
        self.leases.sorted().into_iter().map(|(_, lease)| lease.as_ref())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.leases.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.leases.is_empty()
    }

    /// A tenant's leases after `after`, ascending.
    pub fn of_tenant(&self, tenant: TenantId, after: Option<LeaseId>) -> impl Iterator<Item = &Lease> {
        let from = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        let ids = self.tenants.get(tenant).into_iter().flat_map(move |t| t.leases.range(from));
        ids.filter_map(|id| self.get(*id))
    }

    /// How many leases a tenant has that are not ended.
    pub fn count_of(&self, tenant: TenantId) -> usize {
        self.tenants.get(tenant).map_or(0, |t| t.leases.len())
    }

    /// Cards in thousandths that count against a tenant's limit: until they are freed.
    pub fn cards_milli_of(&self, tenant: TenantId) -> u64 {
        self.tenants.get(tenant).map_or(0, |t| t.cards_milli)
    }

    /// Leases whose cover ends at or before `now`, by time.
    pub fn due_for_renewal(&self, now: Time) -> impl Iterator<Item = (Time, &Lease)> {
        self.boundaries.range(..=(now, LeaseId(u64::MAX))).filter_map(|(at, id)| Some((*at, self.get(*id)?)))
    }

    /// The first end of cover after `now`.
    pub fn next_boundary(&self, now: Time) -> Option<Time> {
        self.boundaries.range((now.plus_ms(1), LeaseId(0))..).next().map(|(at, _)| *at)
    }

    /// The lease whose own end comes first.
    pub fn first_end(&self) -> Option<(Time, LeaseId)> {
        self.ends.first().copied()
    }

    /// Waiting leases, the longest first, after a place in the queue.
    pub fn waiting(&self, after: Option<(Time, LeaseId)>) -> impl Iterator<Item = &Lease> {
        let from = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        self.queue.range(from).filter_map(|(_, id)| self.get(*id))
    }

    /// How many leases wait.
    pub fn queue_len(&self) -> usize {
        self.queue.len()
    }

    /// Leases that have something on a node, in the order they came.
    pub fn on_node(&self, node: NodeId) -> impl Iterator<Item = &Lease> {
        let ids = self.nodes.get(node).into_iter().flat_map(|n| &n.leases);
        ids.filter_map(|id| self.get(*id))
    }

    /// The entry that last changed what should run on a node.
    pub fn node_changed(&self, node: NodeId) -> u64 {
        self.nodes.get(node).map_or(0, |n| n.changed)
    }

    /// Recounts every index.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut expected = State { last: self.last, ..State::default() };
        let changes: Vec<(NodeId, u64)> = self.nodes.sorted().into_iter().map(|(id, n)| (id, n.changed)).collect();
        for lease in self.all() {
            expected.boundaries.extend(lease.boundary());
            expected.ends.extend(lease.end());
            expected.queue.extend(lease.place_in_queue());
            let tenant = expected.tenants.entry(lease.tenant);
            tenant.leases.insert(lease.id);
            tenant.cards_milli += lease.members.iter().filter(|m| m.seen != Seen::Gone).map(|m| m.cards).sum::<u64>();
        }
        for (node, _) in changes {
            let here: BTreeSet<LeaseId> = self.on_node(node).map(|l| l.id).collect();
            let should: BTreeSet<LeaseId> = self.all().filter(|l| l.member(node).is_some()).map(|l| l.id).collect();
            if here != should {
                return Err(format!("{node} has {here:?} but should have {should:?}"));
            }
        }
        for (tenant, of) in self.tenants.sorted() {
            let should = expected.tenants.get(tenant).cloned().unwrap_or_default();
            if *of != should {
                return Err(format!("{tenant} counts {of:?} but should count {should:?}"));
            }
        }
        let same = self.boundaries == expected.boundaries && self.ends == expected.ends && self.queue == expected.queue;
        if same { Ok(()) } else { Err("an index of leases is out of step".into()) }
    }

    /// Whether the fact may let a waiting lease in that could not be before: a card of the tenant's limit is free, one that
    /// waits is different, or one took a place before others that were tried.
    fn makes_room(&self, at: At, event: &Event) -> bool {
        let waits = |lease: LeaseId| self.leases.get(lease).is_some_and(|l| l.status == Status::Queued);
        match event {
            Event::MemberGone(_) => true,
            Event::Extended(e) => waits(e.lease),
            Event::Resized(_) => true,
            Event::Queued(e) => self.leases.get(e.lease).is_some_and(|l| {
                let turn = if l.status == Status::Stopped { at.time } else { l.requested };
                self.queue.last().is_some_and(|last| *last > (turn, l.id))
            }),
            _ => false,
        }
    }

    /// Cover that was reckoned with older prices ends where a new list begins.
    pub(crate) fn reprice(&mut self, from: Time, skus: &BTreeSet<SkuId>) {
        let affected = |l: &&Lease| l.funded_until > from && l.priced.is_some_and(|p| skus.contains(&p.sku));
        let running = self.boundaries.iter().filter_map(|(_, id)| self.get(*id));
        let affected: Vec<LeaseId> = running.filter(affected).map(|lease| lease.id).collect();
        for lease in affected {
            self.change(lease, |lease| lease.funded_until = from);
        }
    }

    /// Changes a lease and keeps the indexes in step.
    fn change(&mut self, id: LeaseId, change: impl FnOnce(&mut Lease)) {
        let lease = self.leases.get_mut(id).expect("events name leases that are not ended");
        let before = (lease.boundary(), lease.end(), lease.place_in_queue());
        change(lease);
        let after = (lease.boundary(), lease.end(), lease.place_in_queue());
        step(&mut self.boundaries, before.0, after.0);
        step(&mut self.ends, before.1, after.1);
        step(&mut self.queue, before.2, after.2);
    }

    fn touch(&mut self, lease: LeaseId, seq: u64) {
        let Some(lease) = self.leases.get_mut(lease) else { return };
        lease.changed = seq;
        for member in lease.members.iter().filter(|m| m.seen != Seen::Gone) {
            self.nodes.entry(member.grant.node).changed = seq;
        }
    }
}

fn step(index: &mut BTreeSet<(Time, LeaseId)>, before: Option<(Time, LeaseId)>, after: Option<(Time, LeaseId)>) {
    if before == after {
        return;
    }
    if let Some(before) = before {
        index.remove(&before);
    }
    index.extend(after);
}
