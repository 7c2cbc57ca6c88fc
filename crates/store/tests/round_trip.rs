//! Every file of ours: what is written reads back the same, and what another version wrote beside it survives a change
//! made by this one, in its order.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use overtone_core::economy::{Budget, Limits};
use overtone_core::engine::instinct::{Observation, ObservationKind, Signal};
use overtone_core::engine::state::{
    ActiveAgent, BudgetState, Ending, FinishedAgent, FinishingAgent, LoopState, Millis, OutsideChanges,
    Pause, ReachedLimit, SendBackReason, StageResult, StageState, Status, StoppedBy, Turn, Verdict,
    WorkflowState,
};
use overtone_core::engine::{FieldValue, Record};
use overtone_core::evidence::Check;
use overtone_core::registry::{
    Agent, BudgetKind, DocsRule, EventKind, GuardLevel, RetroRule, Stage, StageKey, StageRules, TestMode,
    Workflow,
};
use overtone_store::config::{Config, KEYS};
use overtone_store::instincts::Memory;
use overtone_store::timeline::{self, Entry};
use overtone_store::{Home, LoopDoc, Origin, Session, SessionId, Trust, Usage, WorkflowDoc, files};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// No version of ours has a field whose name begins like this; what follows is anything.
const FUTURE: &str = "\u{e000}";

const STOPPERS: [StoppedBy; 5] =
    [StoppedBy::User, StoppedBy::SessionEnd, StoppedBy::Completion, StoppedBy::Limit, StoppedBy::Moved];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,4}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Fields of another version, in their order.
fn future() -> impl Strategy<Value = Map<String, Value>> {
    let field = (".{0,6}".prop_map(|name| format!("{FUTURE}{name}")), value());
    prop::collection::vec(field, 0..5).prop_map(|fields| fields.into_iter().collect())
}

/// The fields of another version put between ours, from the front.
fn mixed(own: &Map<String, Value>, future: &Map<String, Value>) -> Map<String, Value> {
    let pair = |(name, value): (&String, &Value)| (name.clone(), value.clone());
    let mut mixed = Map::new();
    let mut others = future.iter();
    for field in own {
        mixed.extend(others.next().map(pair));
        mixed.extend([pair(field)]);
    }
    mixed.extend(others.map(pair));
    mixed
}

/// What another version wrote, as it is in a document now; an object's keys have an order.
fn foreign(document: &Map<String, Value>) -> String {
    let fields = document.iter().filter(|(name, _)| name.starts_with(FUTURE));
    Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect()).to_string()
}

fn written(future: &Map<String, Value>) -> String {
    Value::Object(future.clone()).to_string()
}

/// The one field of ours that is taken away with its value.
const TAKEN_AWAY: &str = "movedTo";

/// The names of all fields that were there before, in their order.
fn kept_order(before: &Map<String, Value>, after: &Map<String, Value>) -> bool {
    let still: Vec<_> = after.keys().filter(|name| before.contains_key(*name)).collect();
    let expected = before.keys().filter(|name| *name != TAKEN_AWAY || after.contains_key(*name));
    still == expected.collect::<Vec<_>>()
}

fn object(bytes: &[u8]) -> Map<String, Value> {
    serde_json::from_slice(bytes).unwrap()
}

fn file(path: &Path) -> Map<String, Value> {
    object(&fs::read(path).unwrap())
}

fn put(path: &Path, fields: &Map<String, Value>) {
    let text = Value::Object(fields.clone()).to_string();
    files::write_atomic(path, text.as_bytes(), files::PRIVATE).unwrap();
}

fn text() -> impl Strategy<Value = String> {
    ".{0,8}"
}

fn time() -> impl Strategy<Value = Option<Millis>> {
    prop::option::of((0i64..4_000_000_000_000).prop_map(Millis))
}

fn stage_key() -> impl Strategy<Value = StageKey> {
    (prop::sample::select(&Stage::ALL[..]), 1u8..4)
        .prop_map(|(stage, occurrence)| StageKey { stage, occurrence })
}

fn result() -> impl Strategy<Value = StageResult> {
    let verdicts = vec![Verdict::Pass, Verdict::Issues, Verdict::Fail, Verdict::Reject, Verdict::Blocked];
    prop_oneof![
        prop::sample::select(verdicts).prop_map(StageResult::Verdict),
        Just(StageResult::ByRule),
        "[a-z ]{1,8}!".prop_map(StageResult::Other),
    ]
}

prop_compose! {
    fn stage()(
        key in stage_key(),
        status in prop::sample::select(vec![Status::Pending, Status::Active, Status::Completed]),
        result in prop::option::of(result()),
        mode in prop::option::of(prop::sample::select(vec![TestMode::Spec, TestMode::Verify])),
        attempts in any::<u32>(),
        (started_at, completed_at) in (time(), time()),
        handoff in prop::option::of(text()),
        last_result in prop::option::of(result()),
        (failures, names_place) in (any::<u32>(), any::<bool>()),
    ) -> StageState {
        StageState {
            key, status, result, mode, attempts, started_at, completed_at, handoff, last_result, failures, names_place,
        }
    }
}

prop_compose! {
    fn agent()(
        slot in text(),
        stage in prop::option::of(stage_key()),
        started_at in time(),
        (tool_use_id, agent_id) in (prop::option::of(text()), prop::option::of(text())),
        (background, awaits_start) in (any::<bool>(), any::<bool>()),
        sent_back_for in prop::collection::vec(prop::sample::select(vec![SendBackReason::NoVerdict, SendBackReason::OpenTasks]), 0..3),
        sent_back_at in time(),
        handoff in prop::option::of(text()),
    ) -> ActiveAgent {
        ActiveAgent { slot, stage, started_at, tool_use_id, agent_id, background, awaits_start, sent_back_for, sent_back_at, handoff }
    }
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..3)
}

prop_compose! {
    fn finished()(
        id in text(),
        agent in prop::option::of(prop::sample::select(Agent::ALL.to_vec())),
    ) -> FinishedAgent {
        FinishedAgent { id, agent }
    }
}

prop_compose! {
    fn workflow()(
        (session_id, workflow_type, feature_name) in (text(), text(), prop::option::of(text())),
        (created_at, current_stage) in (time(), prop::option::of(stage_key())),
        mut stages in prop::collection::vec(stage(), 0..5),
        mut active_agents in prop::collection::vec(agent(), 0..3),
        counts in prop::array::uniform6(any::<u32>()),
        (notices, other_handoffs, review_notes, user_notices) in (texts(), texts(), texts(), texts()),
        finished_agents in prop::collection::vec(finished(), 0..3),
        completed_stages in prop::option::of(any::<u32>()),
        ending in prop::option::of(prop::sample::select(vec![Ending::Completed, Ending::Aborted])),
        (user_wrote, untrusted_checks_shown, was_blocked) in (any::<bool>(), any::<bool>(), any::<bool>()),
        (retro, docs) in (prop::sample::select(RetroRule::ALL.to_vec()), prop::sample::select(DocsRule::ALL.to_vec())),
        (visible_change, documented_change) in (prop::option::of(any::<bool>()), prop::option::of(any::<bool>())),
        (tasks_tried, tasks_ticked) in (prop::option::of(any::<u32>()), prop::option::of(any::<u32>())),
        (guard, moved_to) in (prop::sample::select(GuardLevel::ALL.to_vec()), prop::option::of(text())),
        (budget, agents_started) in (budget(), any::<u32>()),
        (files, may_be_more, judge_again) in (texts(), any::<bool>(), any::<bool>()),
    ) -> WorkflowState {
        // Each stage and each slot is there once.
        stages.sort_by_key(|stage| stage.key);
        stages.dedup_by_key(|stage| stage.key);
        active_agents.sort_by(|a, b| a.slot.cmp(&b.slot));
        active_agents.dedup_by(|a, b| a.slot == b.slot);
        let [fail_count, reject_count, retro_count, forgiven_failures, forgiven_rejections, handoff_count] = counts;
        WorkflowState {
            session_id, workflow_type, created_at, current_stage, stages, active_agents, fail_count, reject_count,
            retro_count, forgiven_failures, forgiven_rejections, feature_name, notices, finished_agents,
            handoff_count, other_handoffs, completed_stages, ending, user_wrote, tasks_tried, tasks_ticked,
            review_notes, user_notices, guard, outside: OutsideChanges { files, may_be_more, judge_again },
            rules: StageRules { retro, docs }, was_blocked, visible_change, documented_change, untrusted_checks_shown, moved_to,
            budget, agents_started,
        }
    }
}

prop_compose! {
    fn limits()(amounts in prop::array::uniform4(prop::option::of(any::<u64>()))) -> Limits {
        let mut limits = Limits::default();
        for (kind, amount) in BudgetKind::ALL.into_iter().zip(amounts) {
            limits.set(kind, amount);
        }
        limits
    }
}

prop_compose! {
    fn reached()(
        kind in prop::sample::select(BudgetKind::ALL.to_vec()),
        stage in prop::option::of(stage_key()),
        (limit, used) in (any::<u64>(), any::<u64>()),
        ends_work in any::<bool>(),
    ) -> ReachedLimit {
        ReachedLimit { kind, stage, limit, used, ends_work }
    }
}

prop_compose! {
    fn budget()(
        (workflow, stage) in (limits(), limits()),
        (is_noticed, is_unpriced_noticed) in (any::<bool>(), any::<bool>()),
        reached in prop::option::of(reached()),
        finishing in prop::collection::btree_map(text(), prop::option::of(text()), 0..3),
        waits_since in time(),
        waited in 0..i64::MAX,
    ) -> BudgetState {
        let finishing = finishing.into_iter().map(|(id, message)| FinishingAgent { id, message });
        BudgetState {
            limits: Budget { workflow, stage },
            is_noticed, is_unpriced_noticed, reached, finishing: finishing.collect(), waits_since, waited,
        }
    }
}

prop_compose! {
    fn looping()(
        (iterations, consecutive_errors) in (any::<u32>(), any::<u32>()),
        (stopped, announced) in (any::<bool>(), any::<bool>()),
        stopped_by in prop::option::of(prop::sample::select(STOPPERS.to_vec())),
        fingerprint in prop::option::of(text()),
        started_at in time(),
        paused in prop::option::of(prop::sample::select(vec![Pause::NoProgress, Pause::Interrupted])),
        turn in prop::option::of(prop::sample::select(vec![Turn::Working, Turn::Looking])),
        asked in prop::option::of("[a-z -]{1,20}"),
        prompt_id in prop::option::of(text()),
    ) -> LoopState {
        LoopState {
            iterations, stopped, stopped_by, consecutive_errors, fingerprint, announced, paused, turn, asked,
            prompt_id, started_at,
        }
    }
}

prop_compose! {
    fn check()(
        name in "[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}",
        run in ".{1,30}",
        stages in prop::collection::vec(prop::sample::select(Stage::ALL.to_vec()), 0..4),
        seconds in 1..=3600u64,
    ) -> Check {
        Check { name, run, stages, timeout: Duration::from_secs(seconds) }
    }
}

fn parse_workflow(fields: &Map<String, Value>) -> WorkflowDoc {
    let text = Value::Object(fields.clone()).to_string();
    WorkflowDoc::parse(Path::new("workflow.json"), &text).unwrap()
}

fn parse_loop(fields: &Map<String, Value>) -> LoopDoc {
    let text = Value::Object(fields.clone()).to_string();
    LoopDoc::parse(Path::new("loop.json"), &text).unwrap()
}

/// A home with one session.
fn session() -> (tempfile::TempDir, Home, Session) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().to_owned());
    let session = home.session(&SessionId::parse("s").unwrap());
    session.create().unwrap();
    (dir, home, session)
}

/// Writes a file of a session once more, with fields of another version in it, and looks whether they survive.
fn survives(path: &Path, future: &Map<String, Value>, change: impl Fn()) -> Result<(), TestCaseError> {
    let before = mixed(&file(path), future);
    put(path, &before);
    change();
    let after = file(path);
    prop_assert_eq!(foreign(&after), written(future));
    prop_assert!(kept_order(&before, &after));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_workflow_reads_back_as_it_was(first in workflow(), second in workflow()) {
        let new = object(&WorkflowDoc::new(first.clone()).to_json().unwrap());
        prop_assert_eq!(&parse_workflow(&new).state, &first);
        // Stages are never taken away, so the second state has those of the first, too.
        let mut second = second;
        second.stages.retain(|stage| first.stage(stage.key).is_some());
        let rest = first.stages.iter().filter(|stage| second.stage(stage.key).is_none()).cloned().collect::<Vec<_>>();
        second.stages.extend(rest);
        let changed = object(&parse_workflow(&new).with(second.clone()).to_json().unwrap());
        let mut read = parse_workflow(&changed).state;
        // The document keeps its order.
        read.stages.sort_by_key(|stage| stage.key);
        second.stages.sort_by_key(|stage| stage.key);
        read.active_agents.sort_by(|a, b| a.slot.cmp(&b.slot));
        prop_assert_eq!(read, second);
    }

    #[test]
    fn a_workflow_keeps_what_another_version_wrote(state in workflow(), next in workflow(), future in future()) {
        let mut fields = object(&WorkflowDoc::new(state.clone()).to_json().unwrap());
        for group in ["stages", "activeAgents"] {
            for inner in fields[group].as_object_mut().unwrap().values_mut() {
                *inner = Value::Object(mixed(inner.as_object().unwrap(), &future));
            }
        }
        let before = mixed(&fields, &future);
        let next = WorkflowState {
            stages: state.stages.iter().map(|stage| StageState { attempts: stage.attempts ^ 1, ..stage.clone() }).collect(),
            active_agents: state.active_agents.iter().map(|agent| ActiveAgent { background: !agent.background, ..agent.clone() }).collect(),
            ..next
        };
        let after = object(&parse_workflow(&before).with(next).to_json().unwrap());
        prop_assert_eq!(foreign(&after), written(&future));
        prop_assert!(kept_order(&before, &after));
        for group in ["stages", "activeAgents"] {
            prop_assert!(kept_order(before[group].as_object().unwrap(), after[group].as_object().unwrap()));
            for inner in after[group].as_object().unwrap().values() {
                prop_assert_eq!(foreign(inner.as_object().unwrap()), written(&future));
            }
        }
    }

    /// As much of the state changes as can without touching the values that only another version knows.
    #[test]
    fn values_that_only_another_version_knows_stay(odd in value(), count in any::<u32>()) {
        let odd = match odd {
            Value::String(text) => Value::from(format!("{FUTURE}{text}")),
            other => other,
        };
        let before = json!({
            "workflowType": "standard", "currentStage": odd, "ending": odd, "createdAt": odd,
            "stages": { "DEV": { "status": odd, "mode": odd, "startedAt": odd }, "LATER": odd },
            "activeAgents": { "a": { "stage": odd, "startedAt": odd } },
        });
        let doc = parse_workflow(before.as_object().unwrap());
        let mut next = doc.state.clone();
        next.fail_count = count;
        next.stages[0].attempts = count;
        next.active_agents[0].agent_id = Some("x".to_owned());
        let after = Value::Object(object(&doc.with(next).to_json().unwrap()));
        for place in ["/currentStage", "/ending", "/createdAt", "/stages/DEV/status", "/stages/DEV/mode",
            "/stages/DEV/startedAt", "/stages/LATER", "/activeAgents/a/stage", "/activeAgents/a/startedAt"] {
            prop_assert_eq!(after.pointer(place), Some(&odd), "{}", place);
        }
        let doc = parse_loop(json!({ "stoppedBy": odd, "startedAt": odd, "iterations": 1 }).as_object().unwrap());
        let next = LoopState { iterations: count, ..doc.state.clone() };
        let after = object(&doc.with(next).to_json().unwrap());
        prop_assert_eq!((&after["stoppedBy"], &after["startedAt"]), (&odd, &odd));
    }

    /// Another version may write stages and agents in a form of its own, which ours would destroy.
    #[test]
    fn groups_of_another_form_are_refused(odd in value(), group in prop::sample::select(vec!["stages", "activeAgents"])) {
        prop_assume!(!odd.is_object() && !odd.is_null());
        let text = json!({ "workflowType": "x", group: odd }).to_string();
        let refused = WorkflowDoc::parse(Path::new("workflow.json"), &text).unwrap_err();
        prop_assert!(refused.to_string().contains(group), "{refused}");
    }

    #[test]
    fn a_loop_reads_back_as_it_was(first in looping(), second in looping(), future in future()) {
        let new = object(&LoopDoc::default().with(first.clone()).to_json().unwrap());
        prop_assert_eq!(&parse_loop(&new).state, &first);
        let before = mixed(&new, &future);
        let after = object(&parse_loop(&before).with(second.clone()).to_json().unwrap());
        prop_assert_eq!(&parse_loop(&after).state, &second);
        prop_assert_eq!(foreign(&after), written(&future));
        prop_assert!(kept_order(&before, &after));
    }

    #[test]
    fn events_read_back_as_they_were(
        kinds in prop::collection::vec(prop::sample::select(&EventKind::ALL[..]), 1..4),
        (text, list, number) in (".{0,20}", texts(), any::<i64>()),
        at in 0i64..4_000_000_000_000,
    ) {
        let (_dir, _home, session) = session();
        let record = |kind: &EventKind| Record::new(*kind).with("text", text.as_str()).with("list", list.clone())
            .with("number", number).with("nothing", FieldValue::Nothing)
            .with("objects", FieldValue::Objects(vec![vec![("text", text.as_str().into()), ("number", number.into())]]));
        let records: Vec<_> = kinds.iter().map(record).collect();
        timeline::append(&session.timeline_file(), &records.iter().collect::<Vec<_>>(), Millis(at)).unwrap();
        let lines = fs::read_to_string(session.timeline_file()).unwrap();
        prop_assert_eq!(lines.lines().count(), kinds.len());
        for (line, kind) in lines.lines().zip(&kinds) {
            let entry = Entry::parse(line).unwrap();
            prop_assert_eq!((entry.at(), entry.kind()), (Some(Millis(at)), Some(*kind)));
            prop_assert_eq!(timeline::type_of(line.as_bytes()).unwrap().into_owned(), kind.name().as_bytes());
            let fields = (&entry.fields["text"], &entry.fields["list"], &entry.fields["number"], &entry.fields["nothing"]);
            prop_assert_eq!(fields, (&json!(text), &json!(list), &json!(number), &Value::Null));
            prop_assert_eq!(&entry.fields["objects"], &json!([{ "text": text, "number": number }]));
        }
    }

    /// A line of another version is read with all of its fields, whatever its type is.
    #[test]
    fn events_of_another_version_are_read(kind in ".{1,9}", future in future()) {
        let mut fields = Map::from_iter([("type".to_owned(), json!(kind))]);
        fields.extend(future);
        let line = Value::Object(fields.clone()).to_string();
        prop_assert_eq!(timeline::type_of(line.as_bytes()).unwrap().into_owned(), kind.as_bytes());
        prop_assert_eq!(Entry::parse(&line).unwrap().fields, fields);
    }

    #[test]
    fn where_a_session_works_reads_back(project in prop::option::of("/.{0,9}"), transcript in prop::option::of(".{0,9}"), future in future()) {
        let (_dir, _home, session) = session();
        let origin = Origin { project: project.map(PathBuf::from), transcript: transcript.map(PathBuf::from) };
        session.note_origin(&Origin { project: Some("/before".into()), transcript: None }).unwrap();
        survives(&session.dir().join("session.json"), &future, || session.note_origin(&origin).unwrap())?;
        prop_assert_eq!(session.origin(), origin);
    }

    #[test]
    fn what_a_session_has_used_reads_back(context_percent in prop::option::of(0u32..=100), cost_usd in prop::option::of(0.0..1e6f64), future in future()) {
        let (_dir, _home, session) = session();
        let usage = Usage { context_percent, cost_usd };
        session.note_usage(Usage { context_percent: Some(7), cost_usd: Some(0.25) }).unwrap();
        survives(&session.dir().join("context.json"), &future, || session.note_usage(usage).unwrap())?;
        prop_assert_eq!(session.usage(), usage);
    }

    #[test]
    fn compactions_are_counted_on(rounds in prop::collection::vec((any::<bool>(), prop::option::of(any::<u32>())), 1..6), future in future()) {
        let (_dir, _home, session) = session();
        drop(session.count_compaction(true, None).unwrap());
        let before = session.compactions();
        survives(&session.dir().join("compact-count.json"), &future, || {
            for (automatic, stages) in &rounds {
                drop(session.count_compaction(*automatic, *stages).unwrap());
            }
        })?;
        let after = session.compactions();
        prop_assert_eq!((after.automatic + after.manual) as usize, 1 + rounds.len());
        let last = rounds.iter().rev().find_map(|(_, stages)| *stages);
        prop_assert_eq!(after.completed_stages, last.or(before.completed_stages));
    }

    #[test]
    fn a_lesson_reads_back_and_keeps_the_rest(trigger in ".{0,12}", lesson in ".{0,12}", future in future(), again in 1usize..4) {
        let (_dir, home, session) = session();
        let memory = Memory::for_project(&home, Path::new("/srv/shop"));
        let seen = Observation { kind: ObservationKind::ErrorResolutions, trigger: trigger.clone(), lesson: lesson.clone(), evidence: None, signal: Signal::Confirm };
        memory.observe(&session, &seen, Millis(0)).unwrap();
        memory.compact(Millis(0)).unwrap();
        let id = seen.id();
        let path = fs::read_dir(home.root().join("projects")).unwrap().next().unwrap().unwrap().path()
            .join(format!("instincts/{id}.json"));
        survives(&path, &future, || {
            for _ in 0..again {
                memory.observe(&session, &seen, Millis(0)).unwrap();
            }
            memory.judge(&id, Signal::Confirm, Millis(0)).unwrap().unwrap();
            memory.compact(Millis(0)).unwrap();
        })?;
        let known = memory.lessons(Millis(0)).unwrap();
        prop_assert_eq!(known.len(), 1);
        prop_assert_eq!((&known[0].trigger, &known[0].lesson, known[0].count as usize), (&trigger, &lesson, 1 + again));
        let observed = fs::read_to_string(session.observations_file()).unwrap();
        for line in observed.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            prop_assert_eq!((&line["id"], &line["trigger"], &line["action"]), (&json!(id), &json!(trigger), &json!(lesson)));
        }
        prop_assert_eq!(observed.lines().count(), 1 + again);
    }

    #[test]
    fn trust_reads_back_and_keeps_the_rest(
        checks in prop::collection::vec(check(), 0..3),
        guard in prop::option::of(prop::sample::select(GuardLevel::ALL.to_vec())),
        future in future(),
        at in 0i64..4_000_000_000_000,
    ) {
        let (dir, home, _session) = session();
        let project = dir.path().join("sessions");
        Trust::grant(&home, &project, &[], None, Millis(0)).unwrap();
        survives(&home.root().join("trust.json"), &future, || {
            Trust::grant(&home, &project, &checks, guard, Millis(at)).unwrap();
        })?;
        let trust = Trust::for_project(&home, &project).unwrap();
        prop_assert_eq!(&trust, &Trust { checks: checks.clone(), guard, since: Some(Millis(at)) });
        prop_assert!(trust.covers(&checks));
    }

    #[test]
    fn the_checks_of_a_workflow_read_back(checks in prop::collection::vec(check(), 0..4)) {
        let (_dir, _home, session) = session();
        session.pin_checks(&checks).unwrap();
        prop_assert_eq!(session.pinned_checks().unwrap(), checks);
    }

    #[test]
    fn a_setting_reads_back_and_keeps_the_rest(which in 0..KEYS.len(), future in future()) {
        let (_dir, home, _session) = session();
        let key = &KEYS[which];
        let value = key.default_value();
        let typed = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let groups: Map<String, Value> =
            KEYS.iter().filter_map(|key| key.name.split_once('.')).map(|(group, _)| (group.to_owned(), Value::Object(future.clone()))).collect();
        let before = mixed(&groups, &future);
        put(&home.config_file(), &before);
        prop_assert_eq!(Config::set_by_name(&home, key.name, &typed).unwrap(), value.clone());
        let after = file(&home.config_file());
        let config = Config::load(&home).unwrap();
        prop_assert_eq!(config.own_value(key), Some(&value));
        prop_assert_eq!(foreign(&after), written(&future));
        prop_assert!(kept_order(&before, &after));
        for group in groups.keys() {
            prop_assert_eq!(foreign(after[group].as_object().unwrap()), written(&future), "{}", group);
        }
    }

    /// Every workflow of the registry, as `overtone init` writes it.
    #[test]
    fn a_new_workflow_is_whole(workflow in prop::sample::select(&Workflow::ALL[..]), feature in prop::option::of("[a-z-]{1,9}"), at in 0i64..4_000_000_000_000) {
        let state = WorkflowState::new("s", workflow, feature.as_deref(), Millis(at));
        let fields = object(&WorkflowDoc::new(state.clone()).to_json().unwrap());
        prop_assert_eq!(parse_workflow(&fields).state, state);
    }
}
