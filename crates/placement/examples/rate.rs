//! Prints how long one placement takes on half-full fleets: 64 nodes × 8 cards, and 1,213 nodes with 6,212 cards
//! (the size of Alibaba's cluster-trace-gpu-v2023). Run with `cargo run --release -p placement --example rate`.

use placement::{DeviceSpec, Fleet, NodeSpec, could_ever_fit, place};
use std::{hint::black_box, time::Instant};
use units::{Accept, Ask, Beside, DeviceId, Interval, NodeId, PoolId, Share, Size, Time, UnitKind};

const MODELS: [(&str, u32, u32); 4] =
    [("A100-80GB", 81_920, 312_000), ("V100-32GB", 32_768, 125_000), ("A10", 24_576, 125_000), ("T4", 16_384, 65_000)];

fn main() {
    let small = half_full((0..64).map(|_| (0, 8)));
    let large = half_full((0..1213).map(|at| (at as usize % 4, if at < 720 { 8 } else { u64::from(at < 1172) })));
    println!("{:28}{:>16}{:>16}", "half full", "512 cards", "6,212 cards");
    for (name, size, models) in asks() {
        let ask = ask(size, models);
        let one = |fleet| micros(|| drop(black_box(place(black_box(fleet), black_box(&ask)))));
        println!("{name:28}{:>13.2} µs{:>13.2} µs", one(&small), one(&large));
    }
    let (never, one) = (ask(Size::Cards(9_000), &[]), ask(Size::Cards(1), &[0]));
    let ever = |fleet| micros(|| assert!(!could_ever_fit(fleet, black_box(&never))));
    println!("{:28}{:>13.2} µs{:>13.2} µs", "could 9,000 cards ever fit?", ever(&small), ever(&large));
    println!(
        "{:28}{:>13.2} µs{:>13.2} µs",
        "take, free, clear a card",
        turnover(small.clone(), &one),
        turnover(large.clone(), &one)
    );
}

fn turnover(mut fleet: Fleet, ask: &Ask) -> f64 {
    let grants = place(&fleet, ask).expect("a half-full fleet has a free card");
    micros(|| {
        fleet.take(black_box(&grants));
        fleet.free(&grants);
        fleet.clear(&grants);
    })
}

fn asks() -> [(&'static str, Size, &'static [usize]); 9] {
    let share = Size::Share(Share { compute: 250, memory_mib: 8_192 });
    [
        ("1 card of one model", Size::Cards(1), &[0]),
        ("4 cards of any model", Size::Cards(4), &[]),
        ("a share of one model", share, &[0]),
        ("a share of any model", share, &[]),
        ("1 server", Size::Servers(1), &[0]),
        ("24 cards over nodes", Size::Cards(24), &[0]),
        ("800 TFLOPS", Size::Units(UnitKind::Tflops, 800_000), &[0]),
        ("4 cores", Size::Units(UnitKind::Cpu, 4_000), &[]),
        ("9,000 cards, refused", Size::Cards(9_000), &[]),
    ]
}

fn micros(mut work: impl FnMut()) -> f64 {
    let mut runs = 0;
    let start = Instant::now();
    while start.elapsed().as_millis() < 300 {
        (0..20).for_each(|_| work());
        runs += 20;
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(runs)
}

fn ask(size: Size, models: &[usize]) -> Ask {
    let accept = |at: &usize| Accept { model: MODELS[*at].0.into(), rank: *at as u32 };
    Ask {
        size,
        models: models.iter().map(accept).collect(),
        card_memory_mib: 0,
        beside: Beside { cpu_milli: 1_000, memory_mib: 4_096 },
        pool: Some(PoolId(1)),
        labels: vec!["region=north".into()],
        interval: Interval { from: Time(0), until: None },
    }
}

/// Fills a fleet with whole cards and shares until half of its cards are in use, then ends every third of both.
fn half_full(nodes: impl Iterator<Item = (usize, u64)>) -> Fleet {
    let mut fleet = Fleet::default();
    let mut cards = 0;
    for (id, (model, count)) in (1..).zip(nodes) {
        let (model, memory_mib, tflops_milli) = MODELS[model];
        let device = |at| DeviceSpec { id: DeviceId(cards + at), model: model.into(), memory_mib, tflops_milli, max_shares: 8 };
        let devices = (0..count).map(device).collect();
        let labels = vec!["region=north".into(), "driver=580".into()];
        fleet.add_node(NodeId(id), NodeSpec { pool: PoolId(1), cpu_milli: 128_000, memory_mib: 786_432, labels, devices });
        cards += count;
    }
    let sizes = [Size::Cards(2), Size::Share(Share { compute: 300, memory_mib: 5_000 }), Size::Cards(1), Size::Cards(4)];
    let mut leases = Vec::new();
    for at in 0.. {
        let used: u32 = fleet.occupancy().iter().map(|model| model.used_cards).sum();
        if u64::from(used) * 4 > cards * 3 {
            break;
        }
        let model = [at % MODELS.len()];
        let Ok(grants) =
            place(&fleet, &ask(sizes[at / 4 % sizes.len()], &model)).or_else(|_| place(&fleet, &ask(Size::Cards(1), &[])))
        else {
            break;
        };
        fleet.take(&grants);
        leases.push(grants);
    }
    for ended in leases.iter().step_by(3) {
        fleet.free(ended);
        fleet.clear(ended);
    }
    fleet
}
