//! The ends of the help pages that belong to no command of their own.

pub(super) const OVERTONE: &str = "\
Examples:
  overtone demo                            watch a workflow run, without Claude Code
  overtone up                              install the plugin
  overtone init standard --feature login   start a workflow in this session
  overtone status                          the current stage and the next step
  overtone timeline --follow               watch what happens
  overtone top                             every session live in the terminal
  overtone sessions                        every session, with its project
  overtone fleet                           sessions on all your machines
  overtone config set language en          zh-TW, zh-CN or en

Inside Claude Code: /ot:auto <task> chooses a workflow and runs it.
State is in ~/.overtone (or OVERTONE_HOME), documents in <project>/specs.";

pub(super) const STATUSLINE: &str = "\
In Claude Code's settings.json:
  \"statusLine\": {
    \"type\": \"command\",
    \"command\": \"~/.overtone/plugin/bin/overtone statusline\",
    \"refreshInterval\": 5
  }

Shows workflow, state and progress, active agents, context usage (yellow from
70%, red from 90%), cost and compactions; without a workflow, the model. The
state is ▶ running, ⏸ paused, ✋ waiting for you, or ✅ finished. If COLUMNS is
too small, the least important parts are left out.";

pub(super) const SUBAGENT_STATUSLINE: &str = "\
In the settings.json of a plugin or of Claude Code:
  \"subagentStatusLine\": {
    \"type\": \"command\",
    \"command\": \"~/.overtone/plugin/bin/overtone subagent-statusline\"
  }

Shows stage, attempt, time and tokens of each agent of the workflow. Newer
clients (2.1.325) ignore this setting.";
