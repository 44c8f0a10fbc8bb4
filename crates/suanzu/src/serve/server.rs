//! One running server: what is started in which order, and stopped in the reverse one.

use super::{
    Config,
    address::{self, Listening},
    agents::{self, Around},
    config::Tls,
    first_key,
    open::open,
};
use crate::{agent::Agent, client::Target};
use anyhow::{Context as _, anyhow, bail};
use engine::Handle;
use rustix::fs::{Mode, OFlags};
use std::{
    fs::{self, DirBuilder},
    net::SocketAddr,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
    sync::oneshot,
    task::JoinHandle,
};
use units::KeyId;

/// Requests that are under way at a stop have so long to finish.
const LINGER: Duration = Duration::from_secs(5);

/// A running server.
pub struct Server {
    data: PathBuf,
    handle: Handle,
    app: server::App,
    target: Target,
    agents: Vec<Agent>,
    first: Option<(KeyId, String)>,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<std::io::Result<()>>>,
    runtime: Option<Runtime>,
}

impl Server {
    /// Starts everything. When this returns, requests are answered.
    pub fn start(data: &Path, config: &Config) -> anyhow::Result<Server> {
        // First of all: a start that fails later has made the operator's key already, and shown it to nobody.
        config.check()?;
        // It holds keys, programs and their environment: nobody else's business.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(data);
        made.with_context(|| format!("making {}", data.display()))?;
        let data = data.canonicalize().with_context(|| format!("finding {}", data.display()))?;
        let runtime = Builder::new_multi_thread().enable_all().build().context("starting the runtime")?;
        let (handle, views) = open(&data)?;
        let listener = runtime.block_on(TcpListener::bind(config.listen));
        let listener = listener.with_context(|| format!("listening on {}", config.listen))?;
        let address = listener.local_addr().context("asking where we listen")?;
        let Secured { tls, shows, certificate } = secured(config.tls.as_ref(), &data, config)?;
        let url = format!("{}://{}", if tls.is_some() { "https" } else { "http" }, reachable(address));
        let public_url = config.public_url.clone().unwrap_or_else(|| url.clone());
        let app = server::App::new(handle.clone(), views, server::Config { public_url });
        let first = runtime.block_on(first_key::operators(&app))?;
        let (stop, stopped) = oneshot::channel::<()>();
        let until = async move {
            // Dropping the other end means the same.
            let _ = stopped.await;
        };
        let serving = runtime.spawn(server::serve(app.clone(), listener, tls, until));
        let target = Target { url: url.clone(), ca_file: certificate.clone(), shows, ..Target::default() };
        let around = Around { app: &app, runtime: runtime.handle(), target: &target, data: &data };
        let agents = agents::start(config, &around)?;
        address::write(&data, &Listening { url, certificate, pid: std::process::id() })?;
        let (stop, serving, runtime) = (Some(stop), Some(serving), Some(runtime));
        Ok(Server { data, handle, app, target, agents, first, stop, serving, runtime })
    }

    /// How it is reached from this machine, without a key.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Its folder.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The secret of the operator's first key, if this start made it.
    pub fn first_secret(&self) -> Option<&str> {
        self.first.as_ref().map(|(_, secret)| secret.as_str())
    }

    /// A link that signs a browser in once, with the operator's first key.
    pub fn sign_in_link(&self) -> Option<String> {
        self.first.as_ref().map(|(key, _)| self.app.sign_in_link(*key))
    }

    /// Serves until `stop` resolves or the listener fails; then stops gracefully.
    pub fn until_stopped(mut self, stop: impl Future<Output = std::io::Result<()>>) -> anyhow::Result<()> {
        let (runtime, serving) = (self.runtime.take(), self.serving.take());
        let (Some(runtime), Some(mut serving)) = (runtime, serving) else { bail!("it is stopped already") };
        let ended = runtime.block_on(async {
            tokio::select! {
                told = stop => told.context("waiting to be stopped"),
                ended = &mut serving => match ended {
                    Ok(Err(error)) => Err(error).context("serving"),
                    _ => Err(anyhow!("the server ended by itself")),
                },
            }
        });
        (self.runtime, self.serving) = (Some(runtime), Some(serving));
        self.stop();
        ended
    }

    /// Agents first, then requests, then the writer, which keeps a checkpoint and a snapshot. What runs, runs on.
    pub fn stop(&mut self) {
        self.app.close();
        self.agents.clear();
        if let Some(stop) = self.stop.take() {
            // A server that has ended by itself needs no telling.
            let _ = stop.send(());
        }
        if let (Some(runtime), Some(serving)) = (&self.runtime, self.serving.take()) {
            let _ = runtime.block_on(async { tokio::time::timeout(LINGER, serving).await });
        }
        self.handle.shut_down();
        address::remove(&self.data);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.runtime.is_some() {
            self.stop();
        }
    }
}

/// An address that this machine can call: a wildcard is none.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        let loopback = if address.is_ipv4() { "127.0.0.1" } else { "::1" };
        address.set_ip(loopback.parse().expect("a literal address"));
    }
    address
}

/// How connections are secured.
#[derive(Default)]
struct Secured {
    tls: Option<server::Tls>,
    /// What is shown to who connects.
    shows: Option<PathBuf>,
    /// The certificate to trust where we made it.
    certificate: Option<PathBuf>,
}

fn secured(tls: Option<&Tls>, data: &Path, config: &Config) -> anyhow::Result<Secured> {
    let Some(tls) = tls else { return Ok(Secured::default()) };
    match (&tls.certificate, &tls.key, tls.self_made) {
        (Some(shows), Some(key), _) => {
            Ok(Secured { tls: Some(from_files(shows, key)?), shows: Some(shows.clone()), certificate: None })
        }
        (None, None, true) => {
            let (made, key) = self_made(data, config)?;
            Ok(Secured { tls: Some(from_files(&made, &key)?), shows: Some(made.clone()), certificate: Some(made) })
        }
        (None, None, false) => Ok(Secured::default()),
        _ => bail!("[tls] needs certificate and key, or self_made = true"),
    }
}

fn from_files(certificate: &Path, key: &Path) -> anyhow::Result<server::Tls> {
    let read = |path: &Path| fs::read(path).with_context(|| format!("reading {}", path.display()));
    Ok(server::Tls::from_pem(&read(certificate)?, &read(key)?)?)
}

/// The certificate in the data folder; made once, so that clients who trust it go on to.
fn self_made(data: &Path, config: &Config) -> anyhow::Result<(PathBuf, PathBuf)> {
    let folder = data.join("tls");
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    if certificate.exists() && key.exists() {
        return Ok((certificate, key));
    }
    let own = [config.listen.ip().to_string(), "127.0.0.1".into(), "localhost".into(), crate::agent::node_name()];
    let public = config.public_url.as_deref().and_then(|url| reqwest::Url::parse(url).ok());
    let mut names: Vec<String> = own.into_iter().chain(public.and_then(|url| url.host_str().map(Into::into))).collect();
    names.sort();
    names.dedup();
    let (chain, private) = server::Tls::self_signed(names)?;
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    let mut file = fs::File::from(rustix::fs::open(&key, flags, Mode::RUSR | Mode::WUSR).context("writing the key")?);
    std::io::Write::write_all(&mut file, private.as_bytes()).context("writing the key")?;
    fs::write(&certificate, chain).context("writing the certificate")?;
    Ok((certificate, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_is_called_by_loopback() {
        assert_eq!(reachable("0.0.0.0:80".parse().unwrap()).to_string(), "127.0.0.1:80");
        assert_eq!(reachable("[::]:80".parse().unwrap()).to_string(), "[::1]:80");
        assert_eq!(reachable("10.0.0.1:80".parse().unwrap()).to_string(), "10.0.0.1:80");
    }
}
