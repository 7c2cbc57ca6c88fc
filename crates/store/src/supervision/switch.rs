//! `/supervisor` and `/supervisoroff`: switches the supervisor on or off for one session.

use std::io;

use crate::SessionId;
use crate::supervision::{StateFolder, SupervisionRecord};

/// Switches the supervisor on or off for a session. Switching it on resets the rounds and the cost. `inside`: the command
/// runs in a turn of that session, which is then not reviewed.
pub fn switch_session(folder: &StateFolder, session: &SessionId, on: bool, inside: bool) -> io::Result<()> {
    let changed = SupervisionRecord::change(folder, session, |record| record.set_enabled(on, inside));
    changed.map_err(io::Error::other)
}

/// Whether a session was switched on or off; `None` if the default applies.
pub fn is_session_enabled(folder: &StateFolder, session: &SessionId) -> io::Result<Option<bool>> {
    let record = SupervisionRecord::load(folder, session).map_err(io::Error::other)?;
    Ok(record.enabled())
}
