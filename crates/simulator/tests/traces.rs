//! The public traces through the core, where they are at hand: beside the workspace, or where SUANZU_DATA_SETS says.

use simulator::replay::{Options, Report, run};
use std::{io::Write, path::PathBuf};

fn data_sets() -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    Some(std::env::var_os("SUANZU_DATA_SETS").map_or_else(beside, PathBuf::from)).filter(|folder| folder.is_dir())
}

fn replay(trace: &str) -> Option<Report> {
    let folder = data_sets().map(|sets| sets.join(trace)).filter(|folder| folder.is_dir());
    match folder {
        Some(folder) => {
            Some(run(&Options { divide_by: 100, ..Options::new(folder) }, &|_, _| {}).expect("the trace is replayed"))
        }
        None => {
            // Past the test's capture, so that it is seen.
            writeln!(std::io::stderr(), "skipped: no public traces here").expect("standard error is open");
            None
        }
    }
}

/// Every job has come to an end, and every bill is the auditor's (else the replay had failed).
fn assert_whole(report: &Report) {
    let refused: u64 = report.refused.values().sum();
    assert_eq!(report.finished + report.withdrawn + refused, report.jobs, "{report}");
    assert!(report.audited_entries > 4 * report.finished, "order, ready, end and gone of each job stand in the journal");
    assert_eq!(report.largest_bills.len(), 10);
}

#[test]
fn the_openb_trace_runs_on_its_own_fleet() {
    let Some(report) = replay("openb") else { return };
    assert_eq!((report.nodes, report.cards, report.jobs), (1_523, 6_212, 8_152));
    assert_whole(&report);
    assert_eq!(report.refused.len(), 0, "{:?}", report.refused);
}

#[test]
fn the_philly_trace_runs_on_a_fleet_of_its_own() {
    let Some(report) = replay("philly-gavel") else { return };
    assert_eq!(report.jobs, 15_264);
    assert_whole(&report);
    assert!(report.waiting.waited > 0, "a fleet of this size has a queue");
}

#[test]
fn a_small_trace_gives_bills_that_can_be_worked_out_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = "sn,cpu_milli,memory_mib,gpu,model\nn0,32000,65536,2,T4\nn1,64000,65536,0,\n";
    let pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\
                a,4000,1024,2,1000,,LS,Running,0,36000,0\n\
                b,4000,1024,1,500,T4,LS,Running,600,7800,600\n\
                c,8000,1024,0,0,,BE,Running,0,3600,0\n\
                d,4000,1024,1,1000,,BE,Running,3600,7200,\n";
    std::fs::write(folder.path().join("openb_node_list_all_node.csv"), nodes).unwrap();
    std::fs::write(folder.path().join("openb_pod_list_default.csv"), pods).unwrap();
    let report = run(&Options::new(folder.path()), &|_, _| {}).unwrap();
    // Two T4 for ten hours at 3 CNY keep `b` waiting, and `d` until it is withdrawn.
    assert_eq!((report.finished, report.withdrawn), (2, 2), "{report}");
    assert_eq!(report.largest_bills[0].amount, "60.000000");
    // Eight cores for an hour at 0.12 CNY.
    assert_eq!(report.largest_bills[1].amount, "0.960000");
    assert_eq!(report.revenue, "60.960000");
}
