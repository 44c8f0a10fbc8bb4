//! The container engine at the other end of a socket: Docker, or Podman speaking Docker's API.

use crate::Failure;
use bollard::{API_DEFAULT_VERSION, Docker, errors::Error, models::SystemVersion};
use std::{fmt, path::Path, time::Duration};
use tokio::runtime::{Builder, Handle, Runtime};

/// How long one question may take. Creating and starting a container takes seconds on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The first Podman that gives devices through Docker's API; earlier ones silently run without them.
const PODMAN_WITH_GPUS: (u32, u32) = (5, 4);

/// A connection, and the small runtime that serves it: the driver itself blocks.
pub(super) struct Engine {
    docker: Docker,
    runtime: Option<Runtime>,
    kind: Kind,
}

/// Which engine it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Docker,
    /// With major and minor version.
    Podman(u32, u32),
}

impl Kind {
    fn of(version: &SystemVersion) -> Kind {
        let components = version.components.iter().flatten();
        match components.into_iter().find(|component| component.name.contains("Podman")) {
            None => Kind::Docker,
            Some(podman) => {
                let mut numbers = podman.version.split('.').map(|number| number.parse().unwrap_or(0));
                Kind::Podman(numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
            }
        }
    }

    /// Whether it gives the devices it is asked for; the reason where it does not.
    pub(super) fn gives_devices(self) -> Result<(), String> {
        match self {
            Kind::Podman(major, minor) if (major, minor) < PODMAN_WITH_GPUS => {
                Err(format!("{self} ignores requests for devices; 5.4 or newer is needed"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Docker => f.write_str("Docker"),
            Kind::Podman(major, minor) => write!(f, "Podman {major}.{minor}"),
        }
    }
}

impl Engine {
    /// Connects, and asks who is there.
    pub(super) fn connect(socket: &Path) -> Result<Engine, Failure> {
        let docker = dial(socket)?;
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("containers").enable_all().build();
        let runtime = runtime.map_err(|source| Failure::passing("start the runtime of the container driver", source))?;
        let version = runtime.block_on(docker.version()).map_err(failing("ask the container engine for its version"))?;
        Ok(Engine { docker, runtime: Some(runtime), kind: Kind::of(&version) })
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn docker(&self) -> &Docker {
        &self.docker
    }

    pub(super) fn handle(&self) -> &Handle {
        self.runtime.as_ref().expect("it is taken on drop only").handle()
    }

    /// Waits for an answer.
    pub(super) fn ask<T>(&self, doing: &str, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Failure> {
        let timed = async { tokio::time::timeout(PATIENCE, answer).await.unwrap_or(Err(Error::RequestTimeoutError)) };
        self.handle().block_on(timed).map_err(failing(doing))
    }

    /// The same, where "there is no such thing" is an answer.
    pub(super) fn find<T>(&self, doing: &str, answer: impl Future<Output = Result<T, Error>>) -> Result<Option<T>, Failure> {
        self.ask(doing, async {
            match answer.await {
                Ok(found) => Ok(Some(found)),
                Err(error) if is_missing(&error) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waiting for what is under way is not possible where the driver is dropped inside another runtime.
            runtime.shutdown_background();
        }
    }
}

pub(crate) fn dial(socket: &Path) -> Result<Docker, Failure> {
    Docker::connect_with_unix(&socket.to_string_lossy(), PATIENCE.as_secs(), API_DEFAULT_VERSION)
        .map_err(failing("reach the container engine"))
}

/// A refusal of the engine (4xx) stays one; anything else may pass.
pub(super) fn failing(doing: &str) -> impl FnOnce(Error) -> Failure {
    let doing = doing.to_owned();
    |error| {
        let refused = matches!(&error, Error::DockerResponseServerError { status_code: 400..=499, .. });
        Failure { retryable: !refused, ..Failure::passing(doing, error) }
    }
}

pub(crate) fn is_missing(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { status_code: 404, .. })
}

/// Whether the engine says that something of this name is there already, or is as it was asked to be.
pub(crate) fn is_already(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { status_code: 304 | 409, .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_podman_is_told_from_a_new_one_and_from_docker() {
        let version = |name: &str, version: &str| {
            let component = serde_json::json!({ "Name": name, "Version": version });
            let version = serde_json::json!({ "Components": [component] });
            Kind::of(&serde_json::from_value(version).expect("it is a version"))
        };
        assert_eq!(version("Engine", "28.2.2").gives_devices(), Ok(()));
        assert_eq!(version("Podman Engine", "5.4.2").gives_devices(), Ok(()));
        let old = version("Podman Engine", "4.3.1").gives_devices().expect_err("it is too old");
        assert!(old.contains("Podman 4.3"), "{old}");
    }
}
