//! The leanest HTTP/1.1 client there can be: one connection, one request at a time, bodies with a length. What it leaves
//! to the server under measurement is most of two cores.

use anyhow::{Context as _, bail};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// One kept-alive connection.
pub struct Wire {
    stream: TcpStream,
    head: String,
    buffer: Vec<u8>,
}

impl Wire {
    /// Connects, to speak with this key.
    pub async fn connect(address: std::net::SocketAddr, secret: &str) -> anyhow::Result<Wire> {
        let stream = TcpStream::connect(address).await.context("connecting")?;
        stream.set_nodelay(true).context("asking for no delay")?;
        let head = format!("host: {address}\r\nauthorization: Bearer {secret}\r\ncontent-type: application/json\r\n");
        Ok(Wire { stream, head, buffer: Vec::with_capacity(8192) })
    }

    /// Posts a body; gives the status and the answer's bytes.
    pub async fn post(&mut self, path: &str, key: Option<&str>, body: &str) -> anyhow::Result<(u16, &[u8])> {
        let key = key.map(|key| format!("idempotency-key: {key}\r\n")).unwrap_or_default();
        let length = body.len();
        let request = format!("POST {path} HTTP/1.1\r\n{}{key}content-length: {length}\r\n\r\n{body}", self.head);
        self.stream.write_all(request.as_bytes()).await.context("sending")?;
        self.answer().await
    }

    async fn answer(&mut self) -> anyhow::Result<(u16, &[u8])> {
        self.buffer.clear();
        let (status, start, length) = loop {
            self.more().await?;
            if let Some(end) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                let (status, length) = head(std::str::from_utf8(&self.buffer[..end]).context("an answer's head is text")?)?;
                break (status, end + 4, length);
            }
        };
        while self.buffer.len() < start + length {
            self.more().await?;
        }
        Ok((status, &self.buffer[start..start + length]))
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        match self.stream.read_buf(&mut self.buffer).await.context("receiving")? {
            0 => bail!("the server closed the connection"),
            _ => Ok(()),
        }
    }
}

/// Status and length of the body.
fn head(text: &str) -> anyhow::Result<(u16, usize)> {
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let length = lines.filter_map(|line| line.split_once(':')).find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|(_, value)| value.trim().parse().ok());
    status.zip(length).context("an answer has a status and a length")
}
