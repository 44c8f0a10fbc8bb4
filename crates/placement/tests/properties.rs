//! Properties over random fleets and histories: the books always balance, what is placed can be taken, and a
//! search finds room exactly where a search without any summary finds it.

use placement::{
    DeviceSpec, DeviceView, Fleet, NodeSpec, NodeStatus, NodeView, Reason, alternatives, could_ever_fit, find, place,
};
use proptest::{collection::vec, prelude::*, sample::select};
use std::collections::BTreeMap;
use units::{Accept, Ask, Beside, DeviceId, Grant, Interval, NodeId, PoolId, Share, Size, Time, UnitKind};

/// Name, memory in MiB, TFLOPS × 1000, most shares. Two kinds share one name.
const KINDS: [(&str, u32, u32, u8); 5] = [
    ("A100", 40_000, 312_000, 8),
    ("A100", 80_000, 312_000, 8),
    ("T4", 16_000, 65_000, 3),
    ("L20", 48_000, 0, 2),
    ("H100", 80_000, 989_000, 0),
];

#[derive(Debug, Clone)]
enum Step {
    Rent(Ask),
    /// Frees, of what is taken, the one at this index (modulo their number); likewise for the next.
    Free(usize),
    Clear(usize),
    Status(usize, NodeStatus),
    Device(usize, bool),
}

fn node() -> impl Strategy<Value = NodeSpec> {
    let uniform = (0..KINDS.len(), 0..5_usize).prop_map(|(kind, count)| vec![kind; count]);
    node_of(prop_oneof![4 => uniform, 1 => vec(0..KINDS.len(), 1..5)])
}

fn node_of(kinds: impl Strategy<Value = Vec<usize>>) -> impl Strategy<Value = NodeSpec> {
    (1..3_u64, 0..9_u32, 0..9_u32, vec(select(vec!["north", "south"]), 0..2), kinds).prop_map(
        |(pool, cpu, memory, labels, kinds)| {
            let device = |kind: usize| {
                let (model, memory_mib, tflops_milli, max_shares) = KINDS[kind];
                DeviceSpec { id: DeviceId(0), model: model.into(), memory_mib, tflops_milli, max_shares }
            };
            NodeSpec {
                pool: PoolId(pool),
                cpu_milli: cpu * 1000,
                memory_mib: memory * 1024,
                labels: labels.into_iter().map(String::from).collect(),
                devices: kinds.into_iter().map(device).collect(),
            }
        },
    )
}

/// Many nodes of one kind of card.
fn alike() -> impl Strategy<Value = Vec<NodeSpec>> {
    (0..KINDS.len()).prop_flat_map(|kind| vec(node_of((1..4_usize).prop_map(move |count| vec![kind; count])), 20..60))
}

/// A few nodes, which are soon full, or more than one block of summaries has: of all kinds, or of one kind after the other.
fn fleet() -> impl Strategy<Value = Fleet> {
    let in_runs = (alike(), alike()).prop_map(|(first, second)| [first, second].concat());
    prop_oneof![3 => fleet_of(vec(node(), 1..7)), 1 => fleet_of(vec(node(), 30..70)), 1 => fleet_of(in_runs)]
}

fn fleet_of(nodes: impl Strategy<Value = Vec<NodeSpec>>) -> impl Strategy<Value = Fleet> {
    nodes.prop_map(|nodes| {
        let (mut fleet, mut device) = (Fleet::default(), 0);
        for (id, mut spec) in (1..).zip(nodes) {
            for at in &mut spec.devices {
                device += 1;
                at.id = DeviceId(device);
            }
            fleet.add_node(NodeId(id), spec);
        }
        fleet
    })
}

fn share() -> impl Strategy<Value = Share> {
    (select(vec![0, 100, 250, 333, 500, 1000]), select(vec![0, 4_096, 8_000, 16_000, 20_001, 40_000, 80_000]))
        .prop_map(|(compute, memory_mib)| Share { compute, memory_mib })
}

fn size() -> impl Strategy<Value = Size> {
    prop_oneof![
        1 => (0..3_u32).prop_map(Size::Servers),
        3 => (0..7_u32).prop_map(Size::Cards),
        4 => share().prop_map(Size::Share),
        2 => (0..900_000_u64).prop_map(|milli| Size::Units(UnitKind::Tflops, milli)),
        1 => (0..5_000_u64).prop_map(|milli| Size::Units(UnitKind::Cpu, milli)),
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let accept = (select(vec!["A100", "T4", "L20", "H100", "V100"]), 0..3_u32)
        .prop_map(|(model, rank)| Accept { model: model.into(), rank });
    let models = prop_oneof![2 => Just(Vec::new()), 2 => vec(accept, 1..4)];
    let beside = (0..3_u32, 0..3_u32).prop_map(|(cpu, memory)| Beside { cpu_milli: cpu * 1000, memory_mib: memory * 1024 });
    let labels = prop_oneof![4 => Just(vec![]), 1 => Just(vec!["north".to_string()]), 1 => Just(vec!["east".to_string()])];
    let pool = prop_oneof![3 => Just(None), 1 => (1..3_u64).prop_map(|id| Some(PoolId(id)))];
    let card_memory = select(vec![0, 0, 0, 40_000, 48_000]);
    (size(), models, card_memory, beside, pool, labels).prop_map(|(size, models, card_memory_mib, beside, pool, labels)| Ask {
        size,
        models,
        card_memory_mib,
        beside,
        pool,
        labels,
        interval: Interval { from: Time(0), until: None },
    })
}

fn step() -> impl Strategy<Value = Step> {
    let status = select(vec![NodeStatus::Offered, NodeStatus::Offered, NodeStatus::Draining, NodeStatus::Lost]);
    prop_oneof![
        8 => ask().prop_map(Step::Rent),
        3 => any::<usize>().prop_map(Step::Free),
        3 => any::<usize>().prop_map(Step::Clear),
        1 => (any::<usize>(), status).prop_map(|(at, status)| Step::Status(at, status)),
        1 => (any::<usize>(), any::<bool>()).prop_map(|(at, offered)| Step::Device(at, offered)),
    ]
}

/// A fleet and what its leases hold and have freed.
struct World {
    fleet: Fleet,
    taken: Vec<Vec<Grant>>,
    unclean: Vec<Vec<Grant>>,
}

impl World {
    fn new(fleet: Fleet) -> World {
        World { fleet, taken: Vec::new(), unclean: Vec::new() }
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Rent(ask) => {
                if let Some(grants) = find(&self.fleet, ask) {
                    self.fleet.take(&grants);
                    self.taken.push(grants);
                }
            }
            Step::Free(at) if !self.taken.is_empty() => {
                let grants = self.taken.swap_remove(at % self.taken.len());
                self.fleet.free(&grants);
                self.unclean.push(grants);
            }
            Step::Clear(at) if !self.unclean.is_empty() => {
                let grants = self.unclean.swap_remove(at % self.unclean.len());
                self.fleet.clear(&grants);
            }
            Step::Free(_) | Step::Clear(_) => {}
            Step::Status(at, status) => {
                let id = self.fleet.nodes().nth(at % self.fleet.nodes().len()).map(NodeView::id);
                self.fleet.set_node_offered(id.expect("a fleet has nodes"), *status);
            }
            Step::Device(at, offered) => {
                let devices: Vec<DeviceId> = self.fleet.nodes().flat_map(NodeView::devices).map(DeviceView::id).collect();
                if !devices.is_empty() {
                    self.fleet.set_device_offered(devices[at % devices.len()], *offered);
                }
            }
        }
    }
}

// The naive search: no summaries, no numbers for names.

fn rank(ask: &Ask, device: DeviceView<'_>) -> Option<u32> {
    if device.memory_mib() < ask.card_memory_mib {
        return None;
    }
    let ranks = ask.models.iter().filter(|accept| accept.model == device.model()).map(|accept| accept.rank);
    if ask.models.is_empty() { Some(0) } else { ranks.min() }
}

fn in_place(ask: &Ask, node: NodeView<'_>) -> bool {
    ask.pool.is_none_or(|pool| pool == node.pool()) && ask.labels.iter().all(|label| node.labels().any(|l| l == label))
}

fn open(ask: &Ask, node: NodeView<'_>, cpu_milli: u64) -> bool {
    let beside = u64::from(node.cpu_milli().left()) >= cpu_milli && node.memory_mib().left() >= ask.beside.memory_mib;
    in_place(ask, node) && node.status() == NodeStatus::Offered && !node.is_exclusive() && beside
}

fn is_free(device: DeviceView<'_>) -> bool {
    device.is_offered() && device.left() == Share { compute: 1000, memory_mib: device.memory_mib() } && device.shares() == 0
}

fn most_shares(device: DeviceView<'_>) -> u32 {
    let kind = KINDS.iter().find(|k| k.0 == device.model() && k.1 == device.memory_mib());
    u32::from(kind.expect("a device is of a known kind").3)
}

/// By model: accepted cards of one node that satisfy the test.
fn count<'a>(ask: &Ask, node: NodeView<'a>, test: impl Fn(DeviceView<'a>) -> bool) -> BTreeMap<&'a str, u32> {
    let mut counts = BTreeMap::new();
    for device in node.devices().filter(|d| rank(ask, *d).is_some() && test(*d)) {
        *counts.entry(device.model()).or_default() += 1;
    }
    counts
}

fn most(counts: BTreeMap<&str, u32>) -> u32 {
    counts.into_values().max().unwrap_or(0)
}

fn has_room(fleet: &Fleet, ask: &Ask) -> bool {
    let nodes = || fleet.nodes().filter(|node| open(ask, *node, u64::from(ask.beside.cpu_milli)));
    match ask.size {
        Size::Servers(0) | Size::Cards(0) | Size::Units(_, 0) => false,
        Size::Cards(n) if nodes().any(|node| most(count(ask, node, is_free)) >= n) => true,
        Size::Cards(n) => {
            let largest = fleet.nodes().filter(|node| in_place(ask, *node)).map(|node| most(count(ask, node, |_| true))).max();
            let mut free = BTreeMap::<&str, u32>::new();
            nodes().flat_map(|node| count(ask, node, is_free)).for_each(|(model, n)| *free.entry(model).or_default() += n);
            largest < Some(n) && most(free) >= n
        }
        Size::Servers(n) => {
            let mut alike = BTreeMap::<_, u32>::new();
            for node in nodes().filter(|node| node.is_empty() && node.devices().all(is_free)) {
                let models: std::collections::BTreeSet<_> = node.devices().map(DeviceView::model).collect();
                let any = ask.models.is_empty() && ask.card_memory_mib == 0;
                let accepted =
                    node.devices().all(|d| rank(ask, d).is_some()) && (models.len() == 1 || (models.is_empty() && any));
                if accepted {
                    *alike.entry((models, node.devices().len())).or_default() += 1;
                }
            }
            alike.into_values().any(|count| count >= n)
        }
        Size::Share(share) => nodes().flat_map(NodeView::devices).any(|device| {
            let left = device.left();
            let fits = share.compute <= left.compute && share.memory_mib <= left.memory_mib;
            let slot = device.is_offered() && device.shares() < most_shares(device);
            share != Share::default() && fits && slot && rank(ask, device).is_some()
        }),
        Size::Units(UnitKind::Cpu, milli) => fleet.nodes().any(|node| open(ask, node, milli)),
        Size::Units(UnitKind::Tflops, milli) => nodes().map(|node| worth(ask, node, |_| true)).sum::<u64>() >= milli,
    }
}

/// What the node's cards that satisfy the test can serve in shares or whole, in thousandths of a TFLOPS.
fn worth(ask: &Ask, node: NodeView<'_>, test: impl Fn(DeviceView<'_>) -> bool) -> u64 {
    let usable = |d: &DeviceView<'_>| rank(ask, *d).is_some() && d.is_offered() && test(*d);
    let cards = node.devices().filter(usable);
    cards
        .map(|d| {
            let slot = is_free(d) || d.shares() < most_shares(d);
            let left = d.left();
            let in_memory = |permille: &u64| u64::from(d.memory_mib()) * permille / 1000 <= u64::from(left.memory_mib);
            let permille = (0..=u64::from(left.compute)).rev().find(in_memory).unwrap_or(0);
            if slot { u64::from(d.tflops_milli()) * permille / 1000 } else { 0 }
        })
        .sum()
}

/// Whether the grants are what was asked for, on accepted devices of open nodes.
fn is_as_asked(fleet: &Fleet, ask: &Ask, grants: &[Grant]) -> bool {
    let slices = || grants.iter().flat_map(|grant| &grant.slices);
    let device = |id| fleet.device(id).expect("a slice is of a known device");
    let whole = |d: DeviceView<'_>| Share { compute: 1000, memory_mib: d.memory_mib() };
    let models: std::collections::BTreeSet<&str> = slices().map(|slice| device(slice.device).model()).collect();
    let accepted = slices().all(|slice| rank(ask, device(slice.device)).is_some() && device(slice.device).is_offered());
    let cpu = if matches!(ask.size, Size::Units(UnitKind::Cpu, _)) { 0 } else { u64::from(ask.beside.cpu_milli) };
    let in_order = grants.windows(2).all(|pair| pair[0].node < pair[1].node)
        && grants.iter().all(|grant| grant.slices.windows(2).all(|pair| pair[0].device < pair[1].device))
        && grants.iter().all(|grant| open(ask, fleet.node(grant.node).expect("a grant is on a known node"), cpu));
    let size = match ask.size {
        Size::Servers(n) => {
            let alike = models.len() <= 1 && grants.windows(2).all(|pair| pair[0].slices.len() == pair[1].slices.len());
            grants.len() == n as usize && grants.iter().all(|grant| grant.exclusive) && alike
        }
        Size::Cards(n) => {
            let all_whole = slices().all(|slice| slice.share == whole(device(slice.device)));
            slices().count() == n as usize && models.len() == 1 && all_whole
        }
        Size::Share(share) => slices().map(|slice| slice.share).eq([share]),
        Size::Units(UnitKind::Cpu, milli) => grants.len() == 1 && u64::from(grants[0].cpu_milli) == milli,
        Size::Units(UnitKind::Tflops, milli) => {
            let worth = |slice: &units::Slice| u64::from(device(slice.device).tflops_milli()) * u64::from(slice.share.compute);
            let total: u64 = slices().map(worth).sum();
            // Each share is rounded up to a permille of its card at most.
            let slack: u64 = slices().map(|slice| u64::from(device(slice.device).tflops_milli())).sum();
            total >= milli * 1000 && total < milli * 1000 + slack
        }
    };
    accepted && in_order && size
}

/// The node and the first device that the rules name, by looking at every one of them.
fn tightest(fleet: &Fleet, ask: &Ask) -> Option<(NodeId, Option<DeviceId>)> {
    let nodes = || fleet.nodes().filter(|node| open(ask, *node, u64::from(ask.beside.cpu_milli)));
    let free = |node: NodeView<'_>| node.devices().filter(|d| is_free(*d)).count();
    let devices = || nodes().flat_map(move |node| node.devices().map(move |device| (node, device)));
    match ask.size {
        Size::Cards(n) => {
            let enough = devices().filter(|(node, d)| is_free(*d) && count(ask, *node, is_free).get(d.model()) >= Some(&n));
            let ranked = enough.filter_map(|(node, d)| Some((rank(ask, d)?, free(node), node.id(), d.id())));
            ranked.min().map(|(_, _, node, device)| (node, Some(device)))
        }
        Size::Share(share) => {
            let within = |d: DeviceView<'_>| share.compute <= d.left().compute && share.memory_mib <= d.left().memory_mib;
            let fits = devices().filter(|(_, d)| d.is_offered() && within(*d) && d.shares() < most_shares(*d));
            let ranked = fits.filter_map(|(node, d)| {
                Some((rank(ask, d)?, d.left().compute, d.left().memory_mib, free(node), node.id(), d.id()))
            });
            ranked.min().map(|(.., node, device)| (node, Some(device)))
        }
        Size::Units(UnitKind::Cpu, milli) => {
            let fits = fleet.nodes().filter(|node| open(ask, *node, milli));
            let keys = fits.map(|node| (node.devices().len() > 0, node.cpu_milli().left(), node.id()));
            keys.min().map(|(.., node)| (node, None))
        }
        Size::Servers(_) | Size::Units(UnitKind::Tflops, _) => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_books_balance_after_every_step(fleet in fleet(), steps in vec(step(), 1..60)) {
        let mut world = World::new(fleet);
        for step in &steps {
            world.apply(step);
            prop_assert_eq!(world.fleet.check_against(&world.taken.concat(), &world.unclean.concat()), Ok(()));
        }
        for model in world.fleet.occupancy() {
            let sum = model.free + model.taken + model.unclean + model.withheld;
            prop_assert_eq!(sum, 1000 * u64::from(model.cards));
        }
    }

    #[test]
    fn room_is_found_exactly_where_a_naive_search_finds_it(fleet in fleet(), steps in vec(step(), 0..30), asks in vec(ask(), 1..10)) {
        let mut world = World::new(fleet);
        steps.iter().for_each(|step| world.apply(step));
        for ask in &asks {
            match place(&world.fleet, ask) {
                Ok(grants) => {
                    prop_assert!(is_as_asked(&world.fleet, ask, &grants), "{ask:?} became {grants:?}");
                    let mut trial = world.fleet.clone();
                    trial.take(&grants);
                    prop_assert_eq!(trial.check(), Ok(()));
                }
                Err(why) => {
                    // A card that takes no shares serves compute only as a whole, which the naive sum does not see.
                    let unsure = matches!(ask.size, Size::Units(UnitKind::Tflops, _));
                    prop_assert!(unsure || !has_room(&world.fleet, ask), "{ask:?} has room, but {why}");
                    prop_assert_eq!(why.nodes as usize, world.fleet.nodes().len());
                    prop_assert_eq!(why.reasons.iter().map(|(_, n)| n).sum::<u32>(), why.nodes);
                    let single = matches!(ask.size, Size::Share(_) | Size::Units(UnitKind::Cpu, _));
                    prop_assert!(!single || why.reasons.iter().all(|(reason, _)| *reason != Reason::TooFew), "{ask:?}: {why}");
                }
            }
        }
    }

    #[test]
    fn of_all_that_fit_the_tightest_is_chosen(fleet in fleet(), steps in vec(step(), 0..30), asks in vec(ask(), 1..10)) {
        let mut world = World::new(fleet);
        steps.iter().for_each(|step| world.apply(step));
        for ask in &asks {
            let grants = find(&world.fleet, ask);
            if let (Some([grant]), Some(choice)) = (grants.as_deref(), tightest(&world.fleet, ask)) {
                prop_assert_eq!((grant.node, grant.slices.first().map(|slice| slice.device)), choice, "{:?}", ask);
            }
        }
    }

    #[test]
    fn compute_is_found_where_the_sum_of_what_is_left_reaches_it(fleet in fleet(), steps in vec(step(), 0..30), milli in 1..3_000_000_u64) {
        let mut world = World::new(fleet);
        steps.iter().for_each(|step| world.apply(step));
        let models = ["A100", "T4", "L20"].map(|model| Accept { model: model.into(), rank: 1 });
        let ask = Ask { size: Size::Units(UnitKind::Tflops, milli), models: models.into(), ..any_ask() };
        prop_assert_eq!(find(&world.fleet, &ask).is_some(), has_room(&world.fleet, &ask));
    }

    #[test]
    fn what_could_ever_fit_is_what_fits_the_empty_fleet(fleet in fleet(), steps in vec(step(), 0..30), ask in ask()) {
        let fits_empty = find(&fleet, &ask).is_some();
        let mut world = World::new(fleet);
        steps.iter().for_each(|step| world.apply(step));
        prop_assert_eq!(could_ever_fit(&world.fleet, &ask), fits_empty);
    }

    #[test]
    fn every_alternative_fits_and_differs_in_one_thing(fleet in fleet(), steps in vec(step(), 0..30), ask in ask()) {
        let mut world = World::new(fleet);
        steps.iter().for_each(|step| world.apply(step));
        for alternative in alternatives(&world.fleet, &ask) {
            let other = &alternative.ask;
            prop_assert!(find(&world.fleet, other).is_some(), "{other:?}");
            let changed = [other.size != ask.size, other.models != ask.models, other.pool != ask.pool];
            prop_assert_eq!(changed.into_iter().filter(|changed| *changed).count(), 1);
        }
    }

    #[test]
    fn a_fleet_read_back_is_the_fleet_that_was_written(fleet in fleet(), steps in vec(step(), 0..30)) {
        let mut world = World::new(fleet);
        steps.iter().for_each(|step| world.apply(step));
        let bytes = postcard::to_stdvec(&world.fleet).unwrap();
        let read: Fleet = postcard::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&read, &world.fleet);
        prop_assert_eq!(postcard::to_stdvec(&read).unwrap(), bytes);
    }
}

fn any_ask() -> Ask {
    Ask {
        size: Size::Cards(1),
        models: Vec::new(),
        card_memory_mib: 0,
        beside: Beside::default(),
        pool: None,
        labels: Vec::new(),
        interval: Interval { from: Time(0), until: None },
    }
}
