//! Orders that were not carried out because they could not be, kept for people to look at: `fleet/refused.json`.

use std::io;
use std::path::PathBuf;

use overtone_engine::text::printable;
use overtone_store::{Home, clock, files};
use serde::{Deserialize, Serialize};

use crate::machine::folder;
use crate::message::Foreign;

/// The last ones are enough to see what is going on.
const MOST_KEPT: usize = 50;
/// How much of an order is kept, in characters.
const PREVIEW: usize = 120;

/// Why an order was put aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// No message of ours.
    Malformed,
    /// From a later version.
    Later,
    /// From a version without signatures.
    Unsigned,
    /// From a machine that is not part of the team.
    UnknownSender,
    /// The signature is not that of the sender.
    Forged,
    /// Its number is too long, too short, or has characters that no number has.
    BadId,
    /// Given too long ago, or in the future.
    OutOfTime,
    /// It was begun several times, and the worker ended each time.
    GivenUp,
    /// For later versions, which may have other reasons.
    #[serde(other)]
    Other,
}

impl From<&Foreign> for Reason {
    fn from(foreign: &Foreign) -> Self {
        match foreign {
            Foreign::Malformed(_) => Self::Malformed,
            Foreign::Later(_) => Self::Later,
            Foreign::Unsigned => Self::Unsigned,
            Foreign::Unknown { .. } => Self::UnknownSender,
            Foreign::Forged => Self::Forged,
        }
    }
}

/// An order that was put aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedOrder {
    pub at: String,
    pub reason: Reason,
    /// The name of the machine that has sent it, if it is known for sure.
    #[serde(default)]
    pub from: Option<String>,
    pub bytes: usize,
    /// How it begins.
    pub preview: String,
}

/// All that were put aside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedOrders {
    /// Since the machine joined.
    pub count: u64,
    /// The last ones, the newest at the end.
    pub orders: Vec<RefusedOrder>,
}

fn path(home: &Home) -> PathBuf {
    folder(home).join("refused.json")
}

/// Orders of this home that were put aside. What cannot be read counts as none.
pub fn refused_orders(home: &Home) -> RefusedOrders {
    let text = files::read_small(&path(home)).ok().flatten();
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

pub(super) fn put_aside(home: &Home, reason: Reason, from: Option<&str>, payload: &[u8]) -> io::Result<()> {
    let mut all = refused_orders(home);
    let start = String::from_utf8_lossy(&payload[..payload.len().min(4 * PREVIEW)]);
    all.count += 1;
    all.orders.push(RefusedOrder {
        at: clock::to_iso(clock::now()),
        reason,
        from: from.map(str::to_owned),
        bytes: payload.len(),
        preview: printable(&start).chars().take(PREVIEW).collect(),
    });
    let surplus = all.orders.len().saturating_sub(MOST_KEPT);
    all.orders.drain(..surplus);
    let text = serde_json::to_vec(&all).map_err(io::Error::other)?;
    files::write_atomic(&path(home), &text, files::PRIVATE)
}

#[cfg(test)]
mod tests {
    use overtone_store::create_private_dir;

    use super::*;

    #[test]
    fn the_last_ones_are_kept_and_can_be_shown() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        create_private_dir(&folder(&home)).unwrap();
        for number in 0..60 {
            let payload = format!("\u{1b}[31m{number}\n{}", "x".repeat(70_000));
            put_aside(&home, Reason::Malformed, None, payload.as_bytes()).unwrap();
        }
        let all = refused_orders(&home);
        assert_eq!((all.count, all.orders.len()), (60, 50));
        let last = all.orders.last().unwrap();
        assert!(last.bytes > 70_000 && last.preview.contains("59 xxx") && last.preview.len() == 120);
        assert!(!last.preview.contains('\u{1b}'));
    }
}
