//! GPUs through a library that says what a test tells it to.

use drivers::{
    Cleanliness,
    host::{GpuSettings, Gpus},
};
use std::{env, fs, path::PathBuf};
use tempfile::TempDir;

/// A copy of the library of its own, with the file it reads beside it.
struct Fake {
    folder: TempDir,
}

impl Fake {
    fn new(state: &str) -> Fake {
        // Cargo puts the libraries that a test depends on beside the test.
        let own = env::current_exe().expect("it runs");
        let built = own.parent().expect("it lies in a folder").join("libfake_nvml.so");
        let fake = Fake { folder: tempfile::tempdir().expect("a scratch folder") };
        fs::copy(&built, fake.library()).expect("it was built before this test");
        fake.say(state);
        fake
    }

    fn library(&self) -> PathBuf {
        self.folder.path().join("libnvidia-ml.so")
    }

    fn say(&self, state: &str) {
        fs::write(self.folder.path().join("libnvidia-ml.so.state"), state).expect("it is writable");
    }

    fn open(&self) -> Gpus {
        Gpus::open(GpuSettings { library: Some(self.library()), ..GpuSettings::default() }).expect("it loads")
    }
}

const TWO: &str = "GPU-1 | NVIDIA A100-SXM4-80GB | 81920 | 3 | ok |\nGPU-2 | Tesla T4 | 15360 | 2 | ok |\n";

#[test]
fn cards_are_found_with_model_memory_and_throughput() {
    let devices = Fake::new(TWO).open().devices().expect("it answers");
    let told: Vec<_> =
        devices.iter().map(|d| (d.uuid.as_str(), d.model.as_str(), d.memory_mib, d.tflops_milli, d.index)).collect();
    assert_eq!(told, [("GPU-1", "A100-80GB", 81920, 312_000, 0), ("GPU-2", "T4", 15360, 65_000, 1)]);
}

#[test]
fn a_card_is_clean_only_without_processes_and_with_empty_memory() {
    let fake = Fake::new(TWO);
    let gpus = fake.open();
    let measure = || gpus.measure_clean("GPU-1").expect("it answers");
    assert_eq!(measure(), Cleanliness::Clean);
    fake.say(&TWO.replace("3 | ok |", "3 | ok | 4711"));
    assert_eq!(measure(), Cleanliness::Occupied { why: "process 4711 computes on it".into() });
    fake.say(&TWO.replace("| 3 |", "| 2000 |"));
    assert_eq!(measure(), Cleanliness::Occupied { why: "2000 MiB of its memory are in use".into() });
    fake.say(TWO);
    assert_eq!(measure(), Cleanliness::Clean);
}

#[test]
fn a_lost_card_is_a_fault_and_is_never_clean() {
    let fake = Fake::new(TWO);
    let gpus = fake.open();
    assert_eq!(gpus.faults(), []);
    fake.say(&TWO.replace("2 | ok", "2 | lost"));
    assert_eq!(gpus.faults(), [("GPU-2".to_owned(), "it has fallen off the bus".to_owned())]);
    assert!(gpus.measure_clean("GPU-2").is_err());
    assert_eq!(gpus.devices().expect("the other answers").len(), 1);
    fake.say(TWO.lines().next().expect("it has two"));
    assert_eq!(gpus.faults(), [("GPU-2".to_owned(), "the driver no longer knows it".to_owned())]);
    fake.say(TWO);
    assert_eq!(gpus.faults(), []);
}

#[test]
fn memory_is_counted_by_process_over_all_cards() {
    let fake = Fake::new(&TWO.replace("ok |", "ok | 4711:100, 4712:20"));
    assert_eq!(fake.open().memory_by_process(), [(4711, 200), (4712, 40)].into());
}

#[test]
fn a_machine_without_the_library_has_no_gpus() {
    let settings = GpuSettings { library: Some("/nowhere/libnvidia-ml.so".into()), ..GpuSettings::default() };
    assert!(Gpus::open(settings).is_err());
}
