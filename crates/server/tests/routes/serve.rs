//! Real connections: TLS, a stop that lets go, and the two ends of a session.

use crate::world::{World, core};
use axum::{
    body::Body,
    http::{Method, Request},
};
use futures_util::{SinkExt, StreamExt};
use http_body_util::BodyExt;
use protocol::{Changes, Generation, Poll, SessionKind};
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use server::Tls;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Error, Message, client::IntoClientRequest},
};
use tower::ServiceExt;

/// A server on a port of its own.
struct Serving {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Serving {
    async fn start(world: &World, tls: Option<Tls>) -> Serving {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(server::serve(world.app.clone(), listener, tls, async {
            let _ = stopped.await;
        }));
        Serving { address, stop, task }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Stops and waits for the end.
    async fn end(self) {
        self.stop.send(()).unwrap();
        timeout(Duration::from_secs(10), self.task).await.expect("it ends").unwrap().unwrap();
    }

    async fn socket(&self, secret: &str, path: &str) -> Result<WebSocketStream<TcpStream>, Error> {
        let mut request = format!("ws://{}{path}", self.address).into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {secret}").parse().unwrap());
        client_async(request, self.connect().await).await.map(|(socket, _)| socket)
    }
}

async fn get(mut stream: impl AsyncRead + AsyncWrite + Unpin, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A peer that closes without a farewell has said everything before.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_self_made_certificate_secures_the_connection_for_whoever_trusts_it() {
    let world = World::new().await;
    let (chain, key) = Tls::self_signed(vec!["suanzu.test".into()]).unwrap();
    let tls = Tls::from_pem(chain.as_bytes(), key.as_bytes()).unwrap();
    assert_eq!(tls.fingerprint().len(), 64);
    let serving = Serving::start(&world, Some(tls)).await;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(chain.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config.with_root_certificates(roots).with_no_client_auth()));
    let name = ServerName::try_from("suanzu.test").unwrap();
    // Somebody who says nothing keeps nobody waiting.
    let _silent = serving.connect().await;
    let stream = connector.connect(name, serving.connect().await).await.unwrap();
    assert!(get(stream, "/healthz").await.starts_with("HTTP/1.1 200"));
    let other = ServerName::try_from("other.test").unwrap();
    assert!(connector.connect(other, serving.connect().await).await.is_err());
    serving.end().await;
}

#[tokio::test]
async fn metrics_are_for_this_machine_without_a_key() {
    let world = World::new().await;
    world.order(&world.a.member).await;
    let serving = Serving::start(&world, None).await;
    let page = get(serving.connect().await, "/metrics").await;
    assert!(page.contains("suanzu_leases{state=\"starting\"} 1\n"), "{page}");
    assert!(page.contains("suanzu_card_share{model=\"SIM-80GB\",use=\"free\"} 2.000\n"), "{page}");
    // Every sample stands under a HELP and a TYPE of its own name, as promtool wants it.
    let body = page.split("\r\n\r\n").nth(1).unwrap();
    let mut name = "";
    for line in body.lines() {
        match line.strip_prefix("# HELP ").or(line.strip_prefix("# TYPE ")) {
            Some(head) => name = head.split(' ').next().unwrap(),
            None => assert!(line.starts_with(name) && !name.is_empty(), "{line} under {name}"),
        }
    }
    serving.end().await;
}

#[tokio::test]
async fn a_stop_ends_what_waits_and_answers_it() {
    let world = World::new().await;
    let lease = world.order(&world.a.member).await;
    let serving = Serving::start(&world, None).await;
    let mut stream = serving.connect().await;
    let secret = &world.a.viewer;
    let request =
        format!("GET /v1/leases/{lease}?wait=60s&state=running HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {secret}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    // A second request on another connection is answered after the first was taken.
    assert!(get(serving.connect().await, "/readyz").await.starts_with("HTTP/1.1 200"));
    serving.end().await;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert!(String::from_utf8_lossy(&answer).starts_with("HTTP/1.1 200"));
}

/// What the agent hears next, once it is a session.
async fn session(world: &World) -> (String, SessionKind) {
    let mut generation = Generation::NONE;
    let mut digest = 0;
    loop {
        let poll = Poll { agent: world.agent_id, generation, digest, clock: world.app.handle().now() };
        let answer = world.post(&world.agent, "/v1/agent/poll?wait=10s", serde_json::to_value(poll).unwrap()).await;
        let changes: Changes = serde_json::from_value(answer.expect(200)).unwrap();
        (generation, digest) = (changes.generation, changes.digest);
        if let Some(session) = changes.sessions.into_iter().next() {
            return (session.id, session.kind);
        }
    }
}

#[tokio::test]
async fn a_command_runs_beside_the_workload_through_its_agent() {
    let world = World::new().await;
    let lease = world.order(&world.a.member).await;
    world.start(&lease).await;
    let serving = Serving::start(&world, None).await;
    let path = format!("/v1/leases/{lease}/exec");
    let refused = serving.socket(&world.b.member, &path).await;
    assert!(matches!(refused, Err(Error::Http(answer)) if answer.status().as_u16() == 404));

    let mut client = serving.socket(&world.a.member, &path).await.unwrap();
    client.send(Message::text(r#"{"argv":["sh"],"tty":true}"#)).await.unwrap();
    let (id, kind) = session(&world).await;
    assert_eq!(kind, SessionKind::Exec { argv: vec!["sh".into()], tty: true });
    let dial = format!("/v1/agent/sessions/{id}");
    let mut agent = serving.socket(&world.agent, &dial).await.unwrap();
    client.send(Message::binary("input")).await.unwrap();
    assert_eq!(agent.next().await.unwrap().unwrap(), Message::binary("input"));
    agent.send(Message::binary("output")).await.unwrap();
    agent.send(Message::text(r#"{"exit":0}"#)).await.unwrap();
    assert_eq!(client.next().await.unwrap().unwrap(), Message::binary("output"));
    assert_eq!(client.next().await.unwrap().unwrap(), Message::text(r#"{"exit":0}"#));
    agent.close(None).await.unwrap();
    assert!(matches!(client.next().await, Some(Ok(Message::Close(_))) | None));
    // A session is dialled once.
    assert!(serving.socket(&world.agent, &dial).await.is_err());
    serving.end().await;
}

#[tokio::test]
async fn a_workloads_output_comes_as_its_agent_sends_it() {
    let world = World::new().await;
    let lease = world.order(&world.a.member).await;
    world.start(&lease).await;
    let serving = Serving::start(&world, None).await;
    let path = format!("/v1/leases/{lease}/logs?follow=true&tail=5");
    let reading = world.get(&world.a.viewer, &path);
    let sending = async {
        let (id, kind) = session(&world).await;
        assert_eq!(kind, SessionKind::Logs { follow: true, tail: Some(5) });
        let mut agent = serving.socket(&world.agent, &format!("/v1/agent/sessions/{id}")).await.unwrap();
        agent.send(Message::binary("one\n")).await.unwrap();
        agent.send(Message::binary("two\n")).await.unwrap();
        agent.close(None).await.unwrap();
    };
    let (answer, ()) = tokio::join!(reading, sending);
    assert_eq!((answer.status.as_u16(), answer.text().as_str()), (200, "one\ntwo\n"));
    let ended = world.post(&world.a.member, "/v1/leases", core()).await.expect(201)["id"].as_str().unwrap().to_owned();
    world.post(&world.a.member, &format!("/v1/leases/{ended}/destroy"), serde_json::json!({})).await.expect(200);
    world.report(&ended, serde_json::json!("gone")).await.expect(204);
    assert_eq!(world.get(&world.a.viewer, &format!("/v1/leases/{ended}/logs")).await.problem(409), "wrong_state");
    serving.end().await;
}

#[tokio::test]
async fn a_session_ends_soon_after_the_key_that_opened_it() {
    let world = World::new().await;
    let lease = world.order(&world.a.member).await;
    world.start(&lease).await;
    let serving = Serving::start(&world, None).await;
    let key = world.post(&world.a.admin, "/v1/keys", serde_json::json!({ "role": "member" })).await.expect(201);
    let secret = key["secret"].as_str().unwrap();
    let mut client = serving.socket(secret, &format!("/v1/leases/{lease}/exec")).await.unwrap();
    client.send(Message::text(r#"{"argv":["sh"]}"#)).await.unwrap();
    let (id, _) = session(&world).await;
    let mut shell = serving.socket(&world.agent, &format!("/v1/agent/sessions/{id}")).await.unwrap();
    client.send(Message::binary("input")).await.unwrap();
    assert_eq!(shell.next().await.unwrap().unwrap(), Message::binary("input"));
    let logs = Request::get(format!("/v1/leases/{lease}/logs?follow=true"));
    let logs = logs.header("authorization", format!("Bearer {secret}")).body(Body::empty()).unwrap();
    let dialling = async {
        let (id, _) = session(&world).await;
        let mut output = serving.socket(&world.agent, &format!("/v1/agent/sessions/{id}")).await.unwrap();
        output.send(Message::binary("one\n")).await.unwrap();
        output
    };
    let (logs, output) = tokio::join!(world.router.clone().oneshot(logs), dialling);
    let mut logs = logs.unwrap().into_body();
    assert_eq!(logs.frame().await.unwrap().unwrap().into_data().unwrap(), "one\n");
    let path = format!("/v1/keys/{}", key["key"].as_str().unwrap());
    world.send((Method::DELETE, &world.a.admin), &path, None, &[]).await.expect(200);
    let soon = Duration::from_secs(5);
    let farewell = timeout(soon, client.next()).await.expect("the client is told").unwrap().unwrap();
    assert!(matches!(farewell, Message::Close(Some(frame)) if frame.reason.starts_with("unauthenticated")));
    let end = timeout(soon, shell.next()).await.expect("the agent's end closes");
    assert!(!matches!(end, Some(Ok(Message::Binary(_) | Message::Text(_)))));
    assert!(timeout(soon, logs.frame()).await.expect("the output ends").is_none());
    drop(output);
    serving.end().await;
}

#[tokio::test]
async fn a_command_without_words_is_refused() {
    let world = World::new().await;
    let lease = world.order(&world.a.member).await;
    world.start(&lease).await;
    let serving = Serving::start(&world, None).await;
    for argv in ["[]", r#"[""]"#, r#"["sh","\u0000"]"#] {
        let mut client = serving.socket(&world.a.member, &format!("/v1/leases/{lease}/exec")).await.unwrap();
        client.send(Message::text(format!(r#"{{"argv":{argv}}}"#))).await.unwrap();
        let farewell = client.next().await.unwrap().unwrap();
        assert!(matches!(farewell, Message::Close(Some(frame)) if frame.reason.starts_with("invalid: /argv")), "{argv}");
    }
    serving.end().await;
}
