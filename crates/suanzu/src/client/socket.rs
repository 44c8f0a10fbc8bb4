//! WebSockets: sessions with a workload, from whichever end.
//!
//! Binary messages are bytes: input towards the workload, output from it. Text messages are JSON: [`Ask`] towards the
//! workload, [`Told`] from it. Output that is only read ends without one.

use super::{Target, pinned};
use crate::failure::{Failure, Problem};
use anyhow::{Context as _, anyhow};
use reqwest::Url;
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use rustls_platform_verifier::ConfigVerifierExt;
use serde::{Deserialize, Serialize};
use std::{path::Path, sync::Arc};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Error, client::IntoClientRequest, http::HeaderValue},
};

/// A connection, encrypted or not.
pub trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// A WebSocket of ours.
pub type Socket = WebSocketStream<Box<dyn Wire>>;

/// What a person's end asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// The terminal has another size.
    Resize {
        /// Columns.
        columns: u16,
        /// Rows.
        rows: u16,
    },
    /// There is no more input.
    Eof(bool),
}

/// How the workload's end ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// It ended with this code.
    Exit(i32),
    /// It could not be carried out.
    Failed(String),
}

/// Opens a WebSocket at this path of a server.
pub async fn dial(target: &Target, path: &str) -> Result<Socket, Failure> {
    let url = format!("{}{path}", target.url.trim_end_matches('/'));
    let parsed = Url::parse(&url).with_context(|| format!("'{url}' is no address"))?;
    let host = parsed.host_str().ok_or_else(|| anyhow!("'{url}' names no host"))?.trim_matches(['[', ']']).to_owned();
    let port = parsed.port_or_known_default().unwrap_or(80);
    let tcp = TcpStream::connect((host.as_str(), port)).await.with_context(|| format!("reaching {host}:{port}"))?;
    // Keystrokes are small and must not wait for each other.
    tcp.set_nodelay(true)?;
    let wire: Box<dyn Wire> = match parsed.scheme() {
        "https" => Box::new(encrypted(target, host, tcp).await?),
        _ => Box::new(tcp),
    };
    let mut request = url.replacen("http", "ws", 1).into_client_request().context("setting up a WebSocket")?;
    if let Some(key) = &target.key {
        let bearer = HeaderValue::from_str(&format!("Bearer {key}")).context("the key is no text")?;
        request.headers_mut().insert("authorization", bearer);
    }
    tokio_tungstenite::client_async(request, wire).await.map(|(socket, _)| socket).map_err(refused)
}

async fn encrypted(target: &Target, host: String, tcp: TcpStream) -> anyhow::Result<impl Wire + use<>> {
    let read = |file: &Path| CertificateDer::from_pem_file(file).with_context(|| format!("reading {}", file.display()));
    let config = match (&target.shows, &target.ca_file) {
        (Some(file), _) => pinned::trusting(read(file)?),
        (None, None) => rustls::ClientConfig::with_platform_verifier()?,
        (None, Some(file)) => {
            let mut roots = rustls::RootCertStore::empty();
            roots.add(read(file)?)?;
            rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth()
        }
    };
    let name = ServerName::try_from(host).context("the host is no name")?;
    Ok(tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, tcp).await?)
}

fn refused(error: Error) -> Failure {
    match error {
        Error::Http(response) => {
            let status = response.status().as_u16();
            let body = response.into_body().unwrap_or_default();
            let problem = serde_json::from_slice::<Problem>(&body).unwrap_or_default();
            Failure::Refused(Box::new(Problem { status, ..problem }))
        }
        other => Failure::Other(anyhow!("the WebSocket was not opened: {other}")),
    }
}
