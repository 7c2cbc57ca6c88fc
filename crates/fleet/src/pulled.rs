//! The claim with which a session was pulled: `claim.json` in its folder.
//!
//! The relay learns of a claim from the server, a moment after the pull. In that moment the server could show it an earlier
//! claim again, and it would hand the session over. With the file, earlier claims are invalid from the start.

use std::io;

use overtone_store::files::{self, PRIVATE};
use overtone_store::seal::{Layout, SealState};
use overtone_store::{Session, StoreError};

use crate::claims::KnownClaim;
use crate::message::Claim;

const NAME: &str = "claim.json";

pub(crate) fn write_pulled_claim(session: &Session, claim: &Claim) -> Result<(), StoreError> {
    let path = session.dir().join(NAME);
    let known = KnownClaim { epoch: claim.epoch, machine: claim.machine.clone() };
    let written = serde_json::to_vec(&known).map_err(io::Error::from).and_then(|mut content| {
        session.seal_file(NAME, Layout::Compact, &mut content)?;
        files::write_atomic(&path, &content, PRIVATE)
    });
    written.map_err(|error| StoreError::io(&path, error))
}

/// The claim with which the session was pulled. A file that Overtone did not write counts as missing: otherwise a session that
/// another machine has taken over could be claimed back by editing a file.
pub(crate) fn pulled_claim(session: &Session) -> Option<KnownClaim> {
    let text = files::read_small(&session.dir().join(NAME)).ok()??;
    match session.check_file(NAME, Layout::Compact, text.as_bytes()) {
        Ok(SealState::Valid) => serde_json::from_str(&text).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use overtone_store::{Home, SessionId};

    use super::*;

    #[test]
    fn only_a_claim_that_was_sealed_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let session = Home::at(folder.path().to_owned()).session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        assert_eq!(pulled_claim(&session), None);
        let claim = Claim {
            machine: "one".into(),
            name: "One".into(),
            session: None,
            taken_from: None,
            at: String::new(),
            epoch: 7,
        };
        write_pulled_claim(&session, &claim).unwrap();
        let known = KnownClaim { epoch: 7, machine: "one".into() };
        assert_eq!(pulled_claim(&session), Some(known));
        let path = session.dir().join(NAME);
        let edited = std::fs::read_to_string(&path).unwrap().replace('7', "9");
        files::write_atomic(&path, edited.as_bytes(), PRIVATE).unwrap();
        assert_eq!(pulled_claim(&session), None);
    }
}
