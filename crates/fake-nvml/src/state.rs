//! The text file that says which GPUs there are and how they are.

use std::{env, fs, path::PathBuf};

/// One line of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gpu {
    pub(crate) uuid: String,
    pub(crate) name: String,
    pub(crate) total_mib: u64,
    pub(crate) used_mib: u64,
    pub(crate) lost: bool,
    /// Processes that compute on it, with the MiB that each uses.
    pub(crate) pids: Vec<(u32, u64)>,
}

/// What the file says now; none where there is no file.
pub(crate) fn gpus() -> Vec<Gpu> {
    let path = env::var_os("FAKE_NVML_STATE").map(PathBuf::from).or_else(beside_the_library);
    let text = path.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    text.lines().filter(|line| !line.trim().is_empty()).filter_map(parse).collect()
}

fn parse(line: &str) -> Option<Gpu> {
    let mut fields = line.split('|').map(str::trim);
    Some(Gpu {
        uuid: fields.next()?.to_owned(),
        name: fields.next()?.to_owned(),
        total_mib: fields.next()?.parse().ok()?,
        used_mib: fields.next()?.parse().ok()?,
        lost: fields.next()? == "lost",
        pids: fields.next().unwrap_or_default().split(',').filter_map(process).collect(),
    })
}

/// `PID` or `PID:MIB`.
fn process(text: &str) -> Option<(u32, u64)> {
    let (pid, used) = text.trim().split_once(':').unwrap_or((text.trim(), "0"));
    Some((pid.parse().ok()?, used.parse().ok()?))
}

/// `LIBRARY.state`, where LIBRARY is the file that this very code was loaded from.
fn beside_the_library() -> Option<PathBuf> {
    let here = beside_the_library as *const () as usize;
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| contains(line, here).unwrap_or(false))?;
    // proc_pid_maps(5): the path is the sixth field and may hold spaces.
    let path = &line[line.find('/')?..];
    Some(PathBuf::from(format!("{path}.state")))
}

fn contains(line: &str, address: usize) -> Option<bool> {
    let (from, until) = line.split(' ').next()?.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some((number(from)?..number(until)?).contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_gpu_and_anything_else_is_none() {
        let gpu = parse("GPU-1 | NVIDIA A100-SXM4-80GB | 81920 | 3 | ok | 17, 18:64").expect("it is complete");
        assert_eq!((gpu.uuid.as_str(), gpu.total_mib, gpu.used_mib, gpu.lost), ("GPU-1", 81920, 3, false));
        assert_eq!(gpu.pids, [(17, 0), (18, 64)]);
        assert!(parse("GPU-1 | A | 81920 | 3 | lost").expect("pids may be left out").lost);
        assert_eq!(parse("GPU-1 | A | many"), None);
    }

    #[test]
    fn the_file_that_this_code_lies_in_is_found() {
        let path = beside_the_library().expect("it was loaded from somewhere");
        let own = env::current_exe().expect("it runs");
        assert_eq!(path, PathBuf::from(format!("{}.state", own.display())));
    }
}
