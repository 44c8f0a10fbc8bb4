//! The worked example: the bytes of one entry, from the part to the signed root. A test regenerates it.

use crate::world::{HOUR, MINUTE, QUARTER, World};
use journal::{Batch, Bundle, Checkpoint, Entry, Keys, Memory, Part, Store, Stored, leaf};
use std::fmt::Write;
use units::Owner;

const BEGIN: &str = "<!-- example: a test regenerates what follows -->\n";
const END: &str = "<!-- end of example -->\n";

#[test]
fn the_worked_example_is_what_the_writer_writes() {
    let page = super::page();
    let told = page.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).expect("the page has an example").0;
    let right = example();
    assert!(told == right, "write this between the marks:\n\n{right}");
}

/// The log of the example: a quarter of a card, ready after a minute, stopped after another 90.
fn log(keys: &Keys) -> (World, Memory) {
    let mut world = World::new();
    world.publish(crate::world::START + HOUR, &[("card/A100", 12)]);
    let lease = world.order(QUARTER);
    world.pass(MINUTE);
    world.report(lease, &units::Phase::Ready, 0);
    world.pass(90 * MINUTE);
    world.stop(lease);
    let mut store = Memory::new(keys.clone());
    for entry in &mut world.entries {
        entry.header.log = keys.log();
        let part = |part: &rental::Part| Part { owner: part.owner, bytes: minicbor::to_vec(part).unwrap() };
        let entry = Entry::new(entry.header.clone(), entry.parts.iter().map(part).collect());
        store.append(&Batch { entries: vec![entry], ..Batch::default() }).unwrap();
    }
    assert_eq!(world.report_of().findings, [], "the example is sound");
    (world, store)
}

fn example() -> String {
    let keys = Keys::from_seed(1);
    let (world, store) = log(&keys);
    let head = store.head();
    let (seq, entry) = (head.size, world.entries.last().unwrap());
    let checkpoint = keys.checkpoint(&head);
    let bundle = Bundle::make(&store, &keys, Owner(1), &[seq], &checkpoint).unwrap();
    let proven = &bundle.parts[0];
    let header = entry.header.encode();
    let header_salt = keys.salts().salt(seq, 0, Owner::OPERATOR);
    let row = row(&header, &proven.bytes, &proven.leaf_data);
    // The page's own words made the row; the writer's reader must take it for one.
    assert_eq!(Stored::decode(seq, &row).unwrap().parts[0].bytes, proven.bytes);
    assert_eq!(Checkpoint::open(&checkpoint, keys.verifier()).unwrap().root, head.root);

    let mut out = String::from("\n");
    let mut tell = |what: &str, block: &str| write!(out, "{what}\n\n```text\n{}\n```\n\n", block.trim_end()).unwrap();
    tell(
        &format!(
            "A tenant rents a quarter of a card at 10 yuan an hour, 12 from the second hour of the day on. It is ready a minute after the \
             order; 91 minutes after the order he stops it. Entry {seq} is that stop. Its **header**:"
        ),
        &wrapped(&header),
    );
    tell("which is", &diagnosed(&header));
    tell("The entry has one **part**, the tenant's (owner 1):", &wrapped(&proven.bytes));
    tell("which is", &diagnosed(&proven.bytes));
    tell("The line charged, since the hour before was charged by entry 12, and the totals that the part states:", &sums(entry));
    tell(
        "The **salts** of header and part (they follow from the log secret, which the tenant does not have):",
        &format!("{}\n{}", hex::encode(header_salt), hex::encode(&proven.salt)),
    );
    tell("The **leaf data**, SHA-256(salt ‖ header) and SHA-256(salt ‖ part):", &wrapped(&proven.leaf_data));
    tell("The **leaf hash**, SHA-256(0x00 ‖ leaf data):", &hex::encode(leaf::hash(&proven.leaf_data)));
    tell("The **row** that a store keeps:", &wrapped(&row));
    let hashes: Vec<String> = proven.proof().unwrap().iter().map(hex::encode).collect();
    tell(
        &format!("The **proof** of leaf {} in the tree of {} leaves, the sibling next to the leaf first:", seq - 1, head.size),
        &hashes.join("\n"),
    );
    tell(
        &format!("It leads to the **tree hash** `{}`, which the **checkpoint** states in base64:", hex::encode(head.root)),
        &checkpoint,
    );
    tell("The log's **public key**:", &keys.verifier().to_string());
    out.push_str("The tenant's **bundle** of this one part:\n\n```json\n");
    out + &bundle.to_json() + "\n```\n\n"
}

/// The row, framed as the page says.
fn row(header: &[u8], part: &[u8], leaf_data: &[u8]) -> Vec<u8> {
    let mut item = minicbor::Encoder::new(Vec::new());
    item.array(3).unwrap().bytes(header).unwrap().array(1).unwrap().array(2).unwrap().u64(1).unwrap().bytes(part).unwrap();
    item.bytes(leaf_data).unwrap();
    let item = item.into_writer();
    [&(item.len() as u32).to_be_bytes()[..], &crc32fast::hash(&item).to_be_bytes(), &item].concat()
}

/// What each line comes to, and the totals.
fn sums(entry: &crate::world::Entry) -> String {
    let mut text = String::new();
    let mut sum = 0;
    for event in entry.events() {
        if let rental::Event::Money(_, rental::money::Event::Charged(line)) = event {
            let ms = line.until.since(line.from);
            let ticks = i128::from(line.micro.0) * i128::from(line.milli) * i128::from(ms) * 90;
            assert_eq!(ticks, line.ticks.0);
            sum += ticks;
            writeln!(text, "{} × {} × {ms} × 90 = {ticks} = 0x{}", line.micro.0, line.milli, hex::encode(ticks.to_be_bytes()))
                .unwrap();
        }
    }
    let charged = entry.parts[0].totals.unwrap().charged;
    write!(text, "charged over the tenant's life, {sum} by this entry: {} = {} yuan", charged.0, charged.amount()).unwrap();
    text
}

/// Hexadecimal, 32 bytes a line.
fn wrapped(bytes: &[u8]) -> String {
    let lines: Vec<String> = bytes.chunks(32).map(hex::encode).collect();
    lines.join("\n")
}

/// CBOR's diagnostic notation (RFC 8949, 8), events one a line.
fn diagnosed(bytes: &[u8]) -> String {
    let text = minicbor::display(bytes).to_string();
    let bytes = |(at, piece): (usize, &str)| if at % 2 == 1 { piece.replace(' ', "") } else { piece.to_owned() };
    let text = text.split('\'').enumerate().map(bytes).collect::<Vec<_>>().join("'");
    text.replace("[[\"", "[\n  [\"").replace(", [\"", ",\n  [\"")
}
