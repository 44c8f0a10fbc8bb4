//! Seeds that once showed a fault, each with what it was.

use simulator::faults::{Options, run};

#[test]
fn seeds_that_once_broke_something_break_nothing_any_more() {
    for (seed, commands, what) in [
        (104, 111, "a report that came late said of a card that it was clean which another lease had used since"),
        (140, 248, "a waiting lease that could be paid for elsewhere was passed over once its first place was taken"),
    ] {
        let report = run(&Options { first_seed: seed, seeds: 1, commands, ..Options::default() }, &|_| {});
        assert!(report.broken.is_none(), "{what}: {}", report.broken.map_or_else(String::new, |broken| broken.to_string()));
        assert_eq!((report.seeds, report.commands), (1, u64::from(commands)));
    }
}
