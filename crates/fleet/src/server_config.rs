//! Writes a configuration for `nats-server` with TLS, and an account with a login for every team.
//!
//! Accounts isolate teams from each other. The permissions within an account are exactly what relays, lists, orders and
//! pulls need below the team's prefix.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use overtone_store::{create_private_dir, files};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};

use crate::machine::random_hex;
use crate::names::Names;

/// The length of a password in bytes. It is written as hexadecimal digits.
const PASSWORD_BYTES: usize = 24;

/// The server to configure.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// The host names and addresses in its certificate.
    pub hosts: Vec<String>,
    pub port: u16,
    pub teams: Vec<Names>,
    /// The folder for all files.
    pub folder: PathBuf,
}

/// The files that were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFiles {
    pub config: PathBuf,
    /// The certificate authority that machines need to trust.
    pub ca: PathBuf,
    /// The prefix and the login file of every team.
    pub logins: Vec<(String, PathBuf)>,
}

impl ServerConfig {
    /// Writes all files. Existing certificates and logins are kept, so that machines that use them stay connected.
    pub fn write(&self) -> io::Result<ServerFiles> {
        create_private_dir(&self.folder)?;
        let ca = self.certificates()?;
        let mut logins = Vec::new();
        let mut accounts = String::new();
        for team in &self.teams {
            let path = self.folder.join(format!("{}.login", team.prefix()));
            let login = login(&path, team.prefix())?;
            let password = match login.split_once(':') {
                Some((_, password)) => password,
                None => &login,
            };
            accounts += &account(team, password);
            logins.push((team.prefix().to_owned(), path));
        }
        let config = self.folder.join("server.conf");
        files::write_atomic(&config, self.render(&accounts).as_bytes(), files::PRIVATE)?;
        Ok(ServerFiles { config, ca, logins })
    }

    fn render(&self, accounts: &str) -> String {
        let path = |name: &str| quoted(&self.folder.join(name).display().to_string());
        format!(
            "# Written by `overtone fleet server-config`. It has passwords in it: keep it private.\n\
             listen: \"0.0.0.0:{}\"\n\
             jetstream {{ store_dir: {} }}\n\
             tls {{ cert_file: {}, key_file: {}, timeout: 5 }}\n\
             accounts {{\n{accounts}}}\n",
            self.port,
            path("data"),
            path("server.pem"),
            path("server.key"),
        )
    }

    /// Creates an authority and the server's certificate, unless they exist. The authority's private key is discarded,
    /// because it signs nothing else.
    fn certificates(&self) -> io::Result<PathBuf> {
        let [ca, certificate, key] =
            ["ca.pem", "server.pem", "server.key"].map(|name| self.folder.join(name));
        if [&ca, &certificate, &key].iter().all(|path| path.exists()) {
            return Ok(ca);
        }
        let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, "Overtone fleet");
        let own = KeyPair::generate().map_err(io::Error::other)?;
        let issuer = CertifiedIssuer::self_signed(params, own).map_err(io::Error::other)?;
        let mut params = CertificateParams::new(self.hosts.clone()).map_err(io::Error::other)?;
        params.distinguished_name.push(DnType::CommonName, "Overtone fleet server");
        let server = KeyPair::generate().map_err(io::Error::other)?;
        let signed = params.signed_by(&server, &issuer).map_err(io::Error::other)?;
        write_private(&key, &server.serialize_pem())?;
        write_private(&certificate, &signed.pem())?;
        write_private(&ca, &issuer.pem())?;
        Ok(ca)
    }
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    files::write_atomic(path, text.as_bytes(), files::PRIVATE)
}

/// A new random password, as hexadecimal digits.
pub fn new_password() -> io::Result<String> {
    random_hex(PASSWORD_BYTES)
}

/// Reads `user:password` from the file, or creates it.
fn login(path: &Path, user: &str) -> io::Result<String> {
    if let Some(text) = files::read_small(path)? {
        return Ok(text.trim().to_owned());
    }
    let login = format!("{user}:{}", new_password()?);
    write_private(path, &format!("{login}\n"))?;
    Ok(login)
}

/// Quotes a string for the configuration file.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn account(team: &Names, password: &str) -> String {
    let mut text = format!(
        "  {}: {{\n    jetstream: enabled\n    users: [ {{ user: {}, password: {}, permissions: {{\n      publish: [\n",
        quoted(&team.prefix().replace('.', "_")),
        quoted(team.prefix()),
        quoted(password),
    );
    for subject in publish_permissions(team) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "        {}", quoted(&subject));
    }
    let _ = writeln!(
        text,
        "      ]\n      subscribe: [ {} ]\n    }} }} ]\n  }}",
        quoted(&format!("{}.>", team.inbox()))
    );
    text
}

/// The subjects on which a machine of a team may publish.
fn publish_permissions(team: &Names) -> Vec<String> {
    let buckets = [
        team.heartbeat_bucket(),
        team.machines_bucket(),
        team.sessions_bucket(),
        team.claims_bucket(),
        team.handoffs_bucket(),
        team.team_bucket(),
    ];
    let mut all = vec![format!("{}.>", team.prefix())];
    all.extend(buckets.iter().map(|bucket| format!("$KV.{bucket}.>")));
    let of_buckets = buckets.iter().map(|bucket| format!("KV_{bucket}"));
    for stream in [team.events_stream(), team.orders_stream()].into_iter().chain(of_buckets) {
        all.extend([
            format!("$JS.API.STREAM.INFO.{stream}"),
            format!("$JS.API.STREAM.CREATE.{stream}"),
            format!("$JS.API.STREAM.MSG.GET.{stream}"),
            format!("$JS.API.DIRECT.GET.{stream}"),
            format!("$JS.API.DIRECT.GET.{stream}.>"),
            format!("$JS.ACK.{stream}.>"),
            format!("$JS.FC.{stream}.>"),
            format!("$JS.API.CONSUMER.*.{stream}"),
            format!("$JS.API.CONSUMER.*.{stream}.>"),
            format!("$JS.API.CONSUMER.DURABLE.CREATE.{stream}.*"),
            format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.*"),
        ]);
    }
    all.push(format!("$JS.API.STREAM.MSG.DELETE.{}", team.orders_stream()));
    all
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn files_are_private_and_a_second_run_keeps_certificates_and_logins() {
        let dir = tempfile::tempdir().unwrap();
        let team = |prefix| Names::new(prefix).unwrap();
        let mut config = ServerConfig {
            hosts: vec!["127.0.0.1".to_owned()],
            port: 4222,
            teams: vec![team("team.a")],
            folder: dir.path().join("nats"),
        };
        let first = config.write().unwrap();
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        let (ca, login) = (read(&first.ca), read(&first.logins[0].1));
        config.teams.push(team("b"));
        let again = config.write().unwrap();
        assert_eq!((read(&again.ca), read(&again.logins[0].1)), (ca, login.clone()));
        let text = read(&again.config);
        assert!(
            text.contains(login.trim().split_once(':').unwrap().1) && text.contains("\"b\": {"),
            "{text}"
        );
        for entry in fs::read_dir(&config.folder).unwrap() {
            let mode = entry.unwrap().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0);
        }
    }
}
