//! Connections: plain or TLS, and a stop that lets requests finish.

use crate::{App, router};
use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use std::{io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// A handshake that takes longer is not meant.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Handshakes that are done and wait for the server's loop.
const READY: usize = 64;

/// How connections are secured.
#[derive(Clone)]
pub struct Tls {
    config: Arc<rustls::ServerConfig>,
    fingerprint: String,
}

/// A certificate or key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The PEM files hold no certificate, no key, or two that do not belong together.
    #[error("the certificate cannot be used: {0}")]
    Unusable(String),
}

impl Tls {
    /// From PEM: a certificate chain, and its private key.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Tls, TlsError> {
        use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
        let unusable = |error: &dyn std::fmt::Display| TlsError::Unusable(error.to_string());
        let chain: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(chain).collect::<Result<_, _>>().map_err(|e| unusable(&e))?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|e| unusable(&e))?;
        let leaf = chain.first().ok_or_else(|| TlsError::Unusable("there is none in it".into()))?;
        let fingerprint = crate::secrets::sha256(&[leaf]).iter().map(|byte| format!("{byte:02x}")).collect();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = builder.map_err(|e| unusable(&e))?.with_no_client_auth().with_single_cert(chain, key);
        let mut config = config.map_err(|e| unusable(&e))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls { config: Arc::new(config), fingerprint })
    }

    /// A certificate of our own for these names, as PEM: chain and key. Clients must be given the chain to trust.
    pub fn self_signed(names: Vec<String>) -> Result<(String, String), TlsError> {
        let made = rcgen::generate_simple_self_signed(names).map_err(|error| TlsError::Unusable(error.to_string()))?;
        Ok((made.cert.pem(), made.signing_key.serialize_pem()))
    }

    /// SHA-256 of the certificate in hexadecimal, for people to compare.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

/// Serves until `stop` resolves; then takes no more connections, ends what waits, and lets the rest finish.
pub async fn serve(
    app: App,
    listener: TcpListener,
    tls: Option<Tls>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let router = router(app.clone());
    let stopped = async move {
        stop.await;
        app.close();
    };
    let listener = PlainListener(listener);
    let service = router.into_make_service_with_connect_info::<Peer>();
    match tls {
        None => axum::serve(listener, service).with_graceful_shutdown(stopped).await,
        Some(tls) => axum::serve(TlsListener::spawn(listener, tls)?, service).with_graceful_shutdown(stopped).await,
    }
}

/// Where a connection comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub SocketAddr);

impl Connected<IncomingStream<'_, PlainListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, PlainListener>) -> Peer {
        Peer(*stream.remote_addr())
    }
}

impl Connected<IncomingStream<'_, TlsListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, TlsListener>) -> Peer {
        Peer(*stream.remote_addr())
    }
}

/// Connections as they are.
struct PlainListener(TcpListener);

impl Listener for PlainListener {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        let (stream, from) = Listener::accept(&mut self.0).await;
        // Answers are small: none may wait for the next one to fill a packet. Where that fails, they are only slower.
        let _ = stream.set_nodelay(true);
        (stream, from)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// Shakes hands beside the accept loop, so that a slow client keeps nobody waiting.
struct TlsListener {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    fn spawn(mut listener: PlainListener, tls: Tls) -> io::Result<TlsListener> {
        let address = listener.local_addr()?;
        let acceptor = TlsAcceptor::from(tls.config);
        let (shaken, ready) = mpsc::channel(READY);
        tokio::spawn(async move {
            while !shaken.is_closed() {
                let (stream, from) = tokio::select! {
                    accepted = listener.accept() => accepted,
                    () = shaken.closed() => return,
                };
                let (acceptor, shaken) = (acceptor.clone(), shaken.clone());
                tokio::spawn(async move {
                    if let Ok(Ok(stream)) = timeout(HANDSHAKE, acceptor.accept(stream)).await {
                        // The server is gone: so is the need for this connection.
                        let _ = shaken.send((stream, from)).await;
                    }
                });
            }
        });
        Ok(TlsListener { ready, address })
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            // The task ends only after this listener does.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
