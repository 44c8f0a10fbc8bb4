//! The configuration file: addresses, paths and keys only. Prices, limits and policies are set by commands and stand in the
//! journal.
//!
//! ```toml
//! listen = "127.0.0.1:7070"            # port 0: any free one; it is written into listening.json
//! public_url = "https://gpu.example"   # how clients reach it, if not at that address
//!
//! [tls]
//! self_made = true                     # or: certificate = "cert.pem", key = "key.pem"
//!
//! [host]                               # this machine as a pool
//! enabled = true
//! containers = "/run/podman/podman.sock"
//! max_processes = 4096
//! state = "/var/lib/suanzu-leases"     # where workloads and their output are kept, if not in the data folder
//! run_as = { user = 65534, group = 65534 }  # who process leases are, if not the server's own user
//! labels = ["region=cn-east"]
//!
//! [simulated]                          # servers that exist on paper only, marked as such
//! enabled = false
//! ```

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};

/// How a server is set up.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where it listens.
    pub listen: SocketAddr,
    /// How clients reach it, where that is another address.
    pub public_url: Option<String>,
    /// Encryption; none: plain HTTP.
    pub tls: Option<Tls>,
    /// This machine as a pool.
    pub host: Host,
    /// Simulated servers.
    pub simulated: Simulated,
}

/// Encryption.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// A certificate of its own making, kept in the data folder.
    pub self_made: bool,
    /// Certificate chain (PEM).
    pub certificate: Option<PathBuf>,
    /// Its key (PEM).
    pub key: Option<PathBuf>,
}

/// This machine as a pool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// Whether leases run on this machine.
    pub enabled: bool,
    /// The container engine's socket.
    pub containers: Option<PathBuf>,
    /// Most processes and threads of one lease; 0 for no limit. Usually 4096.
    pub max_processes: Option<u32>,
    /// Where workloads and their output are kept, if not in the data folder.
    pub state: Option<PathBuf>,
    /// Who process leases are, if not the server's own user.
    pub run_as: Option<RunAs>,
    /// Labels of the node.
    pub labels: Vec<String>,
}

/// A user of this machine, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a user by number, such as { user = 65534, group = 65534 } (`id -u NAME`, `id -g NAME`)"
)]
pub struct RunAs {
    /// User id.
    pub user: u32,
    /// Group id.
    pub group: u32,
}

/// Simulated servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Simulated {
    /// Whether there are any.
    pub enabled: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 7070)),
            public_url: None,
            tls: None,
            host: Host::default(),
            simulated: Simulated::default(),
        }
    }
}

impl Default for Host {
    fn default() -> Host {
        Host { enabled: true, containers: None, max_processes: None, state: None, run_as: None, labels: Vec::new() }
    }
}

impl Config {
    /// Refuses what is contrary to itself, before anything is made of it.
    pub fn check(&self) -> anyhow::Result<()> {
        // The data folder is its owner's alone: another user could not even reach the workload's own folder in it.
        ensure!(
            !self.host.enabled || self.host.run_as.is_none() || self.host.state.is_some(),
            "[host] run_as needs state as well: a folder outside of the data folder that this user can reach, such as \
             state = \"/var/lib/suanzu-leases\""
        );
        Ok(())
    }

    /// Reads the file; the default where there is none and none was named.
    pub fn load(named: Option<&Path>, data: &Path) -> anyhow::Result<Config> {
        let file = named.map_or_else(|| data.join("suanzu.toml"), Path::to_owned);
        match fs::read_to_string(&file) {
            Ok(text) => toml::from_str(&text).with_context(|| format!("{} is wrong", file.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && named.is_none() => Ok(Config::default()),
            Err(error) => Err(error).with_context(|| format!("reading {}", file.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_at_the_top_of_this_file_is_a_configuration() {
        let source = include_str!("config.rs");
        let example: String = source
            .lines()
            .skip_while(|line| !line.contains("```toml"))
            .skip(1)
            .take_while(|line| !line.contains("```"))
            .map(|line| format!("{}\n", line.trim_start_matches("//!")))
            .collect();
        let config: Config = toml::from_str(&example).unwrap();
        assert_eq!(config.public_url.as_deref(), Some("https://gpu.example"));
        assert!(config.tls.unwrap().self_made && config.host.enabled);
    }

    #[test]
    fn the_example_for_operators_is_one_too_and_names_every_field() {
        let manual = include_str!("../../../../docs/operations.md");
        let example = manual.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let config: Config = toml::from_str(&example.replace("[tls]", "[tls]\nself_made = false")).unwrap();
        let Host { enabled, containers, max_processes, state, run_as, labels } = config.host.clone();
        assert!(enabled && containers.is_some() && max_processes.is_some() && state.is_some() && run_as.is_some());
        assert!(!labels.is_empty() && config.check().is_ok());
    }

    #[test]
    fn a_misspelt_field_is_named() {
        let error = toml::from_str::<Config>("listem = \"127.0.0.1:1\"").unwrap_err();
        assert!(error.to_string().contains("listem"), "{error}");
    }

    #[test]
    fn a_user_by_name_is_refused_with_the_form_to_write() {
        let error = toml::from_str::<Config>("[host]\nrun_as = \"nobody\"").unwrap_err();
        assert!(error.to_string().contains("{ user = 65534, group = 65534 }"), "{error}");
    }

    #[test]
    fn another_user_needs_a_folder_that_he_can_reach() {
        let user = "[host]\nrun_as = { user = 65534, group = 65534 }";
        let checked = |text: &str| toml::from_str::<Config>(text).unwrap().check();
        assert!(checked(user).unwrap_err().to_string().contains("state"));
        assert!(checked(&format!("{user}\nstate = \"/var/lib/leases\"")).is_ok());
        assert!(checked(&format!("{user}\nenabled = false")).is_ok());
    }

    #[test]
    fn without_a_file_it_listens_on_loopback_only() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::load(None, folder.path()).unwrap();
        assert!(config.listen.ip().is_loopback() && config.host.enabled && !config.simulated.enabled);
        assert!(Config::load(Some(Path::new("absent.toml")), folder.path()).is_err());
    }
}
