//! Which proxy a request uses, and which certificates are trusted.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use rustls::crypto::ring;
use ureq::Proxy;
use ureq::http::Uri;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// The client honours the first, most other programs the second.
const CERTIFICATE_FILES: [&str; 2] = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];
/// Certificate bundles are far smaller.
const MAX_BUNDLE: u64 = 8 * 1024 * 1024;

/// The network settings of the environment.
#[derive(Clone, Default)]
pub struct Network {
    https_proxy: Option<String>,
    http_proxy: Option<String>,
    no_proxy: String,
    certificates: Vec<(&'static str, String)>,
}

/// Why the environment's settings cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkError {
    /// The proxy's address is not one.
    Proxy,
    /// The file that this variable names holds no certificates.
    Certificates { variable: &'static str },
}

impl Network {
    pub fn from_env(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| variable(name).filter(|text| !text.trim().is_empty());
        let either = |name: &str| get(name).or_else(|| get(&name.to_ascii_lowercase()));
        let all = either("ALL_PROXY");
        Self {
            https_proxy: either("HTTPS_PROXY").or_else(|| all.clone()),
            http_proxy: either("HTTP_PROXY").or(all),
            no_proxy: either("NO_PROXY").unwrap_or_default(),
            certificates: CERTIFICATE_FILES
                .into_iter()
                .filter_map(|name| get(name).map(|file| (name, file)))
                .collect(),
        }
    }

    /// The proxy for an address, if one applies.
    pub fn proxy(&self, to: &Uri) -> Result<Option<Proxy>, NetworkError> {
        let named = if to.scheme_str() == Some("https") { &self.https_proxy } else { &self.http_proxy };
        let host = to.host().unwrap_or_default();
        match named {
            Some(proxy) if !is_excepted(&self.no_proxy, host) => {
                Proxy::new(proxy).map(Some).map_err(|_| NetworkError::Proxy)
            }
            _ => Ok(None),
        }
    }

    /// Trusts the well-known authorities and those that the user names.
    pub fn tls(&self) -> Result<TlsConfig, NetworkError> {
        let known = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
        let mut roots: Vec<_> = known.map(|root| Certificate::from_der(root).to_owned()).collect();
        for (variable, file) in &self.certificates {
            let more = bundle(file).map_err(|_| NetworkError::Certificates { variable })?;
            roots.extend(more);
        }
        Ok(TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(roots)))
            .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
            .build())
    }
}

/// Leaves out the proxies: an address may contain a password.
impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("certificates", &self.certificates).finish_non_exhaustive()
    }
}

/// The certificates of a PEM file. A file without any is an error.
fn bundle(file: &str) -> io::Result<Vec<Certificate<'static>>> {
    let mut text = Vec::new();
    File::open(file)?.take(MAX_BUNDLE).read_to_end(&mut text)?;
    let mut found = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(certificate) = item.map_err(io::Error::other)? {
            found.push(certificate);
        }
    }
    if found.is_empty() { Err(io::ErrorKind::InvalidData.into()) } else { Ok(found) }
}

/// `NO_PROXY`: names with everything below them, with or without a leading dot or `*.`, or `*` for all.
fn is_excepted(no_proxy: &str, host: &str) -> bool {
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    no_proxy.split([',', ' ']).map(|entry| entry.trim().to_ascii_lowercase()).any(|entry| {
        let name = entry.trim_start_matches('*').trim_start_matches('.');
        let below = || matches!(host.strip_suffix(name), Some(rest) if rest.ends_with('.'));
        entry == "*" || (!name.is_empty() && (host == name || below()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_hosts_need_no_proxy() {
        let list = "localhost, .corp.example,*.other.example 127.0.0.1";
        for host in ["localhost", "corp.example", "a.corp.example", "b.other.example", "127.0.0.1"] {
            assert!(is_excepted(list, host), "{host}");
        }
        for host in ["evilcorp.example", "example", "127.0.0.11"] {
            assert!(!is_excepted(list, host), "{host}");
        }
        assert!(is_excepted("*", "anything") && !is_excepted("", "anything"));
    }

    #[test]
    fn the_proxy_follows_the_scheme() {
        let network = Network::from_env(&|name| match name {
            "https_proxy" => Some("http://secure:1".to_owned()),
            "ALL_PROXY" => Some("http://all:2".to_owned()),
            "NO_PROXY" => Some("direct".to_owned()),
            _ => None,
        });
        let host =
            |to: &str| network.proxy(&to.parse().unwrap()).unwrap().map(|proxy| proxy.host().to_owned());
        assert_eq!(host("https://a/"), Some("secure".to_owned()));
        assert_eq!(host("http://a/"), Some("all".to_owned()));
        assert_eq!(host("https://direct/"), None);
    }
}
