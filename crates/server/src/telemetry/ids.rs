//! The ids of traces and spans. They are derived from where something began in the timeline, so that a span that is sent
//! again has the same id.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use overtone_store::SessionId;
use sha2::{Digest, Sha256};

/// Generates the ids for one session of one machine.
#[derive(Debug, Clone)]
pub(crate) struct Ids {
    seed: Sha256,
}

impl Ids {
    pub(crate) fn new(machine: &str, session: &SessionId) -> Self {
        let mut seed = Sha256::new();
        for part in [machine, session.as_str()] {
            // The length is included so that different pairs never hash the same bytes.
            seed.update((part.len() as u64).to_be_bytes());
            seed.update(part);
        }
        Self { seed }
    }

    /// The trace of the workflow whose first line is at this offset of the timeline.
    pub(crate) fn trace(&self, offset: u64) -> Vec<u8> {
        self.digest("trace", offset)[..16].to_vec()
    }

    pub(crate) fn span(&self, offset: u64) -> Vec<u8> {
        self.digest("span", offset)[..8].to_vec()
    }

    fn digest(&self, what: &str, offset: u64) -> [u8; 32] {
        self.seed.clone().chain_update(what).chain_update(offset.to_be_bytes()).finalize().into()
    }
}

/// Distinguishes the homes of one machine without naming them.
pub(crate) fn instance(machine: &str, home: &Path) -> String {
    let digest =
        Sha256::new().chain_update(machine).chain_update([0]).chain_update(home.as_os_str().as_bytes());
    let number = digest.finalize()[..8].iter().fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    format!("{number:016x}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn ids(machine: &str, session: &str) -> Ids {
        Ids::new(machine, &SessionId::parse(session).unwrap())
    }

    #[test]
    fn ids_depend_only_on_where_something_began() {
        let (a, b) = (ids("m", "s"), ids("m", "s"));
        assert_eq!((a.trace(7), a.span(7)), (b.trace(7), b.span(7)));
        assert_eq!((a.trace(7).len(), a.span(7).len()), (16, 8));
        // Collectors already have these ids, so no version may change them.
        assert_eq!(
            u128::from_be_bytes(a.trace(7).try_into().unwrap()),
            0x701c_9fcb_ea6d_45b1_670e_efd0_33da_afbe
        );
        assert_eq!(u64::from_be_bytes(a.span(7).try_into().unwrap()), 0x9e83_b5d4_bdff_8570);
    }

    #[test]
    fn another_machine_session_or_offset_has_other_ids() {
        let all =
            [("m", "s", 7), ("m", "s", 8), ("m", "t", 7), ("n", "s", 7), ("ms", "s", 7), ("m", "ss", 7)];
        let spans: HashSet<_> = all.iter().map(|(m, s, offset)| ids(m, s).span(*offset)).collect();
        let traces: HashSet<_> = all.iter().map(|(m, s, offset)| ids(m, s).trace(*offset)).collect();
        assert_eq!((spans.len(), traces.len()), (all.len(), all.len()));
        assert_ne!(ids("m", "s").trace(7)[..8], ids("m", "s").span(7)[..]);
    }
}
