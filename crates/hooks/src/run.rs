//! One hook from payload to answer.

use std::error::Error;
use std::path::PathBuf;

use overtone_engine::{
    Effect, Facts, Outcome, Permission, Snapshot, Trigger, decide, identify_agent, is_delegation,
};
use overtone_registry::{Agent, Hook};
use overtone_store::config::Config;
use overtone_store::instincts::Memory;
use overtone_store::{Home, Origin, Session, SessionLock};
use overtone_wire::{HookInput, render};

use crate::apply::{self, Documents, Scene};
use crate::dashboard;
use crate::environment::Environment;
use crate::facts::{self, Place};
use crate::guard::Printer;
use crate::limits::survive_file_limit;
use crate::trigger::Event;

/// Problems that did not keep the hook from answering.
pub(crate) type Problems = Vec<String>;

type Done = Result<Problems, Box<dyn Error>>;

/// Returns without having printed when there is nothing to say.
pub(crate) fn run(hook: Hook, environment: &Environment, bytes: &[u8], printer: &mut Printer) -> Done {
    let input = HookInput::parse(bytes)?;
    let Some(event) = Event::from_input(hook, &input) else { return Ok(Problems::new()) };
    let call = Call { hook, environment, input: &input, trigger: &event.as_trigger() };
    if matches!(hook, Hook::AllowOwn | Hook::PreWrite) {
        return call.opinion(printer);
    }
    let Some(id) = environment.session_id(&input) else { return Ok(Problems::new()) };
    let Some(home) = &environment.home else {
        return Err("no home folder: set HOME or OVERTONE_HOME to an absolute path".into());
    };
    call.in_session(home, &home.session(&id), printer)
}

/// Whether the answer leads to the client's question.
fn is_question(outcome: &Outcome) -> bool {
    matches!(outcome.reply.permission, Some(Permission::Ask { .. }))
}

/// One start of the binary by the client.
struct Call<'a> {
    hook: Hook,
    environment: &'a Environment,
    input: &'a HookInput<'a>,
    trigger: &'a Trigger<'a>,
}

impl Call<'_> {
    /// Hooks that look only at the call. The language matters once there is something to say, and the session once the
    /// user is asked.
    fn opinion(&self, printer: &mut Printer) -> Done {
        let nothing = Snapshot::default();
        if decide(&nothing, self.trigger, &Facts::default()).reply.permission.is_none() {
            return Ok(Problems::new());
        }
        let config = self.environment.home.as_ref().map(Config::load_or_default).unwrap_or_default();
        let place = Place { environment: self.environment, config, project: None };
        let (facts, _) = facts::gather(self.hook, &place, None, self.input, &nothing)?;
        let outcome = decide(&nothing, self.trigger, &facts);
        if is_question(&outcome)
            && let Some((home, session)) = self.open_session()
        {
            return self.in_session(home, &session, printer);
        }
        printer.print(&render(self.hook, outcome.reply, None)?)?;
        Ok(Problems::new())
    }

    /// The session of the call, if it has a workflow.
    fn open_session(&self) -> Option<(&Home, Session)> {
        let home = self.environment.home.as_ref()?;
        let session = home.session(&self.environment.session_id(self.input)?);
        if session.has_workflow() { Some((home, session)) } else { None }
    }

    fn in_session(&self, home: &Home, session: &Session, printer: &mut Printer) -> Done {
        if !self.concerns(home, session) {
            return Ok(Problems::new());
        }
        if self.hook == Hook::OnStart {
            survive_file_limit();
            session.create()?;
            // Only the dashboard needs it, so no session fails for it.
            let _ = session.note_origin(&self.origin());
        }
        // A hook that usually only reads looks first without the lock; files are always whole.
        if reads_first(self.hook) {
            let look = self.decide_and_apply(home, session, Mode::Look, None, printer)?;
            if !look.must_write {
                return Ok(look.problems);
            }
        }
        // From reading to writing back, nobody else may change the session.
        let lock = if self.needs_workflow() { session.lock_if_there()? } else { None };
        let has_folder = lock.is_some() || session.exists();
        let round = self.decide_and_apply(home, session, Mode::Write { has_folder }, lock, printer)?;
        if self.hook == Hook::OnStart {
            dashboard::start(home);
        }
        Ok(round.problems)
    }

    fn decide_and_apply(
        &self,
        home: &Home,
        session: &Session,
        mode: Mode,
        lock: Option<SessionLock>,
        printer: &mut Printer,
    ) -> Result<Round, Box<dyn Error>> {
        let documents = self.load(session)?;
        let snapshot = Snapshot {
            workflow: documents.workflow.as_ref().map(|doc| doc.state.clone()),
            looping: documents.looping.as_ref().map(|doc| doc.state.clone()),
        };
        let project = self.environment.project(self.input);
        let place = Place {
            environment: self.environment,
            config: Config::load_or_default(home),
            project: project.as_deref(),
        };
        let (facts, mut problems) = facts::gather(self.hook, &place, Some(session), self.input, &snapshot)?;
        let outcome = decide(&snapshot, self.trigger, &facts);
        if mode == Mode::Look && !outcome.effects.is_empty() {
            return Ok(Round { must_write: true, problems: Problems::new() });
        }
        let scene = Scene {
            home,
            session,
            has_folder: mode == Mode::Write { has_folder: true },
            project: place.project,
            env_file: self.environment.env_file.as_deref(),
            learning: place.config.switch("instinct.enabled"),
            now: facts.now,
        };
        let answer = match self.hook {
            // The client gives it to the summariser and shows it to the user, both as it stands.
            Hook::PreCompact if facts.shows_compaction => outcome.reply.system_message.unwrap_or_default(),
            _ => render(self.hook, outcome.reply, self.input.tool_input())?,
        };
        let print = || printer.print(&answer);
        problems.extend(apply::around(&scene, documents, &outcome.effects, lock, print)?);
        Ok(Round { must_write: false, problems })
    }

    fn origin(&self) -> Origin {
        let transcript = PathBuf::from(&*self.input.transcript_path());
        Origin {
            project: self.environment.project(self.input),
            transcript: Some(transcript).filter(|path| path.is_absolute()),
        }
    }

    /// Cheap tests that spare most starts any further work.
    fn concerns(&self, home: &Home, session: &Session) -> bool {
        match *self.trigger {
            Trigger::Delegating { subagent_type, description, .. } => {
                identify_agent(subagent_type, description).is_some() && session.has_workflow()
            }
            Trigger::AgentDelegating { subagent_type } => {
                Agent::from_wire(subagent_type).is_some() && session.has_workflow()
            }
            Trigger::AgentStopped { agent_type, .. } | Trigger::HandingBack { agent_type, .. } => {
                Agent::from_wire(agent_type).is_some() && session.has_workflow()
            }
            Trigger::AgentStarted { agent_type, .. } => Agent::from_wire(agent_type).is_some(),
            Trigger::AgentReturned { .. }
            | Trigger::Stopping { .. }
            | Trigger::ContinuingAgent { .. }
            | Trigger::UserAnswered => session.has_workflow(),
            Trigger::BashRan { .. } | Trigger::FileWritten { .. } => self.has_news(home),
            _ => true,
        }
    }

    /// Whether a tool's use teaches anything: most commands neither fail nor contradict a lesson.
    fn has_news(&self, home: &Home) -> bool {
        let effects = decide(&Snapshot::default(), self.trigger, &Facts::default()).effects;
        let project = self.environment.project(self.input);
        let memory = project.map(|project| Memory::of(home, &project));
        effects.iter().any(|effect| match effect {
            Effect::Observe(seen) => memory.as_ref().is_some_and(|memory| memory.is_news(seen)),
            _ => true,
        })
    }

    fn needs_workflow(&self) -> bool {
        match *self.trigger {
            // Only a failure can concern the workflow.
            Trigger::BashRan { error, is_main_agent, .. } => error.is_some() && is_main_agent,
            Trigger::FileWritten { .. } => false,
            Trigger::ToolFailed { tool, is_main_agent, .. } => {
                is_delegation(tool) || (tool == "Bash" && is_main_agent)
            }
            _ => true,
        }
    }

    /// Only what becomes of an agent can concern the loop, and advice that a stopped one spares the main agent.
    fn needs_loop(&self) -> bool {
        match *self.trigger {
            Trigger::BashRan { .. } | Trigger::ToolFailed { .. } => self.needs_workflow(),
            Trigger::AgentReturned { .. } => true,
            _ => false,
        }
    }

    /// Reads only what the event is about, so that a broken file elsewhere does no harm.
    fn load(&self, session: &Session) -> Result<Documents, Box<dyn Error>> {
        let (workflow, looping) = match self.hook {
            Hook::OnSessionEnd => (false, true),
            Hook::OnAgentStop | Hook::OnHandback => (true, false),
            Hook::PostUse | Hook::PostUseFailure => (self.needs_workflow(), self.needs_loop()),
            _ => (self.needs_workflow(), self.needs_workflow()),
        };
        Ok(Documents {
            workflow: if workflow { session.workflow()? } else { None },
            looping: if looping { session.looping()? } else { None },
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Answer if nothing has to be written.
    Look,
    Write {
        has_folder: bool,
    },
}

struct Round {
    must_write: bool,
    problems: Problems,
}

const fn reads_first(hook: Hook) -> bool {
    matches!(hook, Hook::OnSubmit)
}
