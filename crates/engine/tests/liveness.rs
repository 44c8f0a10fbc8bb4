//! Who was last seen to serve.

use engine::Liveness;
use units::{LeaseId, NodeId, Observation, Phase, Time};

const LEASE: LeaseId = LeaseId(1);
const NODE: NodeId = NodeId(1);

fn failed(attempt: u32) -> Observation {
    Observation { lease: LEASE, attempt, node: NODE, phase: Phase::Failed("it fell".into()), ago_ms: 0 }
}

#[test]
fn what_failed_has_served_until_its_own_last_proof_and_not_until_that_of_an_earlier_start() {
    let mut liveness = Liveness::default();
    liveness.served(LEASE, 1, NODE, Time(1_000));
    assert_eq!(liveness.began(&failed(1), Time(9_000)), Time(1_000));
    assert_eq!(liveness.began(&failed(2), Time(9_000)), Time(9_000));
    liveness.served(LEASE, 2, NODE, Time(5_000));
    assert_eq!(liveness.began(&failed(2), Time(9_000)), Time(5_000));
    assert_eq!(liveness.last_served(LEASE, 1), None);
}
