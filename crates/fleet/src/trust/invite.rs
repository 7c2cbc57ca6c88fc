//! Invitations: one line of text that a member creates, and that is pasted on the new machine.
//!
//! It contains the server, the login and the team, so that the new machine knows which keys to trust. With a one-time
//! secret in it, the new machine proves to the member that it received the invitation.

use std::fs;
use std::io;
use std::path::PathBuf;

use data_encoding::BASE64URL_NOPAD;
use overtone_store::{Home, clock, create_private_dir, files};
use ring::hmac;
use serde::{Deserialize, Serialize};

use super::key::PublicKey;
use super::team::Anchor;
use super::{Keyring, Membership};
use crate::config::{Settings, is_address};
use crate::hex;
use crate::machine::{fleet_dir, random_bytes};
use crate::names::Names;

/// The beginning of an invitation. The digit is its version.
const INVITATION_PREFIX: &str = "overtone-fleet-1.";

/// Longer texts are not read: something else was pasted.
const MAX_INVITATION_CHARS: usize = 16 * 1024;
/// Terminals accept lines of up to 4095 characters. Larger certificates have to be passed to `join` as a file.
const MAX_CA_BYTES: u64 = 1536;

const DAY: i64 = 24 * 60 * 60 * 1000;
/// How many invitations can be open at the same time.
const MAX_OPEN: usize = 100;

/// The content of an invitation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    pub url: String,
    pub prefix: String,
    /// `user:password`, if the server requires one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// The certificate of the authority that issued the server's certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    anchor: Anchor,
    id: String,
    secret: String,
}

/// Why a text is not a usable invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvitationError {
    /// Not an invitation, or only a part of one.
    Invalid,
    /// From a later version of Overtone.
    NewerVersion,
}

/// Whether an unknown machine has used an invitation of this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invited {
    /// It proves that it has received an open invitation of this machine.
    ByUs,
    /// This machine cannot tell: not invited, or invited by another machine.
    NotByUs,
}

/// The proof that a machine has received an invitation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InvitationProof {
    pub(crate) invitation: String,
    pub(crate) proof: String,
}

/// An invitation of this machine that is not used yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct OpenInvitation {
    id: String,
    secret: String,
    until: i64,
}

fn open_invitations_file(home: &Home) -> PathBuf {
    fleet_dir(home).join("invitations.json")
}

fn proof_file(home: &Home) -> PathBuf {
    fleet_dir(home).join("invited.json")
}

/// The bytes that a machine signs with the invitation's secret.
fn signed_text(machine: &str, key: &PublicKey) -> Vec<u8> {
    [b"overtone fleet invitation\n", machine.as_bytes(), b"\n", key.bytes()].concat()
}

impl Invitation {
    pub fn encode(&self) -> String {
        // Strings and numbers cannot fail to serialize.
        let text = serde_json::to_vec(self).unwrap_or_default();
        format!("{INVITATION_PREFIX}{}", BASE64URL_NOPAD.encode(&text))
    }

    /// Parses pasted text. Whitespace is ignored, because terminals may wrap the line.
    pub fn decode(text: &str) -> Result<Self, InvitationError> {
        let text: String =
            text.chars().filter(|c| !c.is_whitespace()).take(MAX_INVITATION_CHARS + 1).collect();
        let Some(rest) = text.strip_prefix(INVITATION_PREFIX) else {
            let is_later = text.starts_with("overtone-fleet-");
            return Err(if is_later { InvitationError::NewerVersion } else { InvitationError::Invalid });
        };
        let bytes = BASE64URL_NOPAD.decode(rest.as_bytes()).map_err(|_| InvitationError::Invalid)?;
        let invitation: Self = serde_json::from_slice(&bytes).map_err(|_| InvitationError::Invalid)?;
        if invitation.is_valid() { Ok(invitation) } else { Err(InvitationError::Invalid) }
    }

    fn is_valid(&self) -> bool {
        let is_hash = |text: &str, length: usize| text.len() == length && hex::decode(text).is_some();
        self.url.split(',').all(|url| is_address(url.trim()))
            && Names::new(&self.prefix).is_some()
            && is_hash(&self.anchor.team, 32)
            && is_hash(&self.anchor.hash, 64)
            && is_hash(&self.id, 16)
            && is_hash(&self.secret, 64)
    }
}

impl Keyring {
    /// Creates an invitation to this machine's team; `None` if it has no team.
    pub fn invite(&self, settings: &Settings) -> io::Result<Option<Invitation>> {
        let (Some(home), Some(anchor)) =
            (&self.0.home, self.state().team.as_ref().map(super::team::Team::anchor))
        else {
            return Ok(None);
        };
        let open = OpenInvitation {
            id: hex::encode(&random_bytes(8)?),
            secret: hex::encode(&random_bytes(32)?),
            until: clock::now().0 + DAY,
        };
        let invitation = Invitation {
            url: settings.redacted_urls(),
            prefix: settings.names.prefix().to_owned(),
            login: settings.read_login()?,
            ca: certificate(settings)?,
            anchor,
            id: open.id.clone(),
            secret: open.secret.clone(),
        };
        update_open_invitations(home, |all| {
            all.push(open);
            let surplus = all.len().saturating_sub(MAX_OPEN);
            all.drain(..surplus);
        })?;
        Ok(Some(invitation))
    }

    /// Stores the proof for the inviting machine, and trusts the team of the invitation from now on.
    pub fn accept_invitation(&self, invitation: &Invitation) -> io::Result<()> {
        let Some(home) = &self.0.home else { return Ok(()) };
        let key = hmac_key(&invitation.secret);
        let tag = hmac::sign(&key, &signed_text(&self.0.machine.id, self.0.key.public()));
        let proof = InvitationProof { invitation: invitation.id.clone(), proof: hex::encode(tag.as_ref()) };
        create_private_dir(&fleet_dir(home))?;
        let text = serde_json::to_vec(&proof).map_err(io::Error::other)?;
        files::write_atomic(&proof_file(home), &text, files::PRIVATE)?;
        let mut state = self.state();
        state.anchor = Some(invitation.anchor.clone());
        Ok(())
    }

    /// The proof that this machine publishes while it waits to be accepted.
    pub(crate) fn invitation_proof(&self) -> Option<InvitationProof> {
        if self.membership() == Membership::Member { None } else { self.read_proof() }
    }

    fn read_proof(&self) -> Option<InvitationProof> {
        let text = files::read_small(&proof_file(self.0.home.as_ref()?)).ok()??;
        serde_json::from_str(&text).ok()
    }

    /// Whether a machine proves that it has received an open invitation of this one.
    pub(crate) fn check_proof(
        &self,
        proof: Option<&InvitationProof>,
        machine: &str,
        key: &PublicKey,
    ) -> Invited {
        let (Some(home), Some(proof)) = (&self.0.home, proof) else { return Invited::NotByUs };
        let all = read_open_invitations(home);
        let Some(open) = all.iter().find(|open| open.id == proof.invitation) else {
            return Invited::NotByUs;
        };
        let tag = hex::decode(&proof.proof).unwrap_or_default();
        let is_proven = hmac::verify(&hmac_key(&open.secret), &signed_text(machine, key), &tag).is_ok();
        if is_proven && open.until > clock::now().0 { Invited::ByUs } else { Invited::NotByUs }
    }

    /// Closes an invitation after its use: it is valid for one machine.
    pub(crate) fn close_invitation(&self, proof: &InvitationProof) -> io::Result<()> {
        let Some(home) = &self.0.home else { return Ok(()) };
        update_open_invitations(home, |all| all.retain(|open| open.id != proof.invitation))
    }
}

fn hmac_key(secret: &str) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes())
}

fn certificate(settings: &Settings) -> io::Result<Option<String>> {
    let Some(file) = &settings.ca else { return Ok(None) };
    if fs::metadata(file)?.len() > MAX_CA_BYTES {
        return Ok(None);
    }
    fs::read_to_string(file).map(Some)
}

/// An unreadable file counts as empty, because invitations can be created again.
fn read_open_invitations(home: &Home) -> Vec<OpenInvitation> {
    let text = files::read_small(&open_invitations_file(home)).ok().flatten();
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn update_open_invitations(home: &Home, change: impl FnOnce(&mut Vec<OpenInvitation>)) -> io::Result<()> {
    create_private_dir(&fleet_dir(home))?;
    let _lock = files::lock_file(&fleet_dir(home).join("machine.lock"), files::lock_timeout())?;
    let mut all = read_open_invitations(home);
    let now = clock::now().0;
    all.retain(|open| open.until > now);
    change(&mut all);
    let text = serde_json::to_vec(&all).map_err(io::Error::other)?;
    files::write_atomic(&open_invitations_file(home), &text, files::PRIVATE)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::trust::key::MachineKey;
    use crate::trust::team::Team;

    fn keyring(dir: &tempfile::TempDir) -> (Keyring, Settings) {
        let home = Home::at(dir.path().to_owned());
        let keyring = Keyring::load_or_create(&home, Some("one")).unwrap();
        let team = Team::create(&keyring.0.machine, &keyring.0.key);
        keyring.state().team = Some(team);
        let settings =
            Settings::read(&home, &json!({ "url": "nats://ann:secret@127.0.0.1:4222" })).0.unwrap();
        (keyring, settings)
    }

    #[test]
    fn an_invitation_is_parsed_after_being_pasted() {
        let dir = tempfile::tempdir().unwrap();
        let (keyring, settings) = keyring(&dir);
        let invitation = keyring.invite(&settings).unwrap().unwrap();
        assert_eq!(invitation.url, "nats://127.0.0.1:4222");
        assert_eq!(invitation.login.as_deref(), Some("ann:secret"));
        let text = invitation.encode();
        let wrapped = format!("  {}\n{}\n", &text[..40], &text[40..]);
        assert_eq!(Invitation::decode(&wrapped), Ok(invitation));
        for wrong in ["", "nats://x", INVITATION_PREFIX, &text[..text.len() - 9], &"x".repeat(100_000)] {
            assert_eq!(Invitation::decode(wrong), Err(InvitationError::Invalid), "{wrong:.40}");
        }
        assert_eq!(Invitation::decode("overtone-fleet-2.x"), Err(InvitationError::NewerVersion));
    }

    #[test]
    fn an_invitation_is_proven_by_its_receiver_only_and_once() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (keyring, settings) = keyring(&dir);
        let invitation = keyring.invite(&settings).unwrap().unwrap();
        let guest = Keyring::load_or_create(&Home::at(other.path().to_owned()), Some("two")).unwrap();
        guest.accept_invitation(&invitation).unwrap();
        let (proof, id) = (guest.read_proof().unwrap(), guest.machine().id);
        let key = guest.0.key.public().clone();
        assert_eq!(keyring.check_proof(Some(&proof), &id, &key), Invited::ByUs);
        assert_eq!(keyring.check_proof(None, &id, &key), Invited::NotByUs);
        let stolen = MachineKey::temporary().unwrap();
        assert_eq!(keyring.check_proof(Some(&proof), &id, stolen.public()), Invited::NotByUs);
        keyring.close_invitation(&proof).unwrap();
        assert_eq!(keyring.check_proof(Some(&proof), &id, &key), Invited::NotByUs);
    }
}
