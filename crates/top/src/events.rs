//! Reads the end of a session's timeline.

use overtone_session::view::{Query, TimelineEvent, read_page};
use overtone_store::Session;

/// More events than fit on any screen.
const MAX_EVENTS: usize = 200;

/// The last events, the oldest first. Empty if the timeline cannot be read.
pub fn last_events(session: &Session) -> Vec<TimelineEvent> {
    read_page(&session.timeline_file(), &Query::last(MAX_EVENTS)).map(|page| page.events).unwrap_or_default()
}
