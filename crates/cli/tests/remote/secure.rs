//! Encryption in front of a service: what comes through it is handed on.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use crate::service::Service;
use crate::tls::{Stream, Tls};

pub(crate) struct Secure {
    address: SocketAddr,
    /// It has signed itself.
    pub(crate) certificate: String,
}

impl Secure {
    pub(crate) fn before(service: &Service) -> Self {
        let (tls, behind) = (Tls::new(), service.url().replace("http://", ""));
        let certificate = tls.certificate.clone();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Who does not trust the certificate goes away again.
                let _ = hand_on(tls.accept(stream), &behind);
            }
        });
        Self { address, certificate }
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
