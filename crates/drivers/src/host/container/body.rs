//! One order as the body of a container, and the marks by which it is found again.

use super::{ContainerSettings, engine::Kind};
use crate::{Failure, Order, host::environment};
use bollard::models::{ContainerCreateBody, DeviceRequest, HostConfig, HostConfigLogConfig};
use protocol::{Generation, Instance};
use std::collections::HashMap;

const LOG: &str = "suanzu.log";
const LEASE: &str = "suanzu.lease";
const ATTEMPT: &str = "suanzu.attempt";
const NODE: &str = "suanzu.node";
const BORN: &str = "suanzu.born";
const GRACE: &str = "suanzu.grace_ms";

/// The label that every container of ours carries.
pub(super) const ANY_LOG: &str = LOG;

/// What the labels of a container say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) log: String,
    pub(super) instance: Instance,
    pub(super) born: Generation,
    pub(super) grace_ms: u64,
}

impl Marks {
    pub(super) fn of(log: &str, order: &Order) -> Marks {
        let grace_ms = crate::host::grace_ms(order);
        Marks { log: log.to_owned(), instance: order.instance, born: order.born, grace_ms }
    }

    /// Reads them back; `None` where they are not as we write them.
    pub(super) fn read(labels: &HashMap<String, String>) -> Option<Marks> {
        let (epoch, seq) = labels.get(BORN)?.split_once('.')?;
        let instance = Instance {
            lease: labels.get(LEASE)?.parse().ok()?,
            attempt: labels.get(ATTEMPT)?.parse().ok()?,
            node: labels.get(NODE)?.parse().ok()?,
        };
        let born = Generation { epoch: epoch.parse().ok()?, seq: seq.parse().ok()? };
        Some(Marks { log: labels.get(LOG)?.clone(), instance, born, grace_ms: labels.get(GRACE)?.parse().ok()? })
    }

    fn labels(&self) -> HashMap<String, String> {
        let Instance { lease, attempt, node } = self.instance;
        let values = [
            (LOG, self.log.clone()),
            (LEASE, lease.to_string()),
            (ATTEMPT, attempt.to_string()),
            (NODE, node.to_string()),
            (BORN, self.born.to_string()),
            (GRACE, self.grace_ms.to_string()),
        ];
        values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The container's name: the engine lets only one have it, so that a second start finds the first.
    pub(super) fn name(log: &str, instance: Instance) -> String {
        format!("suanzu-{}-{}-{}-{}", &log[..log.len().min(16)], instance.lease, instance.attempt, instance.node)
    }
}

/// The body of a new container.
pub(super) fn body(
    marks: &Marks,
    order: &Order,
    image: &str,
    settings: &ContainerSettings,
    kind: Kind,
) -> Result<ContainerCreateBody, Failure> {
    let env = environment(order)?.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut argv = order.workload.argv.iter().cloned();
    let program = argv.next();
    Ok(ContainerCreateBody {
        image: Some(image.to_owned()),
        env: Some(env),
        labels: Some(marks.labels()),
        // A given command is the whole command; the image's own entry point does not wrap it.
        cmd: program.is_some().then(|| argv.collect()),
        entrypoint: program.map(|program| vec![program]),
        host_config: Some(host(order, settings, kind)?),
        ..ContainerCreateBody::default()
    })
}

fn host(order: &Order, settings: &ContainerSettings, kind: Kind) -> Result<HostConfig, Failure> {
    let limit = |value: i64| (value > 0).then_some(value);
    let memory = limit(i64::from(order.grant.memory_mib) << 20);
    let output = [("max-size", format!("{}b", settings.output.max_bytes)), ("max-file", settings.output.files.to_string())];
    Ok(HostConfig {
        nano_cpus: limit(i64::from(order.grant.cpu_milli) * 1_000_000),
        memory,
        // Memory and swap together: none of it may be swap.
        memory_swap: memory,
        pids_limit: limit(i64::from(settings.max_processes)),
        // A first process that reaps orphans and heeds TERM, whatever the image brings.
        init: Some(true),
        security_opt: Some(vec!["no-new-privileges".into()]),
        network_mode: settings.network.clone(),
        log_config: Some(HostConfigLogConfig {
            typ: Some("json-file".into()),
            config: Some(output.map(|(name, value)| (name.to_owned(), value)).into()),
        }),
        device_requests: devices(order, settings, kind)?.map(|request| vec![request]),
        ..HostConfig::default()
    })
}

fn devices(order: &Order, settings: &ContainerSettings, kind: Kind) -> Result<Option<DeviceRequest>, Failure> {
    if order.devices.is_empty() {
        return Ok(None);
    }
    // A lease without its devices would be charged for nothing: refused aloud.
    kind.gives_devices().map_err(|reason| Failure::lasting("give the container its devices", reason))?;
    let uuids = order.devices.iter().map(|device| device.uuid.as_str());
    Ok(Some(match kind {
        Kind::Docker => DeviceRequest {
            driver: Some("nvidia".into()),
            device_ids: Some(uuids.map(str::to_owned).collect()),
            capabilities: Some(vec![vec!["gpu".into()]]),
            ..DeviceRequest::default()
        },
        Kind::Podman(..) => DeviceRequest {
            driver: Some("cdi".into()),
            device_ids: Some(uuids.map(|uuid| format!("{}={uuid}", settings.device_kind)).collect()),
            ..DeviceRequest::default()
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{LeaseId, NodeId};

    #[test]
    fn marks_are_read_back_as_written_and_foreign_ones_are_not_ours() {
        let marks = Marks {
            log: "ab".into(),
            instance: Instance { lease: LeaseId(7), attempt: 2, node: NodeId(3) },
            born: Generation { epoch: 1, seq: 99 },
            grace_ms: 500,
        };
        assert_eq!(Marks::read(&marks.labels()), Some(marks.clone()));
        for (name, value) in [(LEASE, "lease-07"), (LEASE, "../x"), (BORN, "1"), (ATTEMPT, "-1"), (NODE, "lease-3")] {
            let labels = HashMap::from_iter(marks.labels().into_iter().chain([(name.to_owned(), value.to_owned())]));
            assert_eq!(Marks::read(&labels), None, "{name}={value}");
        }
    }
}
