//! The provider `anthropic`: one attempt is one POST to the Messages API, its answer a stream.
//!
//! An answer is whole when `message_stop` was seen, and by nothing else: a stream that is cut can
//! look like one that ended. The key goes into one header, marked sensitive; it must never appear
//! in an error, an event or a log, even when the server sends it back. Redirects are not followed:
//! they would carry the key elsewhere.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Once;
use std::time::Duration;

use futures_util::stream::iter;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, CONTENT_LENGTH, CONTENT_TYPE};
use reqwest::{Body, Client, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::timeout;
use tokio_util::bytes::Bytes;
use toolgate_core::command::Request;
use toolgate_core::event::{Failure, FailureKind, ModelStop, StreamEvent};
use toolgate_core::message::Part;

use super::assemble::Assembler;
use super::refusal::{clean, of_status, of_transport};
use super::sse::SseParser;
use super::stream::{failure, Cancel, Out};
use super::{backoff, body};

/// Where the public server is.
pub const PUBLIC_URL: &str = "https://api.anthropic.com";

/// The version of the protocol that is spoken.
const VERSION: &str = "2023-06-01";
/// Most bytes of one answer.
const ANSWER_CAP: usize = 64 * 1024 * 1024;
/// Most bytes that are read of a refusal.
const REFUSAL_CAP: usize = 64 * 1024;
/// Header values from this length on are taken for secrets.
const SECRET: usize = 8;
/// Parts below this size are sent together with their neighbours.
const SMALL: usize = 2 * 1024;
/// Most bytes of parts that are sent together.
const TOGETHER: usize = 16 * 1024;

/// How to reach the server. Its `Debug` shows no secret.
#[derive(Clone, Debug)]
pub struct AnthropicConfig {
    /// The server, without `/v1/messages`.
    pub base_url: String,
    /// The key; a server that is not the public one may need none.
    pub key: Option<SecretString>,
    /// More headers; a value may be a secret.
    pub headers: Vec<(String, SecretString)>,
    /// How long the server may send nothing.
    pub idle_timeout: Duration,
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// A proxy, in place of the one that the environment names.
    pub proxy: Option<SecretString>,
    /// More certificates to trust, as PEM.
    pub ca: Option<Vec<u8>>,
}

impl AnthropicConfig {
    /// The usual settings for a server (none: the public one) and a key.
    pub fn new(base_url: Option<String>, key: Option<String>) -> Self {
        Self {
            base_url: base_url.unwrap_or_else(|| PUBLIC_URL.to_owned()),
            key: key.map(SecretString::from),
            headers: Vec::new(),
            idle_timeout: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(30),
            proxy: None,
            ca: None,
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Sets how long the server may send nothing.
    #[must_use]
    pub fn idle_timeout(mut self, idle_timeout: Duration) -> Self {
        self.idle_timeout = idle_timeout;
        self
    }
}

const NO_KEY: &str = "no key for the provider: set ANTHROPIC_API_KEY in the environment, or name \
                      another variable with the setting provider.key_env";

/// The server, ready to be asked.
#[derive(Debug)]
pub struct Anthropic {
    config: AnthropicConfig,
    client: Client,
    endpoint: Url,
    headers: HeaderMap,
}

impl Anthropic {
    /// Checks the settings and prepares the connection; connects to nothing yet.
    pub fn new(config: AnthropicConfig) -> Result<Self, Failure> {
        let endpoint = endpoint(&config.base_url)?;
        let headers = headers(&config)?;
        let client = client(&config, &endpoint)?;
        Ok(Self {
            config,
            client,
            endpoint,
            headers,
        })
    }

    /// The server, without user information.
    pub fn server(&self) -> String {
        let port = self
            .endpoint
            .port()
            .map_or(String::new(), |port| format!(":{port}"));
        let host = self.endpoint.host_str().unwrap_or_default();
        format!("{}://{host}{port}", self.endpoint.scheme())
    }

    /// What is missing before a request can be sent.
    pub fn missing(&self) -> Option<String> {
        let is_public = self.endpoint.host_str() == Some("api.anthropic.com");
        let keyless = !self.headers.contains_key("x-api-key") && !self.has_own_key();
        (is_public && keyless).then(|| NO_KEY.to_owned())
    }

    /// Makes one attempt; says nothing more once cancelled.
    pub async fn stream(&self, request: &Request, out: Out<'_>, cancel: &Cancel) {
        if !backoff::wait(request.delay_ms, cancel).await {
            return;
        }
        let attempt = tokio::select! {
            biased;
            () = cancel.cancelled() => return,
            attempt = self.attempt(request, &mut *out) => attempt,
        };
        match attempt {
            Ok((stop, response)) => {
                out(StreamEvent::Ended(stop));
                drain(response).await;
            }
            Err(failure) => out(StreamEvent::Failed(self.redact(failure))),
        }
    }

    async fn attempt(
        &self,
        request: &Request,
        out: Out<'_>,
    ) -> Result<(ModelStop, Response), Failure> {
        if let Some(missing) = self.missing() {
            return Err(failure(FailureKind::Auth, missing));
        }
        let parts = body::parts(request);
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let sending = self
            .client
            .post(self.endpoint.clone())
            .headers(self.headers.clone())
            .header(CONTENT_LENGTH, length)
            .body(Body::wrap_stream(iter(
                pieces(parts).map(Ok::<_, Infallible>),
            )))
            .send();
        let response = self.in_time(sending).await?;
        let status = response.status().as_u16();
        tracing::debug!(request = request.id, attempt = request.attempt, status);
        if status != 200 {
            return Err(self.refused(response).await);
        }
        self.read(response, out).await
    }

    /// Reads the stream to `message_stop`.
    async fn read(
        &self,
        mut response: Response,
        out: Out<'_>,
    ) -> Result<(ModelStop, Response), Failure> {
        is_stream(&response)?;
        let mut parser = SseParser::new();
        let mut assembler = Assembler::default();
        let mut events = Vec::new();
        let mut total = 0;
        while let Some(bytes) = self.in_time(response.chunk()).await? {
            total += bytes.len();
            if total > ANSWER_CAP {
                return Err(failure(
                    FailureKind::Protocol,
                    format!("the provider's answer is larger than {ANSWER_CAP} bytes"),
                ));
            }
            let parsed = parser.push(&bytes, &mut events);
            for event in events.drain(..) {
                if let Some(stop) = assembler.take(&event, &mut *out)? {
                    return Ok((stop, response));
                }
            }
            parsed.map_err(|error| {
                let text = format!("the provider's stream broke the protocol: {error}");
                failure(FailureKind::Protocol, text)
            })?;
        }
        Err(failure(
            FailureKind::Transport,
            format!("{}: the answer was cut", self.origin()),
        ))
    }

    /// The server's next answer, unless it stays silent for too long.
    async fn in_time<T>(
        &self,
        answer: impl Future<Output = Result<T, reqwest::Error>>,
    ) -> Result<T, Failure> {
        match timeout(self.config.idle_timeout, answer).await {
            Ok(Ok(value)) => Ok(value),
            // The URL may hold a password: the origin is shown in its place.
            Ok(Err(error)) => Err(of_transport(&error.without_url(), &self.origin())),
            Err(_) => {
                let idle = self.config.idle_timeout;
                let text = format!("{}: no bytes came for {idle:?}", self.origin());
                Err(failure(FailureKind::Transport, text))
            }
        }
    }

    async fn refused(&self, mut response: Response) -> Failure {
        let status = response.status().as_u16();
        let header = |name: &str| response.headers().get(name)?.to_str().ok();
        let retry_after = backoff::retry_after_ms(header("retry-after-ms"), header("retry-after"));
        let mut body = Vec::new();
        // What was read of a refusal that breaks off is shown as far as it goes.
        while let Ok(Some(bytes)) = self.in_time(response.chunk()).await {
            body.extend_from_slice(&bytes);
            if body.len() > REFUSAL_CAP {
                body.truncate(REFUSAL_CAP);
                break;
            }
        }
        of_status(status, &String::from_utf8_lossy(&body), retry_after)
    }

    /// True when a header of the settings carries a key in its own way.
    fn has_own_key(&self) -> bool {
        self.headers.contains_key("authorization")
    }

    /// The server without path, user and password.
    fn origin(&self) -> String {
        self.endpoint.origin().ascii_serialization()
    }

    /// Takes secrets out of a failure's text: a server may send back what it got.
    fn redact(&self, mut failure: Failure) -> Failure {
        let headers = self.config.headers.iter().map(|(_, value)| value);
        // A header may hold a mere number, which would be taken out of every text.
        let headers = headers.filter(|value| value.expose_secret().len() >= SECRET);
        let secrets = headers.chain(&self.config.key).chain(&self.config.proxy);
        for secret in secrets.map(|secret| secret.expose_secret().trim()) {
            if !secret.is_empty() {
                failure.text = failure.text.replace(secret, "[secret]");
            }
        }
        failure
    }
}

fn wrong(text: String) -> Failure {
    failure(FailureKind::BadRequest, text)
}

fn endpoint(base_url: &str) -> Result<Url, Failure> {
    let mut url = Url::parse(base_url.trim())
        .map_err(|error| wrong(format!("provider.base_url is no URL: {error}")))?;
    url.set_path(&format!("{}/v1/messages", url.path().trim_end_matches('/')));
    let fits = matches!(url.scheme(), "http" | "https") && url.has_host();
    let plain = url.query().is_none() && url.fragment().is_none();
    if fits && plain {
        Ok(url)
    } else {
        Err(wrong(
            "provider.base_url must be an http or https URL without `?` and `#`".to_owned(),
        ))
    }
}

fn headers(config: &AnthropicConfig) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
    let secret = |text: &SecretString| {
        let mut value = HeaderValue::from_str(text.expose_secret().trim()).ok()?;
        value.set_sensitive(true);
        Some(value)
    };
    if let Some(key) = &config.key {
        let value = secret(key).ok_or_else(|| {
            let text = "the provider's key holds characters that no key has";
            failure(FailureKind::Auth, text)
        })?;
        if !value.is_empty() {
            headers.insert("x-api-key", value);
        }
    }
    for (name, value) in &config.headers {
        let shown = clean(name);
        let key = HeaderName::try_from(name.as_str())
            .map_err(|_| wrong(format!("provider.headers: {shown:?} is no header's name")))?;
        let value = secret(value)
            .ok_or_else(|| wrong(format!("provider.headers: the value of {shown:?} is none")))?;
        headers.insert(key, value);
    }
    Ok(headers)
}

fn client(config: &AnthropicConfig, endpoint: &Url) -> Result<Client, Failure> {
    static TLS: Once = Once::new();
    TLS.call_once(|| {
        // It fails only when the process has a provider already, which then serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let mut builder = Client::builder()
        .connect_timeout(config.connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        // Below what servers keep: a dead connection is not tried first.
        .pool_idle_timeout(Duration::from_secs(30))
        .http2_keep_alive_interval(Duration::from_secs(20))
        .http2_keep_alive_timeout(Duration::from_secs(10));
    if let Some(proxy) = &config.proxy {
        let proxy = reqwest::Proxy::all(proxy.expose_secret())
            .map_err(|_| wrong("provider.proxy is no URL of a proxy".to_owned()))?;
        builder = builder.proxy(proxy);
    } else if is_loopback(endpoint) {
        builder = builder.no_proxy();
    }
    if let Some(pem) = &config.ca {
        let certificates = reqwest::Certificate::from_pem_bundle(pem)
            .map_err(|_| wrong("provider.ca holds no PEM certificates".to_owned()))?;
        builder = builder.tls_certs_merge(certificates);
    }
    builder.build().map_err(|error| {
        let text = format!("the HTTP client cannot start: {}", error.without_url());
        failure(FailureKind::Transport, text)
    })
}

/// True for this machine itself, which no proxy can reach.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let address: Option<std::net::IpAddr> = address.parse().ok();
    host == "localhost" || address.is_some_and(|address| address.is_loopback())
}

/// Refuses a page or an object that came in place of a stream.
fn is_stream(response: &Response) -> Result<(), Failure> {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.is_empty() || kind.to_ascii_lowercase().contains("text/event-stream") {
        return Ok(());
    }
    Err(failure(
        FailureKind::Protocol,
        format!(
            "the provider answered with {}, not with an event stream: is its base URL right?",
            clean(kind)
        ),
    ))
}

/// Reads what comes after the end of the message, so that the connection can be used again.
async fn drain(mut response: Response) {
    let rest = async {
        let mut left = REFUSAL_CAP;
        while let Ok(Some(bytes)) = response.chunk().await {
            left = left.saturating_sub(bytes.len());
            if left == 0 {
                break;
            }
        }
    };
    // A server that keeps the stream open loses the connection.
    let _ = timeout(Duration::from_secs(1), rest).await;
}

/// A part as the owner of bytes that are sent.
struct Owned(Part);

impl AsRef<[u8]> for Owned {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// The body's bytes. Large parts are lent, not copied; small neighbours are copied together,
/// because a frame of the connection costs more than they do.
fn pieces(parts: Vec<Part>) -> impl Iterator<Item = Bytes> + Send + 'static {
    let mut parts = parts.into_iter().filter(|part| !part.is_empty()).peekable();
    std::iter::from_fn(move || {
        let first = parts.next()?;
        if first.len() >= SMALL {
            return Some(Bytes::from_owner(Owned(first)));
        }
        let mut together = first.as_bytes().to_vec();
        while let Some(next) =
            parts.next_if(|next| next.len() < SMALL && together.len() + next.len() <= TOGETHER)
        {
            together.extend_from_slice(next.as_bytes());
        }
        Some(Bytes::from(together))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    const KEY: &str = "sk-ant-very-secret-0123456789";

    /// Collects what is logged.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Refuses one request and sends back all that it got.
    async fn echo(listener: TcpListener) {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut got = Vec::new();
        while !String::from_utf8_lossy(&got).contains("\r\n\r\n") {
            assert_ne!(stream.read_buf(&mut got).await.unwrap(), 0);
        }
        let head = "HTTP/1.1 401 No\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&got).await.unwrap();
    }

    #[tokio::test]
    async fn the_key_is_in_no_error_and_no_log() {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || writer.clone())
            .finish();
        let _guard = tracing::subscriber::set_default(subscriber);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let config = AnthropicConfig::new(Some(base), Some(KEY.to_owned()))
            .header("x-other", "other-secret-value");
        let debug = format!("{config:?}");
        let provider = Anthropic::new(config).unwrap();
        let request = Request {
            id: 1,
            model: "m".to_owned(),
            max_tokens: 1,
            tools: Arc::from("[]"),
            system: Arc::from("[]"),
            messages: Arc::default(),
            attempt: 0,
            delay_ms: 0,
        };
        let mut events = String::new();
        let mut out = |event: StreamEvent| events.push_str(&format!("{event:?}"));
        let cancel = Cancel::new();
        tokio::join!(provider.stream(&request, &mut out, &cancel), echo(listener));
        let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert!(events.contains("x-api-key: [secret]"), "{events}");
        assert!(events.contains("x-other: [secret]"), "{events}");
        assert!(logged.contains("status=401"), "{logged}");
        let debug = debug + &format!("{provider:?}");
        for text in [events, logged, debug] {
            assert!(
                !text.contains(KEY) && !text.contains("other-secret"),
                "{text}"
            );
        }
    }

    #[test]
    fn parts_become_pieces_without_loss() {
        let large: Part = Arc::from("L".repeat(SMALL));
        let small: Part = Arc::from("s".repeat(SMALL - 1));
        let none: Part = Arc::from("");
        let mut parts = vec![Arc::clone(&none), Arc::clone(&small), Arc::clone(&large)];
        parts.extend(std::iter::repeat_n(small, 20));
        parts.extend([Arc::clone(&large), none]);
        let whole: String = parts.iter().map(|part| part.as_ref()).collect();
        let sent: Vec<Bytes> = pieces(parts).collect();
        assert_eq!(sent.concat(), whole.as_bytes());
        assert!(sent
            .iter()
            .all(|piece| !piece.is_empty() && piece.len() <= TOGETHER));
        assert!(sent.len() < 8, "{}", sent.len());
        // Lent, not copied.
        assert!(sent.iter().any(|piece| piece.as_ptr() == large.as_ptr()));
    }

    #[test]
    fn settings_that_cannot_work_are_told() {
        let told = |config| Anthropic::new(config).err().map(|failure| failure.text);
        let at = |url: &str| AnthropicConfig::new(Some(url.to_owned()), None);
        for url in [
            "",
            "localhost:1",
            "ftp://h",
            "http://h/?a",
            "http://h/#a",
            "http://",
        ] {
            assert!(
                told(at(url)).is_some_and(|text| text.contains("base_url")),
                "{url}"
            );
        }
        assert_eq!(told(at("http://h/")), None);
        assert_eq!(told(at("https://h/prefix")), None);
        assert!(told(at("http://h").header("a b", "x")).is_some());
        assert!(told(at("http://h").header("a", "x\ny")).is_some());
        let key = AnthropicConfig::new(None, Some("a\nb".to_owned()));
        assert!(told(key).is_some_and(|text| !text.contains("a\nb")));
        let mut ca = at("http://h");
        ca.ca = Some(b"-----BEGIN CERTIFICATE-----\n!".to_vec());
        assert!(told(ca).is_some());
    }
}
