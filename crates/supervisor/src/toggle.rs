//! `/supervisor` and `/supervisoroff`: one session is switched on or off, whatever holds for the others.

use std::io;

use overtone_store::SessionId;

use crate::folder::StateFolder;
use crate::record::Record;

/// Switches a session. Switching it on begins anew: rounds and money. `inside`: it is done in a turn of that
/// session, which is then not reviewed itself.
pub fn switch_session(folder: &StateFolder, session: &SessionId, on: bool, inside: bool) -> io::Result<()> {
    let changed = Record::change(folder, session, |record| record.switch(on, inside));
    changed.map_err(|error| io::Error::other(error.to_string()))
}

/// Whether a session was switched on or off; `None` if it was not.
pub fn switched(folder: &StateFolder, session: &SessionId) -> io::Result<Option<bool>> {
    let record = Record::load(folder, session).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(record.switched())
}
