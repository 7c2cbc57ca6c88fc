//! Encryption in front of a service: what comes through it is handed on.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::service::Service;

type Stream = StreamOwned<ServerConnection, TcpStream>;

pub(crate) struct Secure {
    address: SocketAddr,
    /// It has signed itself.
    pub(crate) certificate: String,
}

impl Secure {
    pub(crate) fn before(service: &Service) -> Self {
        let own = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .unwrap();
        let (config, behind) = (Arc::new(config), service.url().replace("http://", ""));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let secure = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
                // Who does not trust the certificate goes away again.
                let _ = hand_on(secure, &behind);
            }
        });
        Self { address, certificate: own.cert.pem() }
    }

    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.address)
    }
}

/// One request and its answer.
fn hand_on(mut secure: Stream, behind: &str) -> io::Result<()> {
    let request = read(&mut secure)?;
    let mut service = TcpStream::connect(behind)?;
    service.write_all(&request)?;
    let mut answer = Vec::new();
    service.read_to_end(&mut answer)?;
    secure.write_all(&answer)?;
    secure.conn.send_close_notify();
    secure.flush()
}

fn read(secure: &mut Stream) -> io::Result<Vec<u8>> {
    let mut reader = BufReader::new(secure);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    Ok([head.as_bytes(), &body].concat())
}
