//! Runs one hook, from the payload to the answer.

use std::error::Error;
use std::path::PathBuf;

use overtone_claude::wire::{HookInput, render};
use overtone_core::engine::{
    Effect, Facts, Outcome, Permission, Snapshot, Trigger, decide, identify_agent, is_delegation,
};
use overtone_core::registry::{Agent, EventKind, Hook};
use overtone_store::config::{Config, keys};
use overtone_store::instincts::Memory;
use overtone_store::{Home, Origin, Session, SessionLock};

use crate::evidence::Collected;
use crate::hooks::apply::{self, Documents, EffectContext};
use crate::hooks::dashboard;
use crate::hooks::facts::{self, FactContext};
use crate::hooks::guard::Printer;
use crate::hooks::limits::handle_file_size_signal;
use crate::hooks::trigger::Event;
use overtone_claude::Environment;

/// Errors that did not keep the hook from answering.
pub(crate) type Warnings = Vec<String>;

type RunResult = Result<Warnings, Box<dyn Error>>;

/// Runs the hook and prints its answer. Prints nothing when the hook has nothing to say about this payload.
pub(crate) fn run(hook: Hook, environment: &Environment, bytes: &[u8], printer: &mut Printer) -> RunResult {
    let input = HookInput::parse(bytes)?;
    let Some(event) = Event::from_input(hook, &input) else { return Ok(Warnings::new()) };
    let call = HookCall { hook, environment, input: &input, trigger: &event.as_trigger() };
    if matches!(hook, Hook::AllowOwn | Hook::PreWrite) {
        return call.answer_permission(printer);
    }
    let Some(id) = environment.session_id(&input) else { return Ok(Warnings::new()) };
    let Some(home) = &environment.home else {
        return Err("no home folder: set HOME or OVERTONE_HOME to an absolute path".into());
    };
    call.run_in_session(home, &home.session(&id), printer)
}

/// Whether the answer makes the client ask the user.
fn asks_user(outcome: &Outcome) -> bool {
    matches!(outcome.reply.permission, Some(Permission::Ask { .. }))
}

/// One hook call of the client.
struct HookCall<'a> {
    hook: Hook,
    environment: &'a Environment,
    input: &'a HookInput<'a>,
    trigger: &'a Trigger<'a>,
}

impl HookCall<'_> {
    /// Answers a hook whose decision depends on the call alone. The cheap steps come first: configuration is read only
    /// when there is something to say, and the session only when the user is asked.
    fn answer_permission(&self, printer: &mut Printer) -> RunResult {
        let no_state = Snapshot::default();
        if decide(&no_state, self.trigger, &Facts::default()).reply.permission.is_none() {
            return Ok(Warnings::new());
        }
        let config = self.environment.home.as_ref().map(Config::load_or_default).unwrap_or_default();
        let context = FactContext { environment: self.environment, config, project: None };
        let (facts, _) = facts::gather(self.hook, &context, None, self.input, self.trigger, &no_state)?;
        let outcome = decide(&no_state, self.trigger, &facts);
        if asks_user(&outcome)
            && let Some((home, session)) = self.session_with_workflow()
        {
            return self.run_in_session(home, &session, printer);
        }
        printer.print(&render(self.hook, outcome.reply, None)?)?;
        Ok(Warnings::new())
    }

    /// The session of the call, if it has a workflow.
    fn session_with_workflow(&self) -> Option<(&Home, Session)> {
        let home = self.environment.home.as_ref()?;
        let session = home.session(&self.environment.session_id(self.input)?);
        if session.has_workflow() { Some((home, session)) } else { None }
    }

    fn run_in_session(&self, home: &Home, session: &Session, printer: &mut Printer) -> RunResult {
        if !self.is_relevant(home, session) {
            return Ok(Warnings::new());
        }
        if self.hook == Hook::OnStart {
            handle_file_size_signal();
            session.create()?;
            // Only the dashboard needs the origin, so the session starts without it too.
            let _ = session.note_origin(&self.origin());
        }
        // A hook that rarely writes first tries without the lock. That is safe, because files are replaced atomically.
        if reads_first(self.hook) {
            let nothing = Collected::default();
            let attempt = self.decide_and_apply(home, session, Mode::ReadOnly, None, &nothing, printer)?;
            if !attempt.must_write {
                return Ok(attempt.warnings);
            }
        }
        // The evidence is collected before the lock is taken, because checks may run for minutes.
        let collected = self.collect_evidence(session);
        // The lock is held from reading to writing back, so that no other process changes the session in between.
        let lock = if self.needs_workflow() { session.lock_if_exists()? } else { None };
        let has_folder = lock.is_some() || session.exists();
        let mode = Mode::Write { has_folder };
        let attempt = self.decide_and_apply(home, session, mode, lock, &collected, printer)?;
        if self.hook == Hook::OnStart {
            dashboard::start(home);
        }
        Ok(attempt.warnings)
    }

    fn decide_and_apply(
        &self,
        home: &Home,
        session: &Session,
        mode: Mode,
        lock: Option<SessionLock>,
        collected: &Collected,
        printer: &mut Printer,
    ) -> Result<Attempt, Box<dyn Error>> {
        let documents = self.load(session)?;
        let snapshot = documents.snapshot();
        let project = self.environment.project(self.input);
        let context = FactContext {
            environment: self.environment,
            config: Config::load_or_default(home),
            project: project.as_deref(),
        };
        let (mut facts, mut warnings) =
            facts::gather(self.hook, &context, Some(session), self.input, self.trigger, &snapshot)?;
        facts.evidence = collected.evidence.clone();
        let outcome = decide(&snapshot, self.trigger, &facts);
        if mode == Mode::ReadOnly && !outcome.effects.is_empty() {
            return Ok(Attempt { must_write: true, warnings: Warnings::new() });
        }
        let effect_context = EffectContext {
            home,
            session,
            has_folder: mode == Mode::Write { has_folder: true },
            project: context.project,
            env_file: self.environment.env_file.as_deref(),
            learning: context.config.get(keys::INSTINCT_ENABLED),
            now: facts.now,
        };
        let answer = match self.hook {
            // The client passes this text to the summariser and shows it to the user, unchanged in both cases.
            Hook::PreCompact if facts.has_screen => outcome.reply.system_message.unwrap_or_default(),
            _ => render(self.hook, outcome.reply, self.input.tool_input())?,
        };
        let print = || printer.print(&answer);
        warnings.extend(apply::apply_effects(&effect_context, documents, &outcome.effects, lock, print)?);
        if accepts_report(&outcome.effects) {
            warnings.extend(collected.store_tree(session));
        }
        Ok(Attempt { must_write: false, warnings })
    }

    fn collect_evidence(&self, session: &Session) -> Collected {
        match self.trigger {
            Trigger::AgentStopped { .. } | Trigger::HandingBack { .. } | Trigger::AgentReturned { .. } => {
                let project = self.environment.project(self.input);
                Collected::for_event(session, project.as_deref(), self.input, self.trigger)
            }
            _ => Collected::default(),
        }
    }

    fn origin(&self) -> Origin {
        let transcript = PathBuf::from(&*self.input.transcript_path());
        Origin {
            project: self.environment.project(self.input),
            transcript: if transcript.is_absolute() { Some(transcript) } else { None },
        }
    }

    /// Whether the call can have an effect on the session. The tests are cheap and end most calls here.
    fn is_relevant(&self, home: &Home, session: &Session) -> bool {
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
            Trigger::BashRan { .. } | Trigger::FileWritten { .. } => self.is_worth_recording(home),
            _ => true,
        }
    }

    /// Whether there is something to learn from a tool call. Most commands neither fail nor contradict a lesson.
    fn is_worth_recording(&self, home: &Home) -> bool {
        let effects = decide(&Snapshot::default(), self.trigger, &Facts::default()).effects;
        let project = self.environment.project(self.input);
        let memory = project.map(|project| Memory::for_project(home, &project));
        effects.iter().any(|effect| match (effect, &memory) {
            (Effect::Observe(observation), Some(memory)) => memory.is_relevant(observation),
            (Effect::Observe(_), None) => false,
            _ => true,
        })
    }

    fn needs_workflow(&self) -> bool {
        match *self.trigger {
            // The workflow is affected only by failures.
            Trigger::BashRan { error, is_main_agent, .. } => error.is_some() && is_main_agent,
            Trigger::FileWritten { .. } => false,
            Trigger::ToolFailed { tool, is_main_agent, .. } => {
                is_delegation(tool) || (tool == "Bash" && is_main_agent)
            }
            _ => true,
        }
    }

    /// For tool calls: the loop matters when an agent returns, and for advice after a failure, which is not given when
    /// the loop is stopped.
    fn needs_loop(&self) -> bool {
        match *self.trigger {
            Trigger::BashRan { .. } | Trigger::ToolFailed { .. } => self.needs_workflow(),
            Trigger::AgentReturned { .. } => true,
            _ => false,
        }
    }

    /// Reads only the documents that the event is about, so that it does not fail because of a broken file that it
    /// does not need.
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

/// Whether an agent's report was accepted, whatever its verdict is, and not sent back.
fn accepts_report(effects: &[Effect]) -> bool {
    effects
        .iter()
        .any(|effect| matches!(effect, Effect::Emit(record) if record.kind == EventKind::AgentComplete))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Answer only if nothing has to be written.
    ReadOnly,
    Write {
        has_folder: bool,
    },
}

struct Attempt {
    /// Nothing was printed or written: the attempt has to be repeated in [`Mode::Write`].
    must_write: bool,
    warnings: Warnings,
}

const fn reads_first(hook: Hook) -> bool {
    matches!(hook, Hook::OnSubmit)
}
