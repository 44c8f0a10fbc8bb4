//! Receipts of a real server, changed in every way that JSON allows: each change is found out, or named as not covered.

use crate::world::{World, until};
use serde_json::{Map, Value, json};
use std::fs;

/// The verdict on a receipt; `None` where it is refused as none.
fn verdict(world: &World, receipt: &Value) -> Option<Value> {
    verdict_on(world, &receipt.to_string())
}

fn verdict_on(world: &World, text: &str) -> Option<Value> {
    let file = world.file("changed.json");
    fs::write(&file, text).unwrap();
    let key = world.data().join("keys").join("log.pub").display().to_string();
    let ended = world.try_tenant(&["verify", &file.display().to_string(), "--public-key", &key]);
    let told: Option<Value> = serde_json::from_slice(&ended.stdout).ok();
    let sound = told.as_ref().is_some_and(|told| told["sound"] == true);
    assert_eq!(ended.status.code(), Some(i32::from(!sound)), "{}", String::from_utf8_lossy(&ended.stderr));
    told
}

fn sound(world: &World, receipt: &Value) -> bool {
    verdict(world, receipt).is_some_and(|told| told["sound"] == true)
}

/// Where the leaves of a document are, as JSON pointers.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(name, value)| leaves(value, &format!("{at}/{name}"), found));
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(n, value)| leaves(value, &format!("{at}/{n}"), found));
        }
        _ => found.push(at.to_owned()),
    }
}

fn other(value: &Value) -> Value {
    match value {
        Value::Null => json!("something"),
        Value::Bool(holds) => json!(!holds),
        Value::Number(n) => json!(n.as_u64().unwrap() + 1),
        // The last byte of what is in base64 may be padding; the first is not.
        Value::String(text) if text.starts_with('A') => json!(text.replacen('A', "B", 1)),
        Value::String(text) if text.starts_with('9') => json!(text.replacen('9', "8", 1)),
        Value::String(text) if text.starts_with(|c: char| c.is_ascii_digit()) => json!(format!("9{}", &text[1..])),
        Value::String(text) => json!(format!("A{}", text.chars().skip(1).collect::<String>())),
        Value::Array(_) => json!(["something"]),
        Value::Object(_) => json!({ "something": 1 }),
    }
}

/// Changes every leaf in turn; a change that is not found out must be of a field that the verdict names.
fn every_leaf_is_covered_or_named(world: &World, receipt: &Value) {
    let told = verdict(world, receipt).expect("a receipt as it was given out");
    assert_eq!((&told["sound"], &told["findings"]), (&json!(true), &json!([])), "{told}");
    assert_eq!((&told["lease"], &told["total"]), (&receipt["lease"]["id"], &receipt["total"]));
    let named: Vec<&str> = told["not_covered"].as_array().unwrap().iter().map(|field| field.as_str().unwrap()).collect();
    let mut all = Vec::new();
    leaves(receipt, "", &mut all);
    assert!(all.len() > 40, "{} leaves", all.len());
    for leaf in all {
        let mut changed = receipt.clone();
        let value = changed.pointer_mut(&leaf).unwrap();
        *value = other(value);
        let field = leaf[1..].replace('/', ".");
        let excused = named.iter().any(|name| field == *name || field.starts_with(&format!("{name}.")));
        assert!(!sound(world, &changed) || excused, "{field} was changed to {}", changed.pointer(&leaf).unwrap());
    }
}

/// Every object of a document gets a member more, and loses each of its own, in turn.
fn no_member_is_too_much_or_missing(world: &World, receipt: &Value) {
    let named = verdict(world, receipt).unwrap()["not_covered"].to_string();
    for at in ["", "/lease", "/lease/ask", "/lease/price_per_hour", "/lines/0", "/lines/0/amount", "/total", "/proof"] {
        let mut more = receipt.clone();
        more.pointer_mut(at).unwrap()["discount"] = json!("all of it");
        assert!(!sound(world, &more), "a member more in '{at}'");
        let names: Vec<String> = receipt.pointer(at).unwrap().as_object().unwrap().keys().cloned().collect();
        for name in names.iter().filter(|name| !named.contains(&format!("lease.{name}"))) {
            let mut less = receipt.clone();
            less.pointer_mut(at).and_then(Value::as_object_mut).map(|members: &mut Map<_, _>| members.remove(name));
            assert!(!sound(world, &less), "'{at}' without {name}");
        }
    }
    let twice = receipt.to_string().replacen("{", "{\"total\": {\"amount\": \"0.000001\"},", 1);
    assert!(verdict_on(world, &twice).is_none(), "one total to read and one to check");
}

/// Items of a list are dropped, doubled and exchanged; each of these must be found out.
fn no_item_is_moved(world: &World, receipt: &Value, list: &str) {
    let items = receipt.pointer(list).and_then(Value::as_array).unwrap();
    let changed = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut changed = receipt.clone();
        change(changed.pointer_mut(list).and_then(Value::as_array_mut).unwrap());
        sound(world, &changed)
    };
    for n in 0..items.len() {
        assert!(!changed(&|items| drop(items.remove(n))), "{list}: {n} of {} was left out", items.len());
        assert!(!changed(&|items| items.insert(n, items[n].clone())), "{list}: {n} stands twice");
        assert!(n == 0 || !changed(&|items| items.swap(n - 1, n)), "{list}: {n} was moved");
    }
    assert!(!changed(&Vec::clear), "{list} was emptied");
}

#[test]
fn every_field_of_a_receipt_is_proven_or_named_as_not_covered() {
    let world = World::start();
    let id = world.rent(&["--cpu", "1", "--name", "web", "--", "sleep", "4000"]);
    let lines = |receipt: &Value| receipt["lines"].as_array().unwrap().len();
    let receipt = || world.tenant(&["lease", "receipt", &id]);

    let running = receipt();
    assert_eq!((&running["lease"]["state"], lines(&running)), (&json!("running"), 0));
    assert_eq!(running["lease"]["price_per_hour"]["amount"], "0.360000");
    every_leaf_is_covered_or_named(&world, &running);
    no_item_is_moved(&world, &running, "/proof/bundle/parts");

    world.operator(&["price", "publish", "unit/cpu=0.72"]);
    assert!(sound(&world, &receipt()), "a new price is in nobody's part but the operator's");
    world.tenant(&["lease", "resize", &id, "--cpu", "0.5", "--yes"]);
    let resized = receipt();
    assert!(lines(&resized) > 0, "what ran before is charged");
    assert!(sound(&world, &resized), "{:?}", verdict(&world, &resized));
    world.tenant(&["lease", "stop", &id, "--yes", "--wait=60s"]);
    every_leaf_is_covered_or_named(&world, &receipt());

    world.tenant(&["lease", "start", &id, "--yes", "--wait=60s"]);
    world.tenant(&["lease", "destroy", &id, "--yes", "--wait=60s"]);
    until("it is over", || (world.lease(&id)["state"] == "ended").then_some(()));
    let ended = receipt();
    assert!(lines(&ended) > 2 && ended["runs"] == 2, "{ended}");
    every_leaf_is_covered_or_named(&world, &ended);
    no_member_is_too_much_or_missing(&world, &ended);
    no_item_is_moved(&world, &ended, "/lines");
    no_item_is_moved(&world, &ended, "/proof/bundle/parts");
}

#[test]
fn a_receipt_says_up_to_which_entry_it_is_proven() {
    let world = World::start();
    let id = world.rent(&["--cpu", "1", "--", "sleep", "4000"]);
    let running = world.tenant(&["lease", "receipt", &id]);
    world.tenant(&["lease", "destroy", &id, "--yes", "--wait=60s"]);
    until("it is over", || (world.lease(&id)["state"] == "ended").then_some(()));
    let ended = world.tenant(&["lease", "receipt", &id]);
    let last = |receipt: &Value| receipt["proof"]["bundle"]["parts"].as_array().unwrap().last().unwrap()["seq"].clone();
    // An old receipt stays true of its time; that more followed cannot show, and is not denied.
    let told = verdict(&world, &running).unwrap();
    assert_eq!((&told["sound"], &told["over"], &told["as_of_entry"]), (&json!(true), &json!(false), &last(&running)));
    assert_eq!(told["whole"], true, "a tenant with one lease");
    let told = verdict(&world, &ended).unwrap();
    assert_eq!((&told["sound"], &told["over"], &told["as_of_entry"]), (&json!(true), &json!(true), &last(&ended)));
    let mut cut = ended.clone();
    cut["proof"] = running["proof"].clone();
    assert!(!sound(&world, &cut), "the end is said and not proven");
    let file = world.file("ended.json").display().to_string();
    fs::write(&file, ended.to_string()).unwrap();
    let spoken = world.try_tenant(&["--lang", "zh", "verify", &file, "-o", "table"]);
    let spoken = String::from_utf8_lossy(&spoken.stdout).into_owned();
    assert!(spoken.contains("已结束") && spoken.contains("不在校验范围") && spoken.contains("proof.bundle.key"), "{spoken}");
    let mut bare = ended;
    bare["proof"] = Value::Null;
    assert!(verdict(&world, &bare).is_none(), "no verdict without a proof");
}

#[test]
fn receipts_of_every_size_and_state_are_sound_as_they_are_given_out() {
    let world = World::with(&["--simulated", "--no-host"]);
    world.operator(&["price", "publish", "card/A100-80GB=15", "card/T4=3", "server/T4=10", "unit/tflops=0.01"]);
    let checked = |id: &str, state: &str| {
        let receipt = world.tenant(&["lease", "receipt", id]);
        let told = verdict(&world, &receipt).unwrap();
        assert_eq!((&told["findings"], &told["state"]), (&json!([]), &json!(state)), "{receipt}");
        receipt
    };
    let sizes: [&[&str]; 4] =
        [&["--server", "--gpu", "T4"], &["--gpu", "A100-80GB:0.25,20GB"], &["--gpu", "A100-80GB:2"], &["--units", "100tflops"]];
    let rented = sizes.map(|size| world.rent(&[size, &["--", "sleep", "4000"]].concat()));
    for id in &rented {
        let receipt = checked(id, "running");
        assert_eq!(receipt["lease"]["simulated"], true);
    }
    every_leaf_is_covered_or_named(&world, &world.tenant(&["lease", "receipt", &rented[1]]));

    let words = ["lease", "create", "--yes", "--queue", "--server", "--gpu", "T4", "--for", "2h", "--", "sleep", "4000"];
    let waiting = world.tenant(&words)["id"].as_str().unwrap().to_owned();
    every_leaf_is_covered_or_named(&world, &checked(&waiting, "queued"));
    world.tenant(&["lease", "destroy", &waiting, "--yes", "--wait=60s"]);
    every_leaf_is_covered_or_named(&world, &checked(&waiting, "ended"));
    for id in &rented {
        world.tenant(&["lease", "destroy", id, "--yes", "--wait=60s"]);
        until("it is over", || (world.lease(id)["state"] == "ended").then_some(()));
        checked(id, "ended");
    }
    // Parts of other leases lie between those of this one.
    let selected = checked(&rented[2], "ended");
    assert_eq!(selected["proof"]["bundle"]["whole"], false);
    no_item_is_moved(&world, &selected, "/proof/bundle/parts");
    // The key of another log: nothing of it is believed.
    let receipt = world.tenant(&["lease", "receipt", &rented[0]]);
    let file = world.file("foreign.json").display().to_string();
    fs::write(&file, receipt.to_string()).unwrap();
    let foreign = "suanzu/7391a8e3737bee436197aedd4adb54a0+8cae9f59+AVHIPL7H81TMuFGy7Yve808RzWP3JG7d4tu6+6+oH3yh";
    let told = world.try_tenant(&["verify", &file, "--public-key", foreign]);
    assert_eq!(told.status.code(), Some(1), "{}", String::from_utf8_lossy(&told.stdout));
}
