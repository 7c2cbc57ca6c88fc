//! Sequences that broke a rule once, shrunk.

use overtone_core::engine::state::Verdict;
use overtone_core::registry::Agent::{
    CodeReviewer, Debugger, Developer, Grader, Qa, RefactorCleaner, Retrospective, Tester,
};
use overtone_core::registry::Workflow;
use proptest_state_machine::StateMachineTest as _;

use crate::model::Channel::Stop;
use crate::model::Event::{AgentStarts, Delegate, Fails, Init, Message, Prompt, Report, Returns};
use crate::model::{Content, Event, Failure, Fate, Input, Model, Transition};
use crate::session::Session;

const PASS: Content = Content::Marker(Verdict::Pass);
const BLOCKED: Content = Content::Marker(Verdict::Blocked);

fn replay(model: Model, events: &[Event]) {
    let transitions = events.iter().map(|event| Transition(event.clone(), Fate::Ends)).collect();
    Session::test_sequential(crate::config(), model, transitions, None);
}

/// The id of the agent that had reported was given to its twin, and a restart recorded it a second time.
#[test]
fn an_agent_that_reports_before_its_launch_is_known_is_not_taken_for_its_twin() {
    let twins = [Delegate(Developer, 1), Delegate(Developer, 2)];
    let ends = [Report(Developer, 2, Stop, PASS), Returns(Developer, 2, None), AgentStarts(Developer, 2)];
    replay(Model::new(Workflow::ReviewOnly, 0, None, false), &[&twins[..], &ends].concat());
}

/// The record that was left had the call of the other, so nothing ever took it away.
#[test]
fn a_twin_whose_call_was_guessed_wrongly_ends_when_its_own_call_fails() {
    for failure in [Failure::Api, Failure::Launch, Failure::Interrupted] {
        let twins =
            [Delegate(Tester, 1), Delegate(Tester, 2), AgentStarts(Tester, 2), AgentStarts(Tester, 1)];
        let ends = [Report(Tester, 2, Stop, PASS), Returns(Tester, 2, Some(PASS)), Fails(Tester, 1, failure)];
        replay(Model::new(Workflow::Quick, 2, None, false), &[&twins[..], &ends].concat());
    }
}

/// The debugger has no stage in this workflow, and opened DEV while a reviewer was at work.
#[test]
fn a_repair_waits_for_every_stage_that_judges_the_code() {
    let fails = [Delegate(Qa, 1), Report(Qa, 1, Stop, Content::Marker(Verdict::Fail))];
    let judged_again = [Delegate(RefactorCleaner, 2), Delegate(CodeReviewer, 3), Delegate(Debugger, 4)];
    replay(Model::new(Workflow::Full, 7, None, false), &[&fails[..], &judged_again].concat());
}

#[test]
fn a_late_report_for_the_workflow_before_does_not_count_for_the_next() {
    let first = [Delegate(Developer, 1), AgentStarts(Developer, 1), Init(Workflow::Quick, true)];
    let late = [Delegate(Developer, 2), Report(Developer, 1, Stop, PASS)];
    replay(Model::new(Workflow::Single, 0, None, false), &[&first[..], &late].concat());
}

#[test]
fn a_blocked_stage_runs_again_only_after_a_word_of_the_user() {
    let blocked = [Delegate(CodeReviewer, 1), Report(CodeReviewer, 1, Stop, BLOCKED)];
    let tries = [Delegate(CodeReviewer, 2), Delegate(Developer, 3)];
    let answered = [Prompt(Input::Text, false), Delegate(CodeReviewer, 4)];
    replay(Model::new(Workflow::Quick, 1, None, false), &[&blocked[..], &tries, &answered].concat());
}

/// Otherwise the loop would send the developer for the same tasks again and again.
#[test]
fn tasks_that_another_round_of_development_did_not_finish_pause_the_loop() {
    let round = [Delegate(Developer, 1), Report(Developer, 1, Stop, PASS), Report(Developer, 1, Stop, PASS)];
    let stops = [Event::Stop(Some(Vec::new())), Event::Stop(Some(Vec::new()))];
    replay(Model::new(Workflow::Single, 1, Some(2), false), &[&round[..], &stops].concat());
}

/// With the tight limits, the first retrospective is the last one that may do so.
#[test]
fn retrospectives_send_the_work_back_to_development_up_to_the_limit() {
    let issues = Content::Marker(Verdict::Issues);
    let events = [Delegate(Retrospective, 1), Report(Retrospective, 1, Stop, issues), Delegate(Developer, 2)];
    for tight_limits in [false, true] {
        replay(Model::new(Workflow::Quick, 3, None, tight_limits), &events);
    }
}

/// Our own notices give way to newer ones; messages of users do not, so only so many are accepted.
#[test]
fn a_message_outlasts_all_notices_and_is_refused_when_too_many_texts_wait() {
    let mut events = vec![Message(1)];
    for n in 2..12 {
        events.extend([Delegate(Grader, n), Report(Grader, n, Stop, PASS)]);
    }
    events.extend([Message(20), Prompt(Input::Text, false), Message(21)]);
    replay(Model::new(Workflow::Single, 0, None, false), &events);
}

/// The last development fails, its repair is judged again, and the limits count.
#[test]
fn a_workflow_does_not_complete_with_checks_that_do_not_succeed() {
    for workflow in [Workflow::Quick, Workflow::BuildFix, Workflow::ReviewOnly] {
        let stages = workflow.stages().len();
        let stop = Event::Stop(Some(Vec::new()));
        let red = [Event::Checks(false), stop.clone(), stop.clone()];
        let repaired = [Delegate(Developer, 1), Event::Checks(true), Report(Developer, 1, Stop, PASS), stop];
        replay(Model::new(workflow, stages, None, true), &[&red[..], &repaired].concat());
    }
}

#[test]
fn red_checks_are_sent_back_twice_and_then_the_stage_fails() {
    let mut events = vec![Event::Checks(false), Delegate(Developer, 1), AgentStarts(Developer, 1)];
    events.extend([(); 4].map(|()| Report(Developer, 1, Stop, PASS)));
    replay(Model::new(Workflow::Quick, 0, Some(1), false), &events);
}

/// Random sequences hardly get so far: every report that does not say it counts as a visible change without documents.
#[test]
fn a_visible_change_with_its_documents_leaves_out_the_last_stages() {
    let developed = [
        Delegate(Developer, 1),
        AgentStarts(Developer, 1),
        Report(Developer, 1, Stop, Content::Documented),
        Returns(Developer, 1, None),
    ];
    let judged =
        [Delegate(CodeReviewer, 2), AgentStarts(CodeReviewer, 2), Report(CodeReviewer, 2, Stop, PASS)];
    let tested = [Delegate(Tester, 3), AgentStarts(Tester, 3), Report(Tester, 3, Stop, PASS)];
    let end = [Event::Stop(Some(Vec::new()))];
    let events = [&developed[..], &judged, &tested, &end].concat();
    replay(Model::new(Workflow::Quick, 0, None, false).lean(), &events);
}
