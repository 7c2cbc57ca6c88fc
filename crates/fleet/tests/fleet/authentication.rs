//! Authentication with real servers: certificates of the server and of clients, and credentials files.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::BASE64URL_NOPAD;
use nkeys::{KeyPair, KeyPairType};
use overtone_fleet::Settings;
use overtone_store::files;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Servers, TestMachine, block_on, published_events, try_open};
use overtone_testkit::wait_until;

/// The error of a connection attempt, if it fails.
fn refusal(settings: &Settings) -> Option<String> {
    block_on(try_open(settings)).err().map(|error| error.to_string())
}

fn wait_for(settings: &Settings) {
    wait_until("the server is there", || refusal(settings).is_none());
}

/// A private certificate authority and its files.
struct Authority {
    dir: TempDir,
    issuer: CertifiedIssuer<'static, rcgen::KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut about = CertificateParams::new(Vec::new()).unwrap();
        about.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(about, rcgen::KeyPair::generate().unwrap()).unwrap();
        let own = Self { dir: tempfile::tempdir().unwrap(), issuer };
        own.keep("ca.pem", &own.issuer.pem());
        own
    }

    fn keep(&self, name: &str, text: &str) {
        files::write_atomic(&self.file(name), text.as_bytes(), 0o600).unwrap();
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The files of a certificate and its key.
    fn sign(&self, name: &str) -> (PathBuf, PathBuf) {
        let key = rcgen::KeyPair::generate().unwrap();
        let about = CertificateParams::new(vec![name.to_owned()]).unwrap();
        self.keep(&format!("{name}.pem"), &about.signed_by(&key, &self.issuer).unwrap().pem());
        self.keep(&format!("{name}.key"), &key.serialize_pem());
        (self.file(&format!("{name}.pem")), self.file(&format!("{name}.key")))
    }

    /// A server with a certificate of this authority.
    fn server(&self, more: &str) -> Servers {
        let (certificate, key) = self.sign("127.0.0.1");
        let named = |name: &str, file: &Path| format!("{name}: {:?}", file.display().to_string());
        Servers::one_with(&[
            "tls {",
            &named("cert_file", &certificate),
            &named("key_file", &key),
            &named("ca_file", &self.file("ca.pem")),
            more,
            "}",
        ])
    }
}

#[test]
fn a_private_authority_is_trusted_only_if_configured() {
    let (own, other) = (Authority::new(), Authority::new());
    let servers = own.server("");
    let unnamed = servers.settings("a");
    let named = Settings { ca: Some(own.file("ca.pem")), ..unnamed.clone() };
    wait_for(&named);
    let machine = TestMachine::new(&named, "one");
    (0..5).for_each(|n| machine.append("s", n));
    let _relay = machine.relay();
    wait_until("events arrive", || {
        published_events(&machine.settings)
            .is_some_and(|published_events| published_events.into_values().flatten().eq(0..5))
    });
    for wrong in [unnamed, Settings { ca: Some(other.file("ca.pem")), ..named }] {
        let refusal = refusal(&wrong).expect("an unknown certificate is refused");
        assert!(refusal.contains("certificate"), "{refusal}");
    }
}

#[test]
fn an_unencrypted_server_is_rejected_if_tls_is_configured() {
    let own = Authority::new();
    let servers = Servers::one();
    let asked = Settings { ca: Some(own.file("ca.pem")), ..servers.settings("a") };
    assert!(refusal(&asked).is_some(), "a password would have gone over the wire for all to read");
    let by_address = Settings {
        urls: servers.urls().iter().map(|url| url.replace("nats://", "tls://")).collect(),
        ..servers.settings("a")
    };
    assert!(refusal(&by_address).is_some());
}

#[test]
fn a_client_certificate_is_sent_if_the_server_requires_one() {
    let own = Authority::new();
    let servers = own.server("verify: true");
    let without = Settings { ca: Some(own.file("ca.pem")), ..servers.settings("a") };
    let with = Settings { identity: Some(own.sign("machine")), ..without.clone() };
    wait_for(&with);
    assert!(refusal(&without).is_some());
    let stranger = Settings { identity: Some(Authority::new().sign("stranger")), ..without };
    assert!(refusal(&stranger).is_some());
}

/// The keys of a server in operator mode.
struct Operator {
    own: KeyPair,
    account: KeyPair,
    system: KeyPair,
}

impl Operator {
    fn new() -> Self {
        let pair = |kind, byte| KeyPair::new_from_raw(kind, [byte; 32]).unwrap();
        Self {
            own: pair(KeyPairType::Operator, 1),
            account: pair(KeyPairType::Account, 2),
            system: pair(KeyPairType::Account, 3),
        }
    }

    fn lines(&self) -> Vec<String> {
        let operator = claim(&self.own, &self.own, None, &json!({ "type": "operator", "version": 2 }));
        let account = |pair: &KeyPair| format!("{}: {}", pair.public_key(), self.account(pair));
        vec![
            format!("operator: {operator}"),
            format!("system_account: {}", self.system.public_key()),
            "resolver: MEMORY".to_owned(),
            format!("resolver_preload: {{\n{}\n{}\n}}", account(&self.account), account(&self.system)),
        ]
    }

    fn account(&self, pair: &KeyPair) -> String {
        // The system account may not use storage.
        let room = if pair.public_key() == self.system.public_key() { 0 } else { -1 };
        let limits = json!({
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1,
            "leaf": -1, "mem_storage": room, "disk_storage": room, "streams": room, "consumer": room,
        });
        claim(&self.own, pair, None, &json!({ "limits": limits, "type": "account", "version": 2 }))
    }

    /// A credentials file for a user, with an optional expiry time.
    fn credentials(&self, expires: Option<u64>) -> String {
        let user = KeyPair::new_from_raw(KeyPairType::User, [4; 32]).unwrap();
        let may = json!({
            "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2,
        });
        let jwt = claim(&self.account, &user, expires, &may);
        let seed = user.seed().unwrap();
        format!(
            "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        )
    }
}

/// A signed token of one key about another.
fn claim(issuer: &KeyPair, subject: &KeyPair, expires: Option<u64>, nats: &Value) -> String {
    let mut body = json!({
        "jti": "test", "iat": now() - 60, "iss": issuer.public_key(), "sub": subject.public_key(), "name": "test",
        "nats": nats,
    });
    if let Some(expires) = expires {
        body["exp"] = json!(expires);
    }
    let part = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let text = format!("{}.{}", part(&json!({ "typ": "JWT", "alg": "ed25519-nkey" })), part(&body));
    let signature = BASE64URL_NOPAD.encode(&issuer.sign(text.as_bytes()).unwrap());
    format!("{text}.{signature}")
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

#[test]
fn a_renewed_credentials_file_is_used_without_a_restart() {
    let operator = Operator::new();
    let lines = operator.lines();
    let servers = Servers::one_with(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("me.creds");
    let put = |text: &str| files::write_atomic(&file, text.as_bytes(), 0o600).unwrap();
    put(&operator.credentials(None));
    let open = servers.settings("a");
    let settings = Settings { credentials: Some(file.clone()), ..open.clone() };
    wait_for(&settings);
    assert!(refusal(&open).is_some_and(|refusal| refusal.contains("authorization")));
    put("not a credentials file");
    assert!(refusal(&settings).is_some_and(|refusal| refusal.contains("me.creds")), "names the file");

    // The credentials expire while the relay is connected. If connecting takes longer, they are extended.
    let mut lifetime = 3;
    let mut end = now() + lifetime;
    put(&operator.credentials(Some(end)));
    let machine = TestMachine::new(&settings, "one");
    machine.append("s", 0);
    let relay = machine.relay();
    wait_until("the relay is connected", || {
        let is_connected = relay.status().is_connected;
        if !is_connected && now() > end {
            lifetime *= 2;
            end = now() + lifetime;
            put(&operator.credentials(Some(end)));
        }
        is_connected
    });
    wait_until("the end of the credentials is noticed", || {
        machine.append("s", 1);
        relay.status().problem.is_some()
    });
    put(&operator.credentials(None));
    wait_until("the rest arrives", || {
        published_events(&settings).is_some_and(|published_events| {
            published_events
                .into_values()
                .next()
                .is_some_and(|counts| counts.len() > 1 && counts[1..].iter().all(|n| *n == 1))
        })
    });
    wait_until("the trouble is over", || relay.status().problem.is_none());
}
