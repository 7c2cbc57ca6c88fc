//! The end of a session's timeline.

use overtone_store::Session;
use overtone_view::{Query, Seen, read_page};

/// More than fit on any screen.
const LAST: usize = 200;

/// The oldest first. A timeline that cannot be read has none.
pub fn last_events(session: &Session) -> Vec<Seen> {
    read_page(&session.timeline_file(), &Query::last(LAST)).map(|page| page.events).unwrap_or_default()
}
