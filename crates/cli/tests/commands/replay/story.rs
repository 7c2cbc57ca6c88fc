//! A session as the client plays it: every event with the calls and ids that a real one has.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::context::{TestContext, put, read};

#[derive(Debug)]
pub(super) struct Story {
    pub(super) context: TestContext,
}

impl Story {
    pub(super) fn new() -> Self {
        Self { context: TestContext::for_commands() }
    }

    /// Two workflows with everything that can go wrong in between.
    pub(super) fn eventful() -> Self {
        let story = Self::new();
        story.event("on-start", json!({ "source": "startup" }));
        story.context.run("init standard --feature top-secret").ok();
        story.run("planner", "PASS");
        story.event("on-stop", json!({ "background_tasks": [] }));
        story.fail_tool("Bash", "exit 1: cannot open /home/hush-hush", None);
        story.run("architect", "PASS");
        story.run("tester", "PASS");
        story.launch_fails("developer");
        story.break_down("developer");
        story.run("developer", "PASS");
        story.parallel_group_fails_and_is_repaired();
        story.event("pre-compact", json!({ "trigger": "auto" }));
        story.event("on-start", json!({ "source": "compact" }));
        story.context.run("stop").ok();
        story.event("on-stop", json!({ "background_tasks": [] }));
        story.context.run("resume").ok();
        story.review_rejects();
        story.event("on-session-end", json!({ "reason": "logout" }));
        story.event("on-start", json!({ "source": "resume" }));
        story.run("retrospective", "ISSUES");
        story.grade();
        story.run("doc-updater", "PASS");
        story.complete();
        story.at_the_limit();
        story
    }

    /// REVIEW and TEST at the same time; TEST fails, is looked into, and goes through the second time.
    fn parallel_group_fails_and_is_repaired(&self) {
        self.delegate("code-reviewer", "call-review");
        self.delegate("tester", "call-test");
        self.started("tester", "agent-of-test");
        self.report("tester", "agent-of-test", "FAIL");
        self.report("code-reviewer", "agent-of-review", "PASS");
        self.run("debugger", "PASS");
        self.run("developer", "PASS");
        self.delegate("tester", "call-test-2");
        self.delegate("code-reviewer", "call-review-2");
        self.report("code-reviewer", "agent-of-review-2", "PASS");
        // The session stops before the tester has come back.
        self.stop();
        self.run("tester", "PASS");
    }

    fn review_rejects(&self) {
        self.event("on-submit", json!({ "prompt": "also print it as JSON" }));
        self.run("developer", "PASS");
        self.run("code-reviewer", "REJECT");
        self.run("developer", "PASS");
        self.run("code-reviewer", "PASS");
        self.transcript(6_000_000);
        self.run("tester", "PASS");
        self.transcript(1);
    }

    fn grade(&self) {
        self.delegate("grader", "call-grade");
        self.says("grader", "agent-of-grader", "<!-- GRADE: {\"score\":85} -->");
    }

    /// A second workflow in the same session, up to where the user is asked, and on from there.
    fn at_the_limit(&self) {
        self.context.run("init tdd").ok();
        self.run("tester", "PASS");
        for _ in 0..3 {
            self.run("developer", "PASS");
            self.run("tester", "FAIL");
        }
        self.stop();
        self.context.run("resume").ok();
        self.run("developer", "PASS");
        self.delegate("tester", "call-last");
    }

    pub(super) fn event(&self, hook: &str, fields: Value) {
        let mut event = json!({
            "session_id": "s1", "cwd": self.context.project(), "transcript_path": self.transcript_file(),
        });
        let Value::Object(fields) = fields else { panic!("the fields of an event are an object") };
        event.as_object_mut().unwrap().extend(fields);
        self.context.hook(hook, &event);
    }

    pub(super) fn delegate(&self, agent: &str, call: &str) {
        let input =
            json!({ "subagent_type": format!("ot:{agent}"), "description": "x", "prompt": "hush-hush" });
        self.event("pre-task", json!({ "tool_name": "Agent", "tool_use_id": call, "tool_input": input }));
    }

    fn started(&self, agent: &str, id: &str) {
        self.event("on-agent-start", json!({ "agent_type": format!("ot:{agent}"), "agent_id": id }));
    }

    pub(super) fn report(&self, agent: &str, id: &str, verdict: &str) {
        if agent == "developer" {
            self.context.change_project();
        }
        self.says(agent, id, &format!("hush-hush\n<!-- VERDICT: {{\"result\":\"{verdict}\"}} -->"));
    }

    fn says(&self, agent: &str, id: &str, message: &str) {
        let fields =
            json!({ "agent_type": format!("ot:{agent}"), "agent_id": id, "last_assistant_message": message });
        self.event("on-agent-stop", fields);
    }

    /// Delegates, works, reports and returns.
    pub(super) fn run(&self, agent: &str, verdict: &str) {
        let nth = self.lines_or_none().len();
        let (call, id) = (format!("call-{nth}"), format!("agent-of-{nth}"));
        self.delegate(agent, &call);
        self.started(agent, &id);
        self.report(agent, &id, verdict);
        let input = json!({ "subagent_type": format!("ot:{agent}"), "description": "x", "prompt": "y" });
        let response =
            json!({ "status": "completed", "agentId": id, "content": [{ "type": "text", "text": "done" }] });
        let fields = json!({ "tool_name": "Agent", "tool_use_id": call, "tool_input": input, "tool_response": response });
        self.event("post-use", fields);
    }

    fn fail_tool(&self, tool: &str, error: &str, call: Option<&str>) {
        let input = json!({ "command": "make hush-hush" });
        let fields = json!({ "tool_name": tool, "error": error, "tool_use_id": call, "tool_input": input });
        self.event("post-use-failure", fields);
    }

    fn launch_fails(&self, agent: &str) {
        self.delegate(agent, "call-lost");
        self.fail_tool("Agent", "no such agent in /home/hush-hush", Some("call-lost"));
    }

    fn break_down(&self, agent: &str) {
        self.delegate(agent, "call-broken");
        self.says(agent, "agent-of-broken", "API Error: 529 overloaded at /home/hush-hush");
    }

    pub(super) fn stop(&self) {
        self.event("on-stop", json!({ "background_tasks": [] }));
    }

    /// Ticks the tasks of the user, and ends.
    pub(super) fn complete(&self) {
        let folder = self.context.feature("in-progress");
        for feature in fs::read_dir(folder).into_iter().flatten().flatten() {
            let tasks = feature.path().join("tasks.md");
            if tasks.exists() {
                put(&tasks, read(&tasks).replace("- [ ]", "- [x]"));
            }
        }
        self.stop();
    }

    fn transcript_file(&self) -> PathBuf {
        self.context.project().join("transcript.jsonl")
    }

    fn transcript(&self, bytes: u64) {
        File::create(self.transcript_file()).unwrap().set_len(bytes).unwrap();
    }

    pub(super) fn timeline(&self) -> PathBuf {
        self.context.session_dir("s1").join("timeline.jsonl")
    }

    pub(super) fn lines(&self) -> Vec<Value> {
        read(&self.timeline()).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn lines_or_none(&self) -> Vec<Value> {
        if self.timeline().exists() { self.lines() } else { Vec::new() }
    }

    pub(super) fn count(&self, kind: &str) -> usize {
        self.lines().iter().filter(|line| line["type"] == kind).count()
    }

    /// The number of the nth line of a type, counted from 1.
    pub(super) fn line_of(&self, kind: &str, nth: usize) -> usize {
        let lines = self.lines();
        let mut places = (1..).zip(&lines).filter(|(_, line)| line["type"] == kind).map(|(number, _)| number);
        places.nth(nth - 1).unwrap_or_else(|| panic!("no line {nth} of {kind}"))
    }

    pub(super) fn change(&self, number: usize, change: impl Fn(&mut Value)) {
        let mut lines = self.lines();
        change(&mut lines[number - 1]);
        self.put_lines(&lines);
    }

    pub(super) fn put_lines(&self, lines: &[Value]) {
        let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
        put(&self.timeline(), &(lines.join("\n") + "\n"));
    }

    /// Every file of the home with its content and when it was changed.
    pub(super) fn files(&self) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
        let mut folders = vec![self.context.state()];
        let mut files = BTreeMap::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let (path, about) = (entry.path(), entry.metadata().unwrap());
                if about.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(path.clone(), (fs::read(&path).unwrap(), about.modified().unwrap()));
                }
            }
        }
        files
    }
}
