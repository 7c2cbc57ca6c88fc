//! Records messages that are not valid orders in `fleet/refused.json`, for the user to inspect.

use std::io;
use std::path::PathBuf;

use overtone_core::engine::text::printable;
use overtone_store::{Home, clock, files};
use serde::{Deserialize, Serialize};

use crate::machine::fleet_dir;
use crate::message::MessageError;

/// How many of the last orders are kept.
const MAX_KEPT: usize = 50;
/// How many characters of an order are kept.
const PREVIEW_CHARS: usize = 120;

/// Why an order was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalReason {
    /// Not a message of the fleet.
    Malformed,
    /// From a later version.
    Later,
    /// From a version without signatures.
    Unsigned,
    /// From a machine that is not part of the team.
    UnknownSender,
    /// The signature is not that of the sender.
    Forged,
    /// Its id has an invalid length or invalid characters.
    BadId,
    /// Signed too long ago, or in the future.
    OutOfTime,
    /// It was started several times, and the worker ended each time.
    GivenUp,
    /// A reason of a later version.
    #[serde(other)]
    Other,
}

impl From<&MessageError> for RefusalReason {
    fn from(error: &MessageError) -> Self {
        match error {
            MessageError::Malformed(_) => Self::Malformed,
            MessageError::Later(_) => Self::Later,
            MessageError::Unsigned => Self::Unsigned,
            MessageError::Unknown { .. } => Self::UnknownSender,
            MessageError::Forged => Self::Forged,
        }
    }
}

/// An order that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedOrder {
    pub at: String,
    pub reason: RefusalReason,
    /// The name of the sender, if it is verified.
    #[serde(default)]
    pub from: Option<String>,
    pub bytes: usize,
    /// The beginning of the order.
    pub preview: String,
}

/// All refused orders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedOrders {
    /// How many orders were refused since the machine joined.
    pub count: u64,
    /// The last ones, the newest at the end.
    pub orders: Vec<RefusedOrder>,
}

fn path(home: &Home) -> PathBuf {
    fleet_dir(home).join("refused.json")
}

/// The refused orders of this home. An unreadable file counts as empty.
pub fn refused_orders(home: &Home) -> RefusedOrders {
    let text = files::read_small(&path(home)).ok().flatten();
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

pub(super) fn record_refused(
    home: &Home,
    reason: RefusalReason,
    from: Option<&str>,
    payload: &[u8],
) -> io::Result<()> {
    let mut all = refused_orders(home);
    let start = String::from_utf8_lossy(&payload[..payload.len().min(4 * PREVIEW_CHARS)]);
    all.count += 1;
    all.orders.push(RefusedOrder {
        at: clock::to_iso(clock::now()),
        reason,
        from: from.map(str::to_owned),
        bytes: payload.len(),
        preview: printable(&start).chars().take(PREVIEW_CHARS).collect(),
    });
    let surplus = all.orders.len().saturating_sub(MAX_KEPT);
    all.orders.drain(..surplus);
    let text = serde_json::to_vec(&all).map_err(io::Error::other)?;
    files::write_atomic(&path(home), &text, files::PRIVATE)
}

#[cfg(test)]
mod tests {
    use overtone_store::create_private_dir;

    use super::*;

    #[test]
    fn the_last_orders_are_kept_and_printable() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        create_private_dir(&fleet_dir(&home)).unwrap();
        for number in 0..60 {
            let payload = format!("\u{1b}[31m{number}\n{}", "x".repeat(70_000));
            record_refused(&home, RefusalReason::Malformed, None, payload.as_bytes()).unwrap();
        }
        let all = refused_orders(&home);
        assert_eq!((all.count, all.orders.len()), (60, 50));
        let last = all.orders.last().unwrap();
        assert!(last.bytes > 70_000 && last.preview.contains("59 xxx") && last.preview.len() == 120);
        assert!(!last.preview.contains('\u{1b}'));
    }
}
