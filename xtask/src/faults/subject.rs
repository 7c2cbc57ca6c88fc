//! What is run with faults: every hook, the status line, `ccc`, and every command that writes.

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use super::world::{OTHER_SESSION, Site, World};
use crate::bench::cases::{CASES, Case, Entry};
use crate::bench::fixture::{Phase, Place, SESSION};
use crate::bench::payload;

/// What is expected of a program when something goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One JSON answer, exit code 0.
    Hook,
    /// The same; a review may say nothing at all, and tells people about its rounds on stderr.
    Review,
    /// One line of text, exit code 0.
    Line,
    /// Done with exit code 0, or an error with a hint.
    Command,
    /// The same, of a command that becomes the client in the end.
    Launch,
}

impl Kind {
    pub(crate) const fn is_for_people(self) -> bool {
        matches!(self, Self::Command | Self::Launch)
    }
}

#[derive(Debug, Clone, Copy)]
enum Input {
    Nothing,
    Event(fn(&Place) -> Value),
    Reading,
    Token,
}

/// One program with its arguments and the world it is run in.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub name: String,
    pub kind: Kind,
    pub world: World,
    arguments: Vec<&'static str>,
    input: Input,
}

impl Subject {
    /// Every subject, the hooks first.
    pub(crate) fn all() -> Vec<Self> {
        let is_hook = |case: &&Case| matches!(case.entry, Entry::Hook(_));
        let hooks = CASES.iter().filter(is_hook).flat_map(|case| {
            let with = if case.phase == Phase::Ready { World::Ready } else { World::Active };
            [World::NoWorkflow, with].map(|world| Self::hook(case, world))
        });
        let finishing = CASES.iter().filter(|case| case.entry == Entry::Hook(Hook::OnAgentStop));
        let finishing = finishing.map(|case| Self::hook(case, World::Last));
        hooks.chain(finishing).chain(Self::readings()).chain(Self::commands()).collect()
    }

    /// What the client starts by itself: the hooks and the status line.
    pub(crate) fn started_by_the_client() -> Vec<Self> {
        Self::all().into_iter().filter(|subject| !subject.kind.is_for_people()).collect()
    }

    fn hook(case: &Case, world: World) -> Self {
        let variant = if case.variant.is_empty() { String::new() } else { format!(".{}", case.variant) };
        Self {
            name: format!("{}{variant}/{}", case.entry.name(), world.name()),
            kind: Kind::Hook,
            world,
            arguments: case.entry.arguments(),
            input: Input::Event(case.payload),
        }
    }

    fn readings() -> [Self; 4] {
        let subject = |name: &str, kind, arguments: &[&'static str], input| Self {
            name: name.to_owned(),
            kind,
            world: World::Active,
            arguments: arguments.to_vec(),
            input,
        };
        let review = Input::Event(review);
        [
            subject("statusline", Kind::Line, &["statusline"], Input::Reading),
            Self {
                world: World::NoWorkflow,
                ..subject("statusline/none", Kind::Line, &["statusline"], Input::Reading)
            },
            Self {
                world: World::NoWorkflow,
                ..subject("ccc-supervisor-hook", Kind::Review, &["ccc", "supervisor-hook"], review)
            },
            Self {
                world: World::Stopped,
                ..subject("ccc-supervisor-hook/stopped", Kind::Review, &["ccc", "supervisor-hook"], review)
            },
        ]
    }

    fn commands() -> Vec<Self> {
        let table: [(&str, World, &[&'static str]); 29] = [
            ("init", World::NoWorkflow, &["init", "quick", "--feature", "brand-new", "--session", SESSION]),
            (
                "init-force",
                World::Active,
                &["init", "tdd", "--feature", "demo", "--force", "--session", SESSION],
            ),
            ("stop", World::Active, &["stop", "--session", SESSION]),
            ("resume", World::Stopped, &["resume", "--session", SESSION]),
            ("sessions-rm", World::Active, &["sessions", "rm", OTHER_SESSION, "--yes"]),
            ("sessions-gc", World::Active, &["sessions", "gc", "--days", "1"]),
            ("specs-new", World::Active, &["specs", "new", "brand-new", "--workflow", "standard"]),
            ("specs-pause", World::Active, &["specs", "pause", "demo"]),
            ("specs-resume", World::Active, &["specs", "resume", "put-aside"]),
            ("specs-backlog", World::Active, &["specs", "backlog", "demo"]),
            ("specs-archive", World::Active, &["specs", "archive", "for-later"]),
            ("instinct-confirm", World::Active, &["instinct", "confirm", LESSON]),
            ("instinct-contradict", World::Active, &["instinct", "contradict", LESSON]),
            ("instinct-rm", World::Active, &["instinct", "rm", LESSON]),
            ("instinct-clear", World::Active, &["instinct", "clear"]),
            ("instinct-decay", World::Active, &["instinct", "decay"]),
            ("config-set", World::Active, &["config", "set", "loop.maxIterations", "7"]),
            ("ccc-use", World::Active, &["ccc", "use", "second"]),
            ("ccc-remove", World::Active, &["ccc", "remove", "first"]),
            ("ccc-supervise", World::Active, &["ccc", "supervise", "off", "--session", SESSION]),
            ("ccc-start", World::Active, &["ccc", "second"]),
            ("ccc-run-isolated", World::Active, &["ccc", "run", "--isolated", "second"]),
            ("ccc-migrate", World::Active, &["ccc", "migrate", "--name", "own"]),
            ("message", World::Active, &["message", "please look at the tests", "--session", SESSION]),
            ("fleet-join", World::Active, &["fleet", "join", "nats://127.0.0.1:9", "--offline"]),
            ("up", World::NoWorkflow, &["up"]),
            ("down", World::Installed, &["down"]),
            ("uninstall", World::Installed, &["uninstall"]),
            ("ccc-add", World::Active, &["ccc", "add", "third", "--token-stdin", "--model", "m"]),
        ];
        table.into_iter().map(|(name, world, arguments)| Self::command(name, world, arguments)).collect()
    }

    fn command(name: &str, world: World, arguments: &[&'static str]) -> Self {
        let is_launch = matches!(name, "ccc-start" | "ccc-run-isolated");
        Self {
            name: name.to_owned(),
            kind: if is_launch { Kind::Launch } else { Kind::Command },
            world,
            arguments: arguments.to_vec(),
            input: if name == "ccc-add" { Input::Token } else { Input::Nothing },
        }
    }

    /// It carries the whole program about, which takes its time.
    pub(crate) fn is_heavy(&self) -> bool {
        self.world == World::Installed || self.name == "up"
    }

    pub(crate) fn arguments(&self, site: &Site) -> Vec<String> {
        let fill = |word: &&str| if *word == LESSON { site.lesson.clone() } else { (*word).to_owned() };
        self.arguments.iter().map(fill).collect()
    }

    pub(crate) fn stdin(&self, site: &Site) -> Option<String> {
        match self.input {
            Input::Nothing => None,
            Input::Event(payload) => Some(payload(&site.place).to_string()),
            Input::Reading => Some(reading().to_string()),
            Input::Token => Some("sk-third-0123456789abcdef\n".to_owned()),
        }
    }
}

/// Stands for the id of a lesson, which is known once the world is there.
const LESSON: &str = "{lesson}";

fn review(place: &Place) -> Value {
    let mut event = payload::stop(place);
    event["transcript_path"] = json!(place.path("request.jsonl"));
    event
}

fn reading() -> Value {
    json!({
        "session_id": SESSION, "cwd": "/x", "model": { "id": "m", "display_name": "M" },
        "context_window": { "used_percentage": 57 }, "cost": { "total_cost_usd": 2.5 },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_subjects_apart() {
        let all = Subject::all();
        for (index, subject) in all.iter().enumerate() {
            assert!(!all[..index].iter().any(|other| other.name == subject.name), "{} twice", subject.name);
        }
        for hook in Hook::ALL {
            let name = |subject: &&Subject| subject.name.starts_with(hook.name());
            assert!(all.iter().filter(name).count() >= 2, "{} is missing", hook.name());
        }
    }
}
