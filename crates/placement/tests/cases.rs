//! Scenarios from practice: bursts of shares, memory to the last MiB, whole cards beside shares, gangs, servers.

use placement::{Change, DeviceSpec, Fleet, NodeSpec, NodeStatus, Reason, alternatives, could_ever_fit, place};
use units::{Accept, Ask, Beside, DeviceId, Grant, Interval, NodeId, PoolId, Share, Size, Slice, Time, UnitKind};

const GIB: u32 = 1024;

fn ask(size: Size) -> Ask {
    Ask {
        size,
        models: Vec::new(),
        card_memory_mib: 0,
        beside: Beside::default(),
        pool: None,
        labels: Vec::new(),
        interval: Interval { from: Time(0), until: None },
    }
}

fn accept(models: &[&str]) -> Vec<Accept> {
    models.iter().zip(0..).map(|(model, rank)| Accept { model: (*model).into(), rank }).collect()
}

fn share(compute: u32, memory_mib: u32) -> Ask {
    ask(Size::Share(Share { compute, memory_mib }))
}

/// A node with so many cards of 48 GiB and 100 TFLOPS, 64 cores and 256 GiB; devices are numbered from 100 × node.
fn node(id: u64, model: &str, cards: u64) -> NodeSpec {
    let device = |at| DeviceSpec {
        id: DeviceId(100 * id + at),
        model: model.into(),
        memory_mib: 48 * GIB,
        tflops_milli: 100_000,
        max_shares: 8,
    };
    let devices = (0..cards).map(device).collect();
    NodeSpec { pool: PoolId(1), cpu_milli: 64_000, memory_mib: 256 * GIB, labels: vec!["region=north".into()], devices }
}

fn fleet(nodes: &[(&str, u64)]) -> Fleet {
    let mut fleet = Fleet::default();
    for ((model, cards), id) in nodes.iter().zip(1..) {
        fleet.add_node(NodeId(id), node(id, model, *cards));
    }
    fleet
}

/// Places and takes, or says why not.
fn rent(fleet: &mut Fleet, ask: &Ask) -> Result<Vec<Grant>, String> {
    let grants = place(fleet, ask).map_err(|why| why.to_string())?;
    fleet.take(&grants);
    fleet.check().expect("the books are right");
    Ok(grants)
}

fn end(fleet: &mut Fleet, grants: &[Grant]) {
    fleet.free(grants);
    fleet.clear(grants);
    fleet.check().expect("the books are right");
}

fn devices(grants: &[Grant]) -> Vec<u64> {
    grants.iter().flat_map(|grant| &grant.slices).map(|slice| slice.device.0).collect()
}

fn nodes(grants: &[Grant]) -> Vec<(u64, usize)> {
    grants.iter().map(|grant| (grant.node.0, grant.slices.len())).collect()
}

#[test]
fn seventeen_quarters_on_four_cards_are_four_a_card_and_one_that_waits() {
    let mut fleet = fleet(&[("A40", 4)]);
    let quarter = share(250, 12 * GIB);
    for _ in 0..16 {
        rent(&mut fleet, &quarter).unwrap();
    }
    for device in fleet.node(NodeId(1)).unwrap().devices() {
        assert_eq!((device.shares(), device.taken().compute), (4, 1000));
    }
    assert_eq!(rent(&mut fleet, &quarter).unwrap_err(), "1 node: 1 full");
    assert!(could_ever_fit(&fleet, &quarter));
}

#[test]
fn memory_shares_never_exceed_the_card_to_the_last_mib() {
    let mut fleet = fleet(&[("A40", 4)]);
    rent(&mut fleet, &ask(Size::Cards(3))).unwrap();
    let half = rent(&mut fleet, &share(0, 24_576)).unwrap();
    let other = rent(&mut fleet, &share(0, 24_576)).unwrap();
    assert!(rent(&mut fleet, &share(0, 24_576)).is_err());
    end(&mut fleet, &half);
    end(&mut fleet, &other);

    let more_than_half = rent(&mut fleet, &share(0, 24_577)).unwrap();
    assert!(rent(&mut fleet, &share(0, 24_577)).is_err());
    end(&mut fleet, &more_than_half);

    rent(&mut fleet, &share(500, 24_576)).unwrap();
    assert!(rent(&mut fleet, &share(0, 24_577)).is_err());
    rent(&mut fleet, &share(0, 24_576)).unwrap();
}

#[test]
fn a_card_is_leased_whole_or_in_shares_never_both() {
    let mut fleet = fleet(&[("A40", 1)]);
    let (whole, quarter) = (ask(Size::Cards(1)), share(250, 12 * GIB));
    let first = rent(&mut fleet, &quarter).unwrap();
    assert!(rent(&mut fleet, &whole).is_err());
    end(&mut fleet, &first);
    let second = rent(&mut fleet, &whole).unwrap();
    assert!(rent(&mut fleet, &quarter).is_err());
    end(&mut fleet, &second);
    rent(&mut fleet, &quarter).unwrap();
}

#[test]
fn freed_capacity_is_placeable_only_once_it_is_cleared() {
    let mut fleet = fleet(&[("A40", 1)]);
    let grants = rent(&mut fleet, &ask(Size::Servers(1))).unwrap();
    assert_eq!(rent(&mut fleet, &share(100, 4 * GIB)).unwrap_err(), "1 node: 1 full");
    fleet.free(&grants);
    assert_eq!(rent(&mut fleet, &share(100, 4 * GIB)).unwrap_err(), "1 node: 1 not yet clean");
    assert_eq!(rent(&mut fleet, &ask(Size::Servers(1))).unwrap_err(), "1 node: 1 not yet clean");
    fleet.clear(&grants);
    rent(&mut fleet, &ask(Size::Servers(1))).unwrap();
}

#[test]
fn cards_go_to_the_tightest_node_and_the_lowest_rank() {
    let mut fleet = fleet(&[("T4", 8), ("T4", 4), ("A40", 2), ("T4", 4)]);
    let two = Ask { models: accept(&["T4", "A40"]), ..ask(Size::Cards(2)) };
    assert_eq!(nodes(&rent(&mut fleet, &two).unwrap()), [(2, 2)]);
    let any = ask(Size::Cards(2));
    assert_eq!(nodes(&rent(&mut fleet, &any).unwrap()), [(2, 2)]);
    assert_eq!(nodes(&rent(&mut fleet, &any).unwrap()), [(3, 2)]);
}

#[test]
fn of_equal_models_on_one_node_the_lowest_numbered_free_card_is_taken() {
    let mut fleet = Fleet::default();
    let mut spec = node(1, "A40", 3);
    spec.devices[1].model = "T4".into();
    fleet.add_node(NodeId(1), spec);
    for device in [100, 101, 102] {
        assert_eq!(devices(&rent(&mut fleet, &ask(Size::Cards(1))).unwrap()), [device]);
    }
}

#[test]
fn a_gang_spans_nodes_only_where_no_node_is_large_enough() {
    let mut fleet = fleet(&[("A40", 8), ("A40", 8), ("A40", 4), ("A40", 8)]);
    rent(&mut fleet, &ask(Size::Cards(4))).unwrap();
    assert_eq!(nodes(&rent(&mut fleet, &ask(Size::Cards(2))).unwrap()), [(1, 2)]);
    // Two whole nodes, and the rest where it is tight.
    assert_eq!(nodes(&rent(&mut fleet, &ask(Size::Cards(20))).unwrap()), [(1, 4), (2, 8), (4, 8)]);
    assert_eq!(place(&fleet, &ask(Size::Cards(8))).unwrap_err().to_string(), "4 nodes: 3 full, 1 too few cards");
}

#[test]
fn a_gang_that_lacks_one_card_gets_none() {
    let mut fleet = fleet(&[("A40", 4), ("A40", 4), ("T4", 4)]);
    rent(&mut fleet, &Ask { models: accept(&["A40"]), ..ask(Size::Cards(1)) }).unwrap();
    let gang = Ask { models: accept(&["A40"]), ..ask(Size::Cards(8)) };
    let why = place(&fleet, &gang).unwrap_err();
    assert_eq!(why.reasons, [(Reason::TooFew, 2), (Reason::WrongModel, 1)]);
    assert!(could_ever_fit(&fleet, &gang));
    assert!(!could_ever_fit(&fleet, &Ask { size: Size::Cards(9), ..gang }));
}

#[test]
fn compute_is_whole_cards_and_one_share_for_the_rest() {
    let mut fleet = fleet(&[("A40", 2), ("A40", 2)]);
    let grants = rent(&mut fleet, &ask(Size::Units(UnitKind::Tflops, 230_001))).unwrap();
    assert_eq!(devices(&grants), [100, 101, 200]);
    assert_eq!(grants[1].slices[0].share, Share { compute: 301, memory_mib: 14_794 });
    // 69.9 % of one card and one whole card are left.
    assert!(rent(&mut fleet, &ask(Size::Units(UnitKind::Tflops, 170_000))).is_err());
    rent(&mut fleet, &ask(Size::Units(UnitKind::Tflops, 169_000))).unwrap();
}

#[test]
fn cpu_goes_to_nodes_without_devices_first() {
    let mut fleet = fleet(&[("A40", 1), ("-", 0)]);
    let cpu = Ask { beside: Beside { cpu_milli: 0, memory_mib: 8 * GIB }, ..ask(Size::Units(UnitKind::Cpu, 40_000)) };
    assert_eq!(nodes(&rent(&mut fleet, &cpu).unwrap()), [(2, 0)]);
    assert_eq!(nodes(&rent(&mut fleet, &cpu).unwrap()), [(1, 0)]);
    assert_eq!(rent(&mut fleet, &cpu).unwrap_err(), "2 nodes: 2 too little CPU");
}

#[test]
fn a_refusal_counts_the_first_reason_of_every_node() {
    let mut fleet = fleet(&[("A40", 4), ("A40", 4), ("A40", 4), ("T4", 4), ("T4", 4), ("A40", 4), ("A40", 2)]);
    fleet.set_node_offered(NodeId(1), NodeStatus::Draining);
    fleet.set_node_offered(NodeId(2), NodeStatus::Lost);
    fleet.set_device_offered(DeviceId(303), false);
    let four = Ask { models: accept(&["A40"]), ..ask(Size::Cards(4)) };
    rent(&mut fleet, &four).unwrap();
    assert_eq!(
        rent(&mut fleet, &four).unwrap_err(),
        "7 nodes: 2 wrong model, 1 too few cards, 1 lost, 1 draining, 1 with a device out of service, 1 full"
    );
}

#[test]
fn a_share_goes_to_the_card_with_the_least_left_wherever_it_is() {
    let mut fleet = fleet(&[("A40", 1), ("A40", 2)]);
    rent(&mut fleet, &share(400, 4 * GIB)).unwrap();
    let elsewhere = Grant {
        node: NodeId(2),
        cpu_milli: 0,
        memory_mib: 0,
        slices: vec![units::Slice { device: DeviceId(201), share: Share { compute: 500, memory_mib: 4 * GIB } }],
        exclusive: false,
    };
    fleet.take(&[elsewhere]);
    assert_eq!(devices(&rent(&mut fleet, &share(450, 4 * GIB)).unwrap()), [201]);
    assert_eq!(devices(&rent(&mut fleet, &share(450, 4 * GIB)).unwrap()), [100]);
    assert_eq!(devices(&rent(&mut fleet, &share(450, 4 * GIB)).unwrap()), [200]);
}

#[test]
fn a_share_goes_to_the_lowest_rank_first_however_many_nodes_lie_between() {
    let [t4, a100]: [Vec<(&str, u64)>; 2] = ["T4", "A100"].map(|model| vec![(model, 2); 70]);
    let mut fleet = fleet(&[t4, a100].concat());
    let of = |models: &[&str], compute| Ask { models: accept(models), ..share(compute, 4 * GIB) };
    // The first T4 is the tightest card of all, and of a rank that is not wanted first.
    let first = rent(&mut fleet, &of(&["T4"], 700)).unwrap();
    assert_eq!(devices(&first), [100]);
    assert_eq!(devices(&rent(&mut fleet, &of(&["A100", "T4"], 250)).unwrap()), [71 * 100]);
    assert_eq!(devices(&rent(&mut fleet, &of(&["T4", "A100"], 250)).unwrap()), [100]);
    // Of equals, the first wins; a tighter one far behind wins over it.
    assert_eq!(devices(&rent(&mut fleet, &of(&["A100"], 900)).unwrap()), [71 * 100 + 1]);
    fleet.take(&[grant_on(140, 600)]);
    assert_eq!(devices(&rent(&mut fleet, &of(&["A100"], 400)).unwrap()), [140 * 100]);
}

fn grant_on(node: u64, compute: u32) -> Grant {
    let slice = Slice { device: DeviceId(100 * node), share: Share { compute, memory_mib: GIB } };
    Grant { node: NodeId(node), cpu_milli: 0, memory_mib: 0, slices: vec![slice], exclusive: false }
}

#[test]
fn no_card_takes_more_shares_than_it_may() {
    let mut fleet = fleet(&[("A40", 1)]);
    for _ in 0..8 {
        rent(&mut fleet, &share(100, 4 * GIB)).unwrap();
    }
    assert_eq!(rent(&mut fleet, &share(100, 4 * GIB)).unwrap_err(), "1 node: 1 without a free share slot");
}

#[test]
fn compute_takes_the_lowest_rank_first_and_then_what_is_left_elsewhere() {
    let mut fleet = fleet(&[("T4", 1), ("A40", 1), ("A40", 1)]);
    let compute = |milli| Ask { models: accept(&["A40", "T4"]), ..ask(Size::Units(UnitKind::Tflops, milli)) };
    assert_eq!(devices(&rent(&mut fleet, &compute(60_000)).unwrap()), [200]);
    assert_eq!(devices(&rent(&mut fleet, &compute(140_000)).unwrap()), [200, 300]);
    assert_eq!(devices(&rent(&mut fleet, &compute(90_000)).unwrap()), [100]);
    assert!(rent(&mut fleet, &compute(11_000)).is_err());
    assert_eq!(devices(&rent(&mut fleet, &compute(10_000)).unwrap()), [100]);
}

#[test]
fn compute_of_several_remainders_adds_up() {
    let mut fleet = fleet(&[("A40", 1), ("A40", 1), ("A40", 1)]);
    for id in 1..=3 {
        let grant = Grant {
            node: NodeId(id),
            cpu_milli: 0,
            memory_mib: 0,
            slices: vec![units::Slice {
                device: DeviceId(100 * id),
                share: Share { compute: 200 * id as u32, memory_mib: 4 * GIB },
            }],
            exclusive: false,
        };
        fleet.take(&[grant]);
    }
    let grants = rent(&mut fleet, &ask(Size::Units(UnitKind::Tflops, 150_000))).unwrap();
    let compute: Vec<u32> = grants.iter().map(|grant| grant.slices[0].share.compute).collect();
    assert_eq!(compute, [800, 600, 100]);
}

#[test]
fn servers_of_one_lease_are_alike() {
    let mut fleet = fleet(&[("A40", 8), ("A40", 4), ("T4", 8), ("A40", 8), ("-", 0)]);
    let two = Ask { models: accept(&["A40", "T4"]), ..ask(Size::Servers(2)) };
    assert_eq!(nodes(&rent(&mut fleet, &two).unwrap()), [(1, 8), (4, 8)]);
    assert!(rent(&mut fleet, &two).is_err());
    let one = Ask { size: Size::Servers(1), ..two };
    assert_eq!(nodes(&rent(&mut fleet, &one).unwrap()), [(2, 4)]);
    assert_eq!(nodes(&rent(&mut fleet, &ask(Size::Servers(1))).unwrap()), [(5, 0)]);
}

#[test]
fn two_gangs_of_all_nodes_never_share_them() {
    let mut fleet = fleet(&[("A40", 8); 100]);
    let gang = ask(Size::Cards(800));
    let first = rent(&mut fleet, &gang).unwrap();
    assert_eq!(first.len(), 100);
    assert_eq!(rent(&mut fleet, &gang).unwrap_err(), "100 nodes: 100 full");
    end(&mut fleet, &first);
    assert_eq!(rent(&mut fleet, &gang), Ok(first));
}

#[test]
fn labels_are_honoured_however_many_the_fleet_has() {
    let mut fleet = Fleet::default();
    for id in 1..=100 {
        let labels = vec![format!("host=n{id}"), "region=north".into()];
        fleet.add_node(NodeId(id), NodeSpec { labels, ..node(id, "A40", 1) });
    }
    for id in [1, 70, 100] {
        let here = Ask { labels: vec!["region=north".into(), format!("host=n{id}")], ..ask(Size::Cards(1)) };
        assert_eq!(nodes(&rent(&mut fleet, &here).unwrap()), [(id, 1)]);
    }
    let nowhere = Ask { labels: vec!["host=n101".into()], ..ask(Size::Cards(1)) };
    assert_eq!(rent(&mut fleet, &nowhere).unwrap_err(), "100 nodes: 100 without the label");
    assert!(!could_ever_fit(&fleet, &nowhere));
}

#[test]
fn a_node_leaves_and_its_devices_with_it() {
    let mut fleet = fleet(&[("A40", 2), ("A40", 2), ("T4", 2)]);
    fleet.remove_node(NodeId(2));
    fleet.check().unwrap();
    assert!(fleet.node(NodeId(2)).is_none() && fleet.device(DeviceId(200)).is_none());
    let t4 = Ask { models: accept(&["T4"]), ..ask(Size::Cards(2)) };
    assert_eq!(devices(&rent(&mut fleet, &t4).unwrap()), [300, 301]);
    fleet.add_node(NodeId(2), node(2, "T4", 1));
    fleet.check().unwrap();
}

#[test]
fn what_would_fit_instead_is_said_and_is_true() {
    let mut fleet = fleet(&[("A40", 4), ("T4", 8)]);
    rent(&mut fleet, &Ask { models: accept(&["A40"]), ..ask(Size::Cards(1)) }).unwrap();
    let four = Ask { models: accept(&["A40"]), pool: Some(PoolId(1)), ..ask(Size::Cards(4)) };
    let offers: Vec<_> = alternatives(&fleet, &four).into_iter().map(|a| (a.change, a.ask.size, a.ask.models)).collect();
    assert_eq!(
        offers,
        [(Change::Fewer, Size::Cards(3), accept(&["A40"])), (Change::OtherModel, Size::Cards(4), accept(&["T4"])),]
    );
    let elsewhere = Ask { pool: Some(PoolId(2)), ..four };
    let offers: Vec<_> = alternatives(&fleet, &Ask { size: Size::Cards(3), ..elsewhere }).into_iter().map(|a| a.change).collect();
    assert_eq!(offers, [Change::AnyPool]);
}

#[test]
#[should_panic(expected = "never over-committed")]
fn taking_what_is_not_there_is_a_bug() {
    let mut fleet = fleet(&[("A40", 1)]);
    let grants = rent(&mut fleet, &share(501, 4 * GIB)).unwrap();
    fleet.take(&grants);
}

#[test]
#[should_panic(expected = "only an empty node leaves")]
fn a_node_with_unclean_capacity_cannot_leave() {
    let mut fleet = fleet(&[("A40", 1)]);
    let grants = rent(&mut fleet, &ask(Size::Cards(1))).unwrap();
    fleet.free(&grants);
    fleet.remove_node(NodeId(1));
}
