//! Scenarios from practice: bursts of shares, memory to the last MiB, whole cards beside shares, gangs, servers.

use placement::{DeviceSpec, Fleet, NodeSpec, NodeStatus, Reason, could_ever_fit, place};
use units::{Accept, Ask, Beside, DeviceId, Grant, Interval, NodeId, PoolId, Share, Size, Time, UnitKind};

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
    assert_eq!(grants[1].slices[0].share, Share { compute: 301, memory_mib: 14_795 });
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
