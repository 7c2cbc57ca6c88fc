//! Invitations: one line that a member makes and somebody pastes on the new machine.
//!
//! It says where the server is, how to be let in, and which team is meant, so that the new machine knows whom to
//! believe. A secret in it, which is used once, shows the member that a new key is from whoever got the line.

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
use crate::machine::{folder, random_bytes};
use crate::names::Names;

/// How an invitation begins. The digit is its version.
const MARK: &str = "overtone-fleet-1.";

/// A pasted page instead of an invitation.
const MOST_BYTES: usize = 16 * 1024;
/// A terminal takes lines of 4095 characters: larger certificates are given to `join` by hand.
const MOST_CA_BYTES: u64 = 1536;

const DAY: i64 = 24 * 60 * 60 * 1000;
/// How many invitations can be open at once.
const MOST_OPEN: usize = 100;

/// What an invitation says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    pub url: String,
    pub prefix: String,
    /// `user:password`, where the server wants one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// The certificate of the authority that the server's is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    anchor: Anchor,
    id: String,
    secret: String,
}

/// Why a text is no invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadInvitation {
    /// Something else, or only a part of one.
    NotOne,
    /// From a later version.
    Later,
}

/// How an unknown machine came to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invited {
    /// By an invitation of this machine that is still open.
    ByUs,
    /// Not that this machine could tell.
    NotByUs,
}

/// What the new machine shows of its invitation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Proof {
    pub(crate) invitation: String,
    pub(crate) proof: String,
}

/// An invitation of this machine that nobody has used yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Open {
    id: String,
    secret: String,
    until: i64,
}

fn open_file(home: &Home) -> PathBuf {
    folder(home).join("invitations.json")
}

fn proof_file(home: &Home) -> PathBuf {
    folder(home).join("invited.json")
}

fn signed_text(machine: &str, key: &PublicKey) -> Vec<u8> {
    [b"overtone fleet invitation\n", machine.as_bytes(), b"\n", key.bytes()].concat()
}

impl Invitation {
    pub fn encode(&self) -> String {
        // Texts and numbers only, so this cannot fail.
        let text = serde_json::to_vec(self).unwrap_or_default();
        format!("{MARK}{}", BASE64URL_NOPAD.encode(&text))
    }

    /// Reads a line that was pasted; blanks and line breaks in it are the terminal's.
    pub fn decode(text: &str) -> Result<Self, BadInvitation> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).take(MOST_BYTES + 1).collect();
        let Some(rest) = text.strip_prefix(MARK) else {
            let is_later = text.starts_with("overtone-fleet-");
            return Err(if is_later { BadInvitation::Later } else { BadInvitation::NotOne });
        };
        let bytes = BASE64URL_NOPAD.decode(rest.as_bytes()).map_err(|_| BadInvitation::NotOne)?;
        let invitation: Self = serde_json::from_slice(&bytes).map_err(|_| BadInvitation::NotOne)?;
        if invitation.is_usable() { Ok(invitation) } else { Err(BadInvitation::NotOne) }
    }

    fn is_usable(&self) -> bool {
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
    /// A new invitation to this machine's team; `None` if it is part of none.
    pub fn invite(&self, settings: &Settings) -> io::Result<Option<Invitation>> {
        let (Some(home), Some(anchor)) =
            (&self.0.home, self.state().team.as_ref().map(super::team::Team::anchor))
        else {
            return Ok(None);
        };
        let open = Open {
            id: hex::encode(&random_bytes(8)?),
            secret: hex::encode(&random_bytes(32)?),
            until: clock::now().0 + DAY,
        };
        let invitation = Invitation {
            url: settings.shown_urls(),
            prefix: settings.names.prefix().to_owned(),
            login: settings.login_text()?,
            ca: certificate(settings)?,
            anchor,
            id: open.id.clone(),
            secret: open.secret.clone(),
        };
        change_open(home, |all| {
            all.push(open);
            let surplus = all.len().saturating_sub(MOST_OPEN);
            all.drain(..surplus);
        })?;
        Ok(Some(invitation))
    }

    /// Whom to believe from now on, and what to show the member that has invited this machine.
    pub fn follow(&self, invitation: &Invitation) -> io::Result<()> {
        let Some(home) = &self.0.home else { return Ok(()) };
        let key = secret_key(&invitation.secret);
        let tag = hmac::sign(&key, &signed_text(&self.0.machine.id, self.0.key.public()));
        let proof = Proof { invitation: invitation.id.clone(), proof: hex::encode(tag.as_ref()) };
        create_private_dir(&folder(home))?;
        let text = serde_json::to_vec(&proof).map_err(io::Error::other)?;
        files::write_atomic(&proof_file(home), &text, files::PRIVATE)?;
        let mut state = self.state();
        state.anchor = Some(invitation.anchor.clone());
        Ok(())
    }

    /// What this machine shows while it waits to be accepted.
    pub(crate) fn shown_proof(&self) -> Option<Proof> {
        if self.membership() == Membership::Member { None } else { self.proof() }
    }

    fn proof(&self) -> Option<Proof> {
        let text = files::read_small(&proof_file(self.0.home.as_ref()?)).ok()??;
        serde_json::from_str(&text).ok()
    }

    pub(crate) fn invited(&self, proof: Option<&Proof>, machine: &str, key: &PublicKey) -> Invited {
        let (Some(home), Some(proof)) = (&self.0.home, proof) else { return Invited::NotByUs };
        let open = read_open(home).into_iter().find(|open| open.id == proof.invitation);
        let is_shown = |open: &Open| {
            let tag = hex::decode(&proof.proof).unwrap_or_default();
            open.until > clock::now().0
                && hmac::verify(&secret_key(&open.secret), &signed_text(machine, key), &tag).is_ok()
        };
        if open.as_ref().is_some_and(is_shown) { Invited::ByUs } else { Invited::NotByUs }
    }

    /// An invitation is good for one machine.
    pub(crate) fn use_up(&self, proof: &Proof) -> io::Result<()> {
        let Some(home) = &self.0.home else { return Ok(()) };
        change_open(home, |all| all.retain(|open| open.id != proof.invitation))
    }
}

fn secret_key(secret: &str) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes())
}

fn certificate(settings: &Settings) -> io::Result<Option<String>> {
    let Some(file) = &settings.ca else { return Ok(None) };
    if fs::metadata(file)?.len() > MOST_CA_BYTES {
        return Ok(None);
    }
    fs::read_to_string(file).map(Some)
}

/// What cannot be read counts as nothing: an invitation can be made again.
fn read_open(home: &Home) -> Vec<Open> {
    let text = files::read_small(&open_file(home)).ok().flatten();
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn change_open(home: &Home, change: impl FnOnce(&mut Vec<Open>)) -> io::Result<()> {
    create_private_dir(&folder(home))?;
    let _lock = files::lock_file(&folder(home).join("machine.lock"), files::lock_wait())?;
    let mut all = read_open(home);
    let now = clock::now().0;
    all.retain(|open| open.until > now);
    change(&mut all);
    let text = serde_json::to_vec(&all).map_err(io::Error::other)?;
    files::write_atomic(&open_file(home), &text, files::PRIVATE)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::trust::key::MachineKey;
    use crate::trust::team::Team;

    fn keyring(dir: &tempfile::TempDir) -> (Keyring, Settings) {
        let home = Home::at(dir.path().to_owned());
        let keyring = Keyring::of(&home, Some("one")).unwrap();
        let team = Team::found(&keyring.0.machine, &keyring.0.key);
        keyring.state().team = Some(team);
        let settings =
            Settings::read(&home, &json!({ "url": "nats://ann:secret@127.0.0.1:4222" })).0.unwrap();
        (keyring, settings)
    }

    #[test]
    fn an_invitation_survives_being_pasted() {
        let dir = tempfile::tempdir().unwrap();
        let (keyring, settings) = keyring(&dir);
        let invitation = keyring.invite(&settings).unwrap().unwrap();
        assert_eq!(invitation.url, "nats://127.0.0.1:4222");
        assert_eq!(invitation.login.as_deref(), Some("ann:secret"));
        let text = invitation.encode();
        let wrapped = format!("  {}\n{}\n", &text[..40], &text[40..]);
        assert_eq!(Invitation::decode(&wrapped), Ok(invitation));
        for wrong in ["", "nats://x", MARK, &text[..text.len() - 9], &"x".repeat(100_000)] {
            assert_eq!(Invitation::decode(wrong), Err(BadInvitation::NotOne), "{wrong:.40}");
        }
        assert_eq!(Invitation::decode("overtone-fleet-2.x"), Err(BadInvitation::Later));
    }

    #[test]
    fn only_whoever_has_the_line_shows_that_it_was_invited_and_once() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (keyring, settings) = keyring(&dir);
        let invitation = keyring.invite(&settings).unwrap().unwrap();
        let guest = Keyring::of(&Home::at(other.path().to_owned()), Some("two")).unwrap();
        guest.follow(&invitation).unwrap();
        let (proof, id) = (guest.proof().unwrap(), guest.machine().id);
        let key = guest.0.key.public().clone();
        assert_eq!(keyring.invited(Some(&proof), &id, &key), Invited::ByUs);
        assert_eq!(keyring.invited(None, &id, &key), Invited::NotByUs);
        let stolen = MachineKey::temporary().unwrap();
        assert_eq!(keyring.invited(Some(&proof), &id, stolen.public()), Invited::NotByUs);
        keyring.use_up(&proof).unwrap();
        assert_eq!(keyring.invited(Some(&proof), &id, &key), Invited::NotByUs);
    }
}
