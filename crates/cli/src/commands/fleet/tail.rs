//! `overtone fleet tail`: what happens, as it is told.

use std::time::Duration;

use futures_util::StreamExt as _;
use overtone_engine::text::printable;
use overtone_fleet::{Heard, Picture, tail};
use overtone_messages::fleet as words;
use overtone_store::timeline::Entry;
use rustix::event::Timespec;

use super::desk::{Desk, one};
use super::shown::short;
use crate::args::OutputArgs;
use crate::commands::timeline::{follow::output_is_closed, line};
use crate::context::Context;
use crate::ui::error::{Done, say};
use crate::ui::out;
use crate::ui::style::Tone;
use crate::ui::text::Text;

/// How soon it is noticed that nobody reads any more.
const LOOK_EVERY: Duration = Duration::from_millis(200);
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

pub(super) fn run(context: &Context, name: Option<&str>, output: &OutputArgs) -> Done {
    let desk = Desk::open(context)?;
    let picture = desk.picture()?;
    let session = name.map(|name| one(context, &picture, name)).transpose()?.map(|s| s.session.clone());
    let printer =
        Printer { context, picture: &picture, width: line::label_width(context.lang), is_json: output.json };
    desk.wait(Box::pin(async {
        let news = tail(&desk.link, session.as_deref()).await?;
        let mut news = std::pin::pin!(news);
        say(&words::listening(context.lang));
        loop {
            let next = tokio::time::timeout(LOOK_EVERY, news.next()).await;
            match next {
                Ok(None) => return Ok(Ok(())),
                Ok(Some(heard)) => {
                    if let Err(failure) = printer.print(&heard?) {
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
    picture: &'a Picture,
    width: usize,
    is_json: bool,
}

impl Printer<'_> {
    fn print(&self, heard: &Heard) -> Done {
        let lines = heard.batch.lines.iter();
        if self.is_json {
            let lines = lines.map(|line| line.replace('\n', " ") + "\n");
            return out::json_text(&lines.collect::<String>());
        }
        out::print(&Text::join(lines.map(|line| self.line(heard, line) + "\n"), ""))
    }

    fn line(&self, heard: &Heard, line: &str) -> Text {
        match Entry::parse(line) {
            Some(entry) => {
                let origin = format!("{}/{}", self.machine(&heard.machine), short(&heard.session));
                let origin = self.context.palette.paint(Tone::Faint, &origin);
                Text::join([origin, line::render(self.context, &entry, self.width)], "  ")
            }
            None => printable(line).as_ref().into(),
        }
    }

    /// Its name, if it was there when we began.
    fn machine(&self, id: &str) -> String {
        let known = self.picture.machines.iter().find(|view| view.info.machine == id);
        known.map_or_else(|| short(id), |view| printable(&view.info.name).into_owned())
    }
}
