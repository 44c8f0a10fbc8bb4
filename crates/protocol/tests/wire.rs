//! The bodies as they stand on the wire: agents of one release talk to servers of another.

use protocol::{AssignmentBody, Changes, Deadline, Generation, Instance, Poll, Report, SessionKind, SessionOpen};
use serde_json::{Value, from_value, json, to_value};
use units::{
    AgentId, Assignment, DeviceId, Grant, LeaseId, NodeId, Observation, Phase, Runtime, Share, Slice, Time, Wanted, Workload,
};

fn instance() -> Instance {
    Instance { lease: LeaseId(1042), attempt: 2, node: NodeId(3) }
}

/// What is said and what is read back are the same.
fn assert_spoken<T>(body: &T, wire: Value)
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    assert_eq!(to_value(body).expect("it is a body"), wire);
    assert_eq!(&from_value::<T>(wire).expect("it is read back"), body);
}

#[test]
fn a_poll_is_spoken_so() {
    let poll = Poll { agent: AgentId(7), generation: Generation { epoch: 1, seq: 90 }, digest: 5, clock: Time(0) };
    let wire = json!({
        "agent": "agent-7", "generation": { "epoch": 1, "seq": 90 }, "digest": 5, "clock": "1970-01-01T00:00:00.000Z",
    });
    assert_spoken(&poll, wire);
}

#[test]
fn changes_are_spoken_so() {
    let slice = Slice { device: DeviceId(9), share: Share { compute: 250, memory_mib: 20480 } };
    let grant = Grant { node: NodeId(3), cpu_milli: 4000, memory_mib: 8192, slices: vec![slice], exclusive: false };
    let assignment = Assignment { lease: LeaseId(1042), attempt: 2, changed: 90, wanted: Wanted::Run, grant };
    let workload = Workload { runtime: Runtime::Container("cuda:12".into()), argv: vec!["train".into()], ..Workload::default() };
    let env = [("K".to_owned(), "v".to_owned())].into();
    let body = AssignmentBody { assignment, workload: Some(workload), ready: true, stop_in_ms: Some(1500), env };
    let logs = SessionKind::Logs { follow: true, tail: Some(10) };
    let changes = Changes {
        generation: Generation { epoch: 1, seq: 91 },
        full: true,
        assignments: vec![body],
        deadlines: vec![Deadline { instance: instance(), stop_in_ms: None }],
        digest: 6,
        now: Time(0),
        sessions: vec![SessionOpen { id: "s".into(), instance: instance(), kind: logs }],
        measure_clean: vec![DeviceId(4)],
    };
    let wire = json!({
        "generation": { "epoch": 1, "seq": 91 },
        "full": true,
        "assignments": [{
            "assignment": {
                "lease": "lease-1042", "attempt": 2, "changed": 90, "wanted": "run",
                "grant": {
                    "node": "node-3", "cpu_milli": 4000, "memory_mib": 8192, "exclusive": false,
                    "slices": [{ "device": "device-9", "share": { "compute": 250, "memory_mib": 20480 } }],
                },
            },
            "workload": { "runtime": { "container": "cuda:12" }, "argv": ["train"], "env": {}, "grace_ms": 10000 },
            "ready": true,
            "stop_in_ms": 1500,
            "env": { "K": "v" },
        }],
        "deadlines": [{ "instance": { "lease": "lease-1042", "attempt": 2, "node": "node-3" }, "stop_in_ms": null }],
        "digest": 6,
        "now": "1970-01-01T00:00:00.000Z",
        "sessions": [{
            "id": "s",
            "instance": { "lease": "lease-1042", "attempt": 2, "node": "node-3" },
            "kind": { "logs": { "follow": true, "tail": 10 } },
        }],
        "measure_clean": ["device-4"],
    });
    assert_spoken(&changes, wire);
}

#[test]
fn a_report_is_spoken_so_and_may_leave_out_what_is_empty() {
    let seen = Observation { lease: LeaseId(1042), attempt: 2, node: NodeId(3), phase: Phase::Exited(7), ago_ms: 12 };
    let report = Report {
        agent: AgentId(7),
        generation: Generation { epoch: 1, seq: 91 },
        observations: vec![seen],
        clean: vec![],
        serving: vec![instance()],
        faults: vec![],
        usage: vec![],
    };
    let wire = json!({
        "agent": "agent-7",
        "generation": { "epoch": 1, "seq": 91 },
        "observations": [{ "lease": "lease-1042", "attempt": 2, "node": "node-3", "phase": { "exited": 7 }, "ago_ms": 12 }],
        "clean": [],
        "serving": [{ "lease": "lease-1042", "attempt": 2, "node": "node-3" }],
        "faults": [],
        "usage": [],
    });
    assert_spoken(&report, wire);
    let short: Report = from_value(json!({ "agent": "agent-7" })).expect("nothing else is needed");
    assert!(short.is_empty());
}
