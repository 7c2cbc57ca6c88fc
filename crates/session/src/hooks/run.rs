//! Runs one hook, from the payload to the answer.

use std::cell::OnceCell;
use std::error::Error;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};

use overtone_claude::process::{is_called_by_other, parent_client};
use overtone_claude::wire::{HookInput, render};
use overtone_core::engine::integrity;
use overtone_core::engine::state::{Millis, Verdict};
use overtone_core::engine::{
    Effect, Facts, NATIVE_WORKFLOW_AGENT, Outcome, Permission, Record, Reply, Snapshot, ToolCaller, Trigger,
    WorkflowSpending, concerns_guard, decide, is_delegation, question_to_remember, starts_helper,
};
use overtone_core::evidence::CheckResult;
use overtone_core::messages::Lang;
use overtone_core::registry::{Agent, EventKind, Hook};
use overtone_store::config::{Config, keys};
use overtone_store::instincts::Memory;
use overtone_store::{
    CHECKS_FILE, ClientProcess, Home, LoadedLoop, LoadedWorkflow, Origin, Session, SessionLock, StoreError,
    StoreErrorKind, clock, files,
};

use crate::evidence::{Collected, EvidenceContext, WorkTree, not_started};
use crate::hooks::apply::{self, Documents, EffectContext};
use crate::hooks::budget;
use crate::hooks::dashboard;
use crate::hooks::facts::{self, FactContext};
use crate::hooks::guard::{Printer, lock_timeout};
use crate::hooks::limits::handle_file_size_signal;
use crate::hooks::trigger::Event;
use crate::hooks::update::file_change;
use crate::hooks::usage;
use crate::usage::RecordContext;
use overtone_claude::Environment;

/// Errors that did not keep the hook from answering.
pub(crate) type Warnings = Vec<String>;

type RunResult = Result<Warnings, Box<dyn Error>>;

/// Runs the hook and prints its answer. Prints nothing when the hook has nothing to say about this payload.
pub(crate) fn run(hook: Hook, environment: &Environment, bytes: &[u8], printer: &mut Printer) -> RunResult {
    let input = HookInput::parse(bytes)?;
    if let Some(reply) = check_budget(hook, environment, &input)? {
        printer.print(&render(hook, reply, None)?)?;
        return Ok(Warnings::new());
    }
    let Some(event) = Event::from_input(hook, &input) else { return Ok(Warnings::new()) };
    let client = if hook == Hook::OnStart { parent_client() } else { None };
    let call = HookCall {
        hook,
        environment,
        input: &input,
        trigger: &event.as_trigger(),
        client,
        helper: OnceCell::new(),
    };
    if matches!(hook, Hook::AllowOwn | Hook::PreWrite | Hook::PreCommand) {
        return call.answer_permission(printer);
    }
    let Some(id) = environment.session_id(&input) else { return Ok(Warnings::new()) };
    let Some(home) = &environment.home else {
        return Err("no home folder: set HOME or OVERTONE_HOME to an absolute path".into());
    };
    call.run_in_session(home, &home.session(&id), printer)
}

/// The answer to a tool call that comes when the budget is reached.
fn check_budget(
    hook: Hook,
    environment: &Environment,
    input: &HookInput,
) -> Result<Option<Reply>, Box<dyn Error>> {
    if !budget::is_checked(hook, input) {
        return Ok(None);
    }
    let (Some(home), Some(id)) = (&environment.home, environment.session_id(input)) else { return Ok(None) };
    let session = home.session(&id);
    if !budget::may_depend_on_budget(input, &session) {
        return Ok(None);
    }
    match budget::check(hook, environment, input, home, &session) {
        // What the call is about is decided without the budget then.
        Err(error) if error.downcast_ref::<StoreError>().is_some() => Ok(None),
        result => result,
    }
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
    /// The client that starts a session, if it is recognised.
    client: Option<ClientProcess>,
    /// The number of the agent that the call starts, if it is one of another kind. Others may start at the same moment.
    helper: OnceCell<u32>,
}

impl HookCall<'_> {
    /// Answers a hook whose decision depends on the call alone. The cheap steps come first: configuration is read only
    /// when there is something to say, and the session only when the user is asked.
    fn answer_permission(&self, printer: &mut Printer) -> RunResult {
        let no_state = Snapshot::default();
        if self.concerns_guard()
            && let Some((home, session)) = self.session_with_workflow()
        {
            return self.run_in_session(home, &session, printer);
        }
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
        if asks_user(&outcome) && facts.has_screen {
            self.remember_question(facts.now);
        }
        printer.print(&render(self.hook, outcome.reply, None)?)?;
        Ok(Warnings::new())
    }

    /// Remembers in a session without a workflow that the client asks the user about a command that always needs it.
    fn remember_question(&self, now: Millis) {
        if let Trigger::RunningCommand { command } = *self.trigger
            && let Some(question) = question_to_remember(command)
            && let Some(home) = &self.environment.home
            && let Some(id) = self.environment.session_id(self.input)
        {
            let session = home.session(&id);
            if !is_called_by_other(&session.clients()) {
                // Without the note the command is refused, which is safe.
                let _ = session.note_question(&question, now);
            }
        }
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
        match self.decide_in_session(home, session, printer) {
            Err(error) if is_untrusted(error.as_ref()) => {
                let outcome =
                    integrity::untrusted_state(self.trigger, self.language(&Config::load_or_default(home)));
                printer.print(&render(self.hook, outcome.reply, None)?)?;
                Ok(vec![error.to_string()])
            }
            result => result,
        }
    }

    fn language(&self, config: &Config) -> Lang {
        self.environment.lang().unwrap_or_else(|| config.language())
    }

    fn decide_in_session(&self, home: &Home, session: &Session, printer: &mut Printer) -> RunResult {
        if self.hook == Hook::OnStart {
            handle_file_size_signal();
            session.create()?;
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
        let collected = self.collect_evidence(home, session)?;
        // The lock is held from reading to writing back, so that no other process changes the session in between.
        let lock = if self.needs_workflow() { session.lock_if_exists()? } else { None };
        let has_folder = lock.is_some() || session.exists();
        let mode = Mode::Write { has_folder };
        let attempt = self.decide_and_apply(home, session, mode, lock, &collected, printer)?;
        if self.hook == Hook::OnStart && !attempt.is_forged {
            self.note_start(session);
            dashboard::start(home);
        }
        if !attempt.is_forged {
            self.begin_work(home, session);
        }
        Ok(attempt.warnings)
    }

    /// Reads the state of the session.
    fn load_state(&self, session: &Session) -> Result<State, Box<dyn Error>> {
        let mut documents = self.load(session)?;
        let is_new_client = self.add_client(&mut documents);
        let is_forged = documents.is_called_by_other();
        let snapshot = documents.snapshot();
        Ok(State { documents, snapshot, is_new_client, is_forged })
    }

    /// Records what was used since the last hook, and returns what the workflow has used.
    fn record_usage(
        &self,
        context: &FactContext,
        session: &Session,
        state: &State,
    ) -> io::Result<Option<WorkflowSpending>> {
        let Some(workflow) = &state.snapshot.workflow else { return Ok(None) };
        if state.is_forged {
            return Ok(None);
        }
        let record = RecordContext { session, workflow, now: clock::now() };
        let spent = usage::record(&record, self.input, self.trigger)?;
        Ok(spent.map(|spent| spent.spending(&context.config.prices())))
    }

    /// Decides. Nothing is written.
    fn decide(
        &self,
        context: &FactContext,
        session: &Session,
        state: State,
        spent: Option<WorkflowSpending>,
        collected: &Collected,
    ) -> Result<Decision, Box<dyn Error>> {
        let State { documents, mut snapshot, is_new_client, is_forged } = state;
        let edit = documents.edit.as_ref().map(file_change);
        if let Some(edit) = edit {
            integrity::leave_edit_notices(&mut snapshot, edit, self.language(&context.config));
        }
        let (mut facts, warnings) =
            facts::gather(self.hook, context, Some(session), self.input, self.trigger, &snapshot)?;
        facts.spent = spent;
        facts.helpers = self.helper.get().copied().unwrap_or(facts.helpers);
        facts.evidence = collected.evidence.clone();
        facts.changed_since_stage.clone_from(&collected.changed_since_stage);
        facts.workflow_change.clone_from(&collected.workflow_change);
        facts.green_checks.clone_from(&collected.green_checks);
        let mut edited = collected.edited.clone();
        if self.depends_on_evidence() {
            edited.extend(documents.missing_files(session));
            facts.evidence.checks.extend(missing_checks(&edited));
        }
        let mut outcome = match &snapshot.workflow {
            Some(workflow) if is_forged => integrity::forged_call(workflow, self.hook, facts.lang),
            _ => decide(&snapshot, self.trigger, &facts),
        };
        if documents.is_loop_edited {
            edited.push("loop.json");
            integrity::store_loop(&snapshot, &mut outcome);
        }
        integrity::report_edited_files(&snapshot, &edited, &facts, &mut outcome);
        if let Some(edit) = edit {
            integrity::record_edit(&snapshot, edit, &mut outcome);
        }
        if is_new_client && outcome.workflow().is_none() {
            outcome.effects.extend(snapshot.workflow.clone().map(Effect::PutWorkflow));
        }
        Ok(Decision { documents, snapshot, facts, outcome, is_forged, warnings })
    }

    /// Records where the session works and which process its client is. It works without these records too.
    fn note_start(&self, session: &Session) {
        let _ = session.note_origin(&self.origin());
        if let Some(client) = self.client {
            let _ = session.note_client(client);
        }
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
        let project = self.environment.project(self.input);
        let context = self.fact_context(home, project.as_deref());
        let state = self.load_state(session)?;
        let mut ledger_warnings = Warnings::new();
        let spent = self.record_usage(&context, session, &state).unwrap_or_else(|error| {
            // The next reading finds what is missing.
            ledger_warnings.push(format!("cannot record what was used: {error}"));
            None
        });
        let Decision { mut documents, snapshot, facts, outcome, is_forged, mut warnings } =
            self.decide(&context, session, state, spent, collected)?;
        warnings.append(&mut ledger_warnings);
        if mode == Mode::ReadOnly && !outcome.effects.is_empty() {
            return Ok(Attempt { must_write: true, is_forged, warnings: Warnings::new() });
        }
        let tree = collected.next_tree(accepted_report(&outcome.effects), snapshot.workflow.as_ref());
        let effect_context = EffectContext {
            home,
            session,
            has_folder: mode == Mode::Write { has_folder: true },
            project: context.project,
            env_file: self.environment.env_file.as_deref(),
            learning: context.config.get(keys::INSTINCT_ENABLED),
            now: facts.now,
            tree: tree.as_ref(),
        };
        let Outcome { reply, effects } = outcome;
        let answer = match self.hook {
            // The client passes this text to the summariser and shows it to the user, unchanged in both cases.
            Hook::PreCompact if facts.has_screen => reply.system_message.unwrap_or_default(),
            _ => render(self.hook, reply, self.input.tool_input())?,
        };
        let print = || printer.print(&answer);
        warnings.extend(apply::apply_effects(&effect_context, &mut documents, &effects, lock, print)?);
        // The process ends soon. Freeing each of their small parts would take a tenth of the hook's time.
        mem::forget((documents, snapshot, effects));
        Ok(Attempt { must_write: false, is_forged, warnings })
    }

    /// Whether the call brings a report that evidence decides on.
    fn depends_on_evidence(&self) -> bool {
        matches!(
            self.trigger,
            Trigger::AgentStopped { .. } | Trigger::HandingBack { .. } | Trigger::AgentReturned { .. }
        )
    }

    /// Records the client that starts the session. Returns whether the workflow did not know it.
    fn add_client(&self, documents: &mut Documents) -> bool {
        match (&mut documents.workflow, self.client) {
            (Some(workflow), Some(client)) => workflow.add_client(client),
            _ => false,
        }
    }

    fn fact_context<'c>(&'c self, home: &Home, project: Option<&'c Path>) -> FactContext<'c> {
        FactContext { environment: self.environment, config: Config::load_or_default(home), project }
    }

    fn collect_evidence(&self, home: &Home, session: &Session) -> Result<Collected, Box<dyn Error>> {
        let collects = match self.trigger {
            Trigger::AgentStopped { .. } | Trigger::HandingBack { .. } | Trigger::AgentReturned { .. } => {
                true
            }
            Trigger::Delegating { .. } => WorkTree::is_recorded(session),
            Trigger::Stopping { .. } => WorkTree::is_recorded(session) || session.has_pinned_checks(),
            _ => false,
        };
        if !collects {
            return Ok(Collected::default());
        }
        let Some(project) = self.environment.project(self.input) else { return Ok(Collected::default()) };
        let context = EvidenceContext { home, session, project: &project };
        let collected = match self.trigger {
            Trigger::Delegating { .. } => context.before_stage(self.trigger),
            Trigger::Stopping { .. } => self.collect_at_end(&context)?,
            _ => context.for_event(self.input, self.trigger),
        };
        // The time that checks take is not spent on waiting for locks.
        files::set_lock_budget(lock_timeout(self.hook));
        Ok(collected)
    }

    /// What is known at a Stop. Checks are run only if the workflow would complete with it.
    fn collect_at_end(&self, context: &EvidenceContext) -> Result<Collected, Box<dyn Error>> {
        let mut collected = context.before_stage(self.trigger);
        if !context.session.has_pinned_checks() {
            return Ok(collected);
        }
        let facts = self.fact_context(context.home, Some(context.project));
        let state = self.load_state(context.session)?;
        let decision = self.decide(&facts, context.session, state, None, &collected)?;
        if let Some(workflow) = &decision.snapshot.workflow
            && completes_workflow(&decision.outcome.effects)
        {
            collected.evidence = context.for_end(workflow);
        }
        Ok(collected)
    }

    /// Records the state of the work tree for an agent that starts.
    fn begin_work(&self, home: &Home, session: &Session) {
        if let Trigger::AgentStarted { agent_type, .. } = *self.trigger
            && let Some(agent) = Agent::from_wire(agent_type)
            && let Some(project) = self.environment.project(self.input)
        {
            EvidenceContext { home, session, project: &project }.begin_work(agent);
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
            Trigger::Delegating { .. } | Trigger::AgentDelegating { .. } if starts_helper(self.trigger) => {
                self.counts_helper(session)
            }
            Trigger::AgentStarted { agent_type: NATIVE_WORKFLOW_AGENT, .. } => self.counts_helper(session),
            Trigger::AgentStopped { agent_type, .. } | Trigger::HandingBack { agent_type, .. } => {
                Agent::from_wire(agent_type).is_some() && session.has_workflow()
            }
            Trigger::AgentStarted { agent_type, .. } => Agent::from_wire(agent_type).is_some(),
            Trigger::Delegating { .. }
            | Trigger::AgentDelegating { .. }
            | Trigger::AgentReturned { .. }
            | Trigger::Stopping { .. }
            | Trigger::ContinuingAgent { .. }
            | Trigger::UserAnswered
            | Trigger::StartingNativeWorkflow => session.has_workflow(),
            Trigger::BashRan { .. } | Trigger::FileWritten { .. } => {
                self.is_worth_recording(home) || (self.concerns_guard() && session.has_workflow())
            }
            _ => true,
        }
    }

    /// Counts an agent of another kind. Nothing is refused because of an error of ours.
    fn counts_helper(&self, session: &Session) -> bool {
        if !session.has_workflow() {
            return false;
        }
        match session.count_helper() {
            Ok(count) => self.helper.set(count).is_ok(),
            Err(_) => false,
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

    /// Whether the call may go past the gate, whatever the session is doing.
    fn concerns_guard(&self) -> bool {
        match self.trigger {
            Trigger::ChangingFile { .. }
            | Trigger::StartingCommand { .. }
            | Trigger::FileWritten { .. }
            | Trigger::BashRan { .. }
            | Trigger::ToolFailed { .. } => {
                concerns_guard(self.trigger, &facts::folders(self.environment, self.input))
            }
            _ => false,
        }
    }

    fn needs_workflow(&self) -> bool {
        match *self.trigger {
            // Otherwise the workflow is affected only by failures.
            Trigger::BashRan { error, caller, .. } => {
                (error.is_some() && caller == ToolCaller::Main) || self.concerns_guard()
            }
            Trigger::FileWritten { .. } => self.concerns_guard(),
            Trigger::ToolFailed { tool, caller, .. } => {
                is_delegation(tool)
                    || (tool == "Bash" && (caller == ToolCaller::Main || self.concerns_guard()))
            }
            _ => true,
        }
    }

    /// For tool calls: the loop matters when an agent returns, and for advice after a failure, which is not given when
    /// the loop is stopped.
    fn needs_loop(&self) -> bool {
        match *self.trigger {
            Trigger::BashRan { .. } | Trigger::FileWritten { .. } | Trigger::ToolFailed { .. } => {
                self.needs_workflow()
            }
            Trigger::AgentReturned { .. } => true,
            _ => false,
        }
    }

    /// Reads only the documents that the event is about, so that it does not fail because of a broken file that it
    /// does not need.
    fn load(&self, session: &Session) -> Result<Documents, Box<dyn Error>> {
        let (workflow, looping) = match self.hook {
            // The workflow knows the clients, whose call may end the loop.
            Hook::OnSessionEnd => (true, true),
            Hook::OnAgentStop | Hook::OnHandback => (true, false),
            Hook::PostUse | Hook::PostUseFailure => (self.needs_workflow(), self.needs_loop()),
            _ => (self.needs_workflow(), self.needs_workflow()),
        };
        let workflow = match (workflow, self.hook) {
            (false, _) => LoadedWorkflow::default(),
            // The end of a session is recorded whatever became of its workflow.
            (true, Hook::OnSessionEnd) => session.load_workflow().unwrap_or_default(),
            (true, _) => session.load_workflow()?,
        };
        let looping = if looping { session.load_loop(&workflow)? } else { LoadedLoop::default() };
        Ok(Documents::new(workflow, looping))
    }
}

/// A check that failed, if the definitions of the checks were removed: no stage passes without them.
fn missing_checks(missing: &[&str]) -> Option<CheckResult> {
    if !missing.contains(&CHECKS_FILE) {
        return None;
    }
    Some(not_started(CHECKS_FILE, None, "removed by another program"))
}

/// Whether the state cannot be used because another program has changed it.
fn is_untrusted(error: &(dyn Error + 'static)) -> bool {
    match error.downcast_ref::<StoreError>() {
        Some(error) => matches!(error.kind, StoreErrorKind::Untrusted),
        None => false,
    }
}

/// The state of a session, as it was read for a call.
struct State {
    documents: Documents,
    snapshot: Snapshot,
    /// The workflow did not know the client that calls.
    is_new_client: bool,
    /// The call did not come from the client.
    is_forged: bool,
}

/// What was read and decided for a call.
struct Decision {
    documents: Documents,
    snapshot: Snapshot,
    facts: Facts,
    outcome: Outcome,
    /// The call did not come from the client.
    is_forged: bool,
    warnings: Warnings,
}

/// Whether the agent has passed, if its report was accepted and not sent back.
fn accepted_report(effects: &[Effect]) -> Option<bool> {
    let is_pass = |record: &Record| {
        record.fields.iter().any(|(name, value)| *name == "result" && *value == Verdict::Pass.key().into())
    };
    effects.iter().find_map(|effect| match effect {
        Effect::Emit(record) if record.kind == EventKind::AgentComplete => Some(is_pass(record)),
        _ => None,
    })
}

fn completes_workflow(effects: &[Effect]) -> bool {
    effects
        .iter()
        .any(|effect| matches!(effect, Effect::Emit(record) if record.kind == EventKind::WorkflowComplete))
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
    /// The call did not come from the client and changed nothing.
    is_forged: bool,
    warnings: Warnings,
}

const fn reads_first(hook: Hook) -> bool {
    matches!(hook, Hook::OnSubmit)
}
