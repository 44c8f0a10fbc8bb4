//! GPUs of this machine through NVML: what there is, whether it is well, whether it is clean.
//!
//! The library is loaded by path when it is there; a machine without it has no GPUs.

use crate::{Cleanliness, Failure, models};
use nvml_wrapper::{Nvml, enums::device::UsedGpuMemory, error::NvmlError};
use protocol::DeviceReport;
use std::{collections::BTreeMap, ffi::OsStr, path::PathBuf};

/// How GPUs are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuSettings {
    /// The library; `None` for the system's own.
    pub library: Option<PathBuf>,
    /// A card that uses more memory than this, in MiB, is not clean.
    pub clean_below_mib: u32,
    /// How many leases may share one card.
    pub max_shares: u32,
}

impl Default for GpuSettings {
    /// 512 MiB is above what the driver itself keeps on an idle card and below any framework's context with a model; a
    /// share of a tenth is the smallest that is offered.
    fn default() -> Self {
        GpuSettings { library: None, clean_below_mib: 512, max_shares: 10 }
    }
}

/// The GPUs of this machine.
pub struct Gpus {
    nvml: Nvml,
    settings: GpuSettings,
    /// Those that were there at first: one that is missing later is lost.
    uuids: Vec<String>,
}

impl Gpus {
    /// Loads the library and counts the cards. Fails where there is none, which is no fault of a machine without GPUs.
    pub fn open(settings: GpuSettings) -> Result<Gpus, Failure> {
        let library = settings.library.clone();
        let nvml = match &library {
            Some(path) => Nvml::builder().lib_path(path.as_os_str()).init(),
            // The name without version is in development packages only.
            None => Nvml::builder().lib_path(OsStr::new("libnvidia-ml.so.1")).init(),
        };
        let mut gpus = Gpus { nvml: nvml.map_err(failing("load NVML"))?, settings, uuids: Vec::new() };
        gpus.uuids = gpus.devices()?.into_iter().map(|device| device.uuid).collect();
        Ok(gpus)
    }

    /// Every card that answers.
    pub fn devices(&self) -> Result<Vec<DeviceReport>, Failure> {
        let count = self.nvml.device_count().map_err(failing("count GPUs"))?;
        let mut devices = Vec::new();
        for index in 0..count {
            match self.device(index) {
                Ok(device) => devices.push(device),
                // It is not offered; where it was offered before, it is among the faults.
                Err(NvmlError::GpuLost) => {}
                Err(error) => return Err(failing("describe a GPU")(error)),
            }
        }
        Ok(devices)
    }

    fn device(&self, index: u32) -> Result<DeviceReport, NvmlError> {
        let device = self.nvml.device_by_index(index)?;
        let product = device.name()?;
        Ok(DeviceReport {
            uuid: device.uuid()?,
            model: models::fleet_name(&product),
            memory_mib: mib(device.memory_info()?.total),
            tflops_milli: models::by_product(&product).map_or(0, |model| model.tflops_milli),
            max_shares: self.settings.max_shares,
            index,
        })
    }

    /// Whether nothing computes on a card and its memory is empty.
    pub fn measure_clean(&self, uuid: &str) -> Result<Cleanliness, Failure> {
        let device = self.nvml.device_by_uuid(uuid).map_err(failing("find a GPU"))?;
        let processes = device.running_compute_processes().map_err(failing("list processes on a GPU"))?;
        let used = mib(device.memory_info().map_err(failing("read a GPU's memory"))?.used);
        Ok(if let Some(process) = processes.first() {
            Cleanliness::Occupied { why: format!("process {} computes on it", process.pid) }
        } else if used > self.settings.clean_below_mib {
            Cleanliness::Occupied { why: format!("{used} MiB of its memory are in use") }
        } else {
            Cleanliness::Clean
        })
    }

    /// GPU memory in MiB by process, over all cards that answer.
    pub fn memory_by_process(&self) -> BTreeMap<i32, u32> {
        let mut used = BTreeMap::new();
        for uuid in &self.uuids {
            let device = self.nvml.device_by_uuid(uuid.as_str());
            let processes = device.and_then(|device| device.running_compute_processes()).unwrap_or_default();
            for process in processes {
                // A driver in a virtual machine may not say how much.
                let UsedGpuMemory::Used(bytes) = process.used_gpu_memory else { continue };
                *used.entry(i32::try_from(process.pid).unwrap_or(-1)).or_insert(0) += mib(bytes);
            }
        }
        used
    }

    /// Cards that were there and cannot serve any more, with the reason.
    pub fn faults(&self) -> Vec<(String, String)> {
        let fault = |uuid: &String| {
            let answer = self.nvml.device_by_uuid(uuid.as_str()).and_then(|device| device.memory_info());
            match answer {
                Err(NvmlError::GpuLost) => Some((uuid.clone(), "it has fallen off the bus".to_owned())),
                Err(NvmlError::NotFound) => Some((uuid.clone(), "the driver no longer knows it".to_owned())),
                // An answer that did not come says nothing about the card.
                Err(_) | Ok(_) => None,
            }
        };
        self.uuids.iter().filter_map(fault).collect()
    }
}

fn mib(bytes: u64) -> u32 {
    u32::try_from(bytes >> 20).unwrap_or(u32::MAX)
}

fn failing(doing: &'static str) -> impl FnOnce(NvmlError) -> Failure {
    move |source| Failure::passing(doing, source)
}
