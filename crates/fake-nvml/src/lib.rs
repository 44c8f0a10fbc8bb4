//! A library with NVML's names and no GPU behind it, for tests: loaded in place of `libnvidia-ml.so`.
//!
//! What it says stands in a text file that is read again at each call, so that a test changes the world while an agent
//! runs: `FAKE_NVML_STATE` names it, else it lies beside the library as `LIBRARY.state`. One GPU a line:
//! `UUID | product name | MiB in all | MiB used | ok or lost | PID or PID:MIB, by comma`.
//!
//! Signatures, structures and codes are those of NVIDIA's `nvml.h` (NVML API reference, version 12).
#![allow(unsafe_code, non_snake_case)] // The names and pointers of a C interface.

mod state;

use state::{Gpu, gpus};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

const SUCCESS: c_uint = 0;
const INVALID_ARGUMENT: c_uint = 2;
const NOT_FOUND: c_uint = 6;
const INSUFFICIENT_SIZE: c_uint = 7;
const GPU_IS_LOST: c_uint = 15;

/// `nvmlMemory_v2_t`: bytes.
#[repr(C)]
pub struct Memory {
    version: c_uint,
    total: u64,
    reserved: u64,
    free: u64,
    used: u64,
}

/// `nvmlProcessInfo_t`.
#[repr(C)]
pub struct ProcessInfo {
    pid: c_uint,
    used: u64,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

/// `nvmlInit_v2`: always succeeds.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> c_uint {
    SUCCESS
}

/// `nvmlInitWithFlags`: always succeeds.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlInitWithFlags(_flags: c_uint) -> c_uint {
    SUCCESS
}

/// `nvmlShutdown`: always succeeds.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlShutdown() -> c_uint {
    SUCCESS
}

/// `nvmlErrorString`: the same for every code.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(_code: c_uint) -> *const c_char {
    c"as the fake NVML was told".as_ptr()
}

/// `nvmlSystemGetDriverVersion`.
///
/// # Safety
/// `version` points to `length` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetDriverVersion(version: *mut c_char, length: c_uint) -> c_uint {
    unsafe { put("550.54.15", version, length) }
}

/// `nvmlSystemGetNVMLVersion`.
///
/// # Safety
/// `version` points to `length` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetNVMLVersion(version: *mut c_char, length: c_uint) -> c_uint {
    unsafe { put("12.550.54.15", version, length) }
}

/// `nvmlSystemGetCudaDriverVersion_v2`: 12.4.
///
/// # Safety
/// `version` points to a writable number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetCudaDriverVersion_v2(version: *mut c_int) -> c_uint {
    unsafe { *version = 12_040 };
    SUCCESS
}

/// `nvmlDeviceGetCount_v2`.
///
/// # Safety
/// `count` points to a writable number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCount_v2(count: *mut c_uint) -> c_uint {
    unsafe { *count = c_uint::try_from(gpus().len()).expect("a few lines") };
    SUCCESS
}

/// `nvmlDeviceGetHandleByIndex_v2`: a handle is the index plus one.
///
/// # Safety
/// `handle` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, handle: *mut *mut c_void) -> c_uint {
    let index = index as usize;
    if index >= gpus().len() {
        return INVALID_ARGUMENT;
    }
    unsafe { *handle = (index + 1) as *mut c_void };
    SUCCESS
}

/// `nvmlDeviceGetHandleByUUID`.
///
/// # Safety
/// `uuid` is a C string, `handle` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByUUID(uuid: *const c_char, handle: *mut *mut c_void) -> c_uint {
    let uuid = unsafe { CStr::from_ptr(uuid) }.to_string_lossy();
    match gpus().iter().position(|gpu| gpu.uuid == uuid) {
        None => NOT_FOUND,
        Some(index) => {
            unsafe { *handle = (index + 1) as *mut c_void };
            SUCCESS
        }
    }
}

/// `nvmlDeviceGetUUID`.
///
/// # Safety
/// `uuid` points to `length` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUUID(device: *mut c_void, uuid: *mut c_char, length: c_uint) -> c_uint {
    answer(device, |gpu| unsafe { put(&gpu.uuid, uuid, length) })
}

/// `nvmlDeviceGetName`.
///
/// # Safety
/// `name` points to `length` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetName(device: *mut c_void, name: *mut c_char, length: c_uint) -> c_uint {
    answer(device, |gpu| unsafe { put(&gpu.name, name, length) })
}

/// `nvmlDeviceGetMinorNumber`: the index.
///
/// # Safety
/// `minor` points to a writable number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMinorNumber(device: *mut c_void, minor: *mut c_uint) -> c_uint {
    answer(device, |_| {
        unsafe { *minor = c_uint::try_from(device as usize - 1).expect("a few lines") };
        SUCCESS
    })
}

/// `nvmlDeviceGetMemoryInfo_v2`.
///
/// # Safety
/// `memory` points to a writable structure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo_v2(device: *mut c_void, memory: *mut Memory) -> c_uint {
    answer(device, |gpu| {
        let (total, used) = (gpu.total_mib << 20, gpu.used_mib << 20);
        unsafe { *memory = Memory { version: (*memory).version, total, reserved: 0, free: total - used, used } };
        SUCCESS
    })
}

/// `nvmlDeviceGetComputeRunningProcesses_v3`: first asked for their number, then for them.
///
/// # Safety
/// `count` points to a number; `infos` to so many writable structures, or nowhere where it is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses_v3(
    device: *mut c_void,
    count: *mut c_uint,
    infos: *mut ProcessInfo,
) -> c_uint {
    answer(device, |gpu| {
        let room = unsafe { *count } as usize;
        unsafe { *count = c_uint::try_from(gpu.pids.len()).expect("a few numbers") };
        if room < gpu.pids.len() {
            return INSUFFICIENT_SIZE;
        }
        for (at, (pid, used_mib)) in gpu.pids.iter().enumerate() {
            // All ones: not in a MIG instance.
            let info = ProcessInfo { pid: *pid, used: used_mib << 20, gpu_instance: u32::MAX, compute_instance: u32::MAX };
            unsafe { infos.add(at).write(info) };
        }
        SUCCESS
    })
}

/// Asks the GPU of a handle, unless it is lost.
fn answer(device: *mut c_void, ask: impl FnOnce(&Gpu) -> c_uint) -> c_uint {
    match (device as usize).checked_sub(1).and_then(|index| gpus().into_iter().nth(index)) {
        None => INVALID_ARGUMENT,
        Some(gpu) if gpu.lost => GPU_IS_LOST,
        Some(gpu) => ask(&gpu),
    }
}

/// Writes a C string.
///
/// # Safety
/// `to` points to `length` writable bytes.
unsafe fn put(text: &str, to: *mut c_char, length: c_uint) -> c_uint {
    if text.len() >= length as usize {
        return INSUFFICIENT_SIZE;
    }
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), to, text.len());
        to.add(text.len()).write(0);
    }
    SUCCESS
}
