//! `overtone fleet tail`: follows new events of all machines.

use std::time::Duration;

use futures_util::StreamExt as _;
use overtone_core::engine::text::printable;
use overtone_core::messages::fleet as words;
use overtone_fleet::{FleetSnapshot, ReceivedBatch, tail};
use overtone_store::timeline::Entry;
use rustix::event::Timespec;

use super::connection::{FleetConnection, find_session};
use super::format::short;
use crate::args::OutputArgs;
use crate::commands::timeline::{follow::output_is_closed, line};
use crate::context::Context;
use crate::ui::error::{CommandResult, note};
use crate::ui::out;
use overtone_hook::ansi::Text;
use overtone_hook::ansi::Tone;

/// How often to check whether the output was closed.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

pub(super) fn run(context: &Context, name: Option<&str>, output: &OutputArgs) -> CommandResult {
    let connection = FleetConnection::open(context)?;
    let snapshot = connection.snapshot()?;
    let session =
        name.map(|name| find_session(context, &snapshot, name)).transpose()?.map(|s| s.session.clone());
    let printer = Printer {
        context,
        snapshot: &snapshot,
        width: line::label_width(context.lang),
        is_json: output.json,
    };
    connection.wait(Box::pin(async {
        let events = tail(&connection.link, session.as_deref()).await?;
        let mut events = std::pin::pin!(events);
        note(&words::listening(context.lang));
        loop {
            let next = tokio::time::timeout(POLL_INTERVAL, events.next()).await;
            match next {
                Ok(None) => return Ok(Ok(())),
                Ok(Some(received)) => {
                    if let Err(failure) = printer.print(&received?) {
                        return Ok(Err(failure));
                    }
                }
                Err(_) if output_is_closed(&NOW) => return Ok(Ok(())),
                Err(_) => {}
            }
        }
    }))?
}

struct Printer<'a> {
    context: &'a Context,
    snapshot: &'a FleetSnapshot,
    width: usize,
    is_json: bool,
}

impl Printer<'_> {
    fn print(&self, received: &ReceivedBatch) -> CommandResult {
        let lines = received.batch.lines.iter();
        if self.is_json {
            let lines = lines.map(|line| line.replace('\n', " ") + "\n");
            return out::json_text(&lines.collect::<String>());
        }
        out::print(&Text::join(lines.map(|line| self.line(received, line) + "\n"), ""))
    }

    fn line(&self, received: &ReceivedBatch, line: &str) -> Text {
        match Entry::parse(line) {
            Some(entry) => {
                let origin = format!("{}/{}", self.machine(&received.machine), short(&received.session));
                let origin = self.context.palette.paint(Tone::Faint, &origin);
                Text::join([origin, line::render(self.context, &entry, self.width)], "  ")
            }
            None => printable(line).as_ref().into(),
        }
    }

    /// The name of a machine, or its short id if it joined after the start.
    fn machine(&self, id: &str) -> String {
        let known = self.snapshot.machines.iter().find(|view| view.info.machine == id);
        match known {
            Some(view) => printable(&view.info.name).into_owned(),
            None => short(id),
        }
    }
}
