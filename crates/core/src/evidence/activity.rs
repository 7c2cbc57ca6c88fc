//! What an agent did, according to its transcript.

use crate::evidence::{CommandKind, classify, count_tests, names_test};

/// A tool call of an agent, with its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolCall<'a> {
    pub tool: &'a str,
    /// The command of a shell tool. Empty for other tools.
    pub command: &'a str,
    pub failed: bool,
    pub output: &'a str,
}

/// What an agent has done since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// Files that it read and commands that it ran.
    pub looks: u32,
    /// Commands that did more than reading, and tools of other servers, such as a browser.
    pub runs: u32,
    /// Whether the last test command failed.
    pub last_test_failed: bool,
    /// Whether a command changes files.
    pub writes_by_command: bool,
}

/// Tools that only look at the project.
const LOOKING: [&str; 6] = ["Read", "Grep", "Glob", "LS", "NotebookRead", "LSP"];

impl Activity {
    pub fn record(&mut self, call: &ToolCall) {
        match call.tool {
            "Bash" => self.record_command(call),
            // Tools of MCP servers may look at things and run things.
            tool if tool.starts_with("mcp__") => {
                self.looks += 1;
                self.runs += 1;
            }
            tool if LOOKING.contains(&tool) => self.looks += 1,
            _ => {}
        }
    }

    fn record_command(&mut self, call: &ToolCall) {
        self.looks += 1;
        let kind = classify(call.command);
        self.writes_by_command |= kind == CommandKind::Writing;
        if names_test(call.command) {
            let counts = count_tests(call.command, call.output);
            // A runner that found no test has run nothing.
            if matches!(counts, Some(counts) if counts.run == 0) {
                return;
            }
            self.last_test_failed = call.failed || matches!(counts, Some(counts) if counts.failed > 0);
        }
        if kind != CommandKind::ReadOnly {
            self.runs += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(calls: &[(&str, &str, bool, &str)]) -> Activity {
        let mut activity = Activity::default();
        for (tool, command, failed, output) in calls {
            activity.record(&ToolCall { tool, command, failed: *failed, output });
        }
        activity
    }

    #[test]
    fn looking_is_not_running() {
        assert_eq!(activity(&[("TodoWrite", "", false, ""), ("Write", "", false, "")]), Activity::default());
        let looked = activity(&[("Read", "", false, ""), ("Bash", "git diff | cat", false, "")]);
        assert_eq!((looked.looks, looked.runs), (2, 0));
        assert_eq!(activity(&[("mcp__browser__click", "", false, "")]).runs, 1);
        assert_eq!(activity(&[("Bash", "pytest -q", false, "no tests ran in 0.01s")]).runs, 0);
    }

    #[test]
    fn the_last_test_decides() {
        let red = ("Bash", "pytest -q", true, "1 failed in 0.01s");
        let piped = ("Bash", "pytest -q | tail -1", false, "1 failed, 2 passed in 0.01s");
        let green = ("Bash", "pytest -q", false, "3 passed in 0.01s");
        let other = ("Bash", "make docs", true, "boom");
        assert!(activity(&[green, red, other]).last_test_failed);
        assert!(activity(&[piped]).last_test_failed);
        assert!(!activity(&[red, green, other]).last_test_failed);
    }
}
