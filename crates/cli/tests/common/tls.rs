//! A server's side of an encrypted connection, with a certificate that it has signed itself.

use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

pub(crate) type Stream = StreamOwned<ServerConnection, TcpStream>;

pub(crate) struct Tls {
    config: Arc<ServerConfig>,
    pub(crate) certificate: String,
}

impl Tls {
    pub(crate) fn new() -> Self {
        let own = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .unwrap();
        Self { config: Arc::new(config), certificate: own.cert.pem() }
    }

    pub(crate) fn accept(&self, stream: TcpStream) -> Stream {
        StreamOwned::new(ServerConnection::new(Arc::clone(&self.config)).unwrap(), stream)
    }
}
