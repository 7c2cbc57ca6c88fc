//! The examples at the end of each help page.

pub(super) const OVERTONE: &str = "\
Examples:
  overtone demo                            see it at work, without Claude Code
  overtone up                              install the plugin
  overtone init standard --feature login   start a workflow in this session
  overtone status                          where it stands, what comes next
  overtone timeline --follow               watch what happens
  overtone top                             every session live in the terminal
  overtone sessions                        every session, with its project
  overtone fleet                           the sessions of all your machines
  overtone config set language en          zh-TW, zh-CN or en

Inside Claude Code: /ot:auto <task> chooses the workflow and runs it.
State is in ~/.overtone (or OVERTONE_HOME), documents in <project>/specs.";

pub(super) const UP: &str = "\
Writes the plugin to ~/.overtone/plugin with a copy of this program, registers
it with the claude on PATH, and sets the status line if you have none. Your
settings.json keeps its order and formats. Running it again repairs and
updates; running sessions are not disturbed.

Examples:
  overtone up
  overtone up --lang en
  overtone up --files-only && claude --plugin-dir ~/.overtone/plugin";

pub(super) const DOWN: &str = "\
Example:
  overtone down       and later: overtone up";

pub(super) const UNINSTALL: &str = "\
Examples:
  overtone uninstall                  sessions and configuration stay in ~/.overtone
  overtone uninstall --purge --yes    nothing stays

Only a folder that Overtone made is deleted, and only if nothing else is in it.";

pub(super) const DOCTOR: &str = "\
Examples:
  overtone doctor
  overtone doctor --json | jq -r .findings[].name

Ends with 1 when something keeps Overtone from working.";

pub(super) const INIT: &str = "\
Examples:
  overtone init quick
  overtone init standard --feature user-login
  overtone init debug --force                  replace what is running
  overtone init quick --feature x --anyway     although another session works on it, or it came
                                               with the repository

A feature is worked on by one session at a time: a session holds its feature
while its workflow runs, until it is stopped, ends, or was not active for two
hours. The feature's documents are in specs/features/in-progress/<name>. A paused or
noted feature is taken up again. One that was not begun on this machine is left
alone: its tasks are somebody else's words. Workflows of one stage keep no documents.";

pub(super) const STATUS: &str = "\
Examples:
  overtone status
  overtone status --session 3c4d
  overtone status --json | jq .workflow.currentStage

In a terminal it shows the last session of this folder, also after it has
ended; where there is none, the last session of all. A line on stderr says
which one it is. Ends with 0 when there is simply no workflow, with 1 when a file is broken.";

pub(super) const STOP: &str = "\
Examples:
  overtone stop                  and later: overtone resume
  overtone stop --session 3c4d   a session of another folder

Without --session it stops only a session of this folder.";

pub(super) const RESUME: &str = "\
Examples:
  overtone resume                after the retry limit, this gives new attempts
  overtone resume --session 3c4d

Without --session it resumes only a session of this folder.";

pub(super) const MESSAGE: &str = "\
Examples:
  overtone message 'repair the login first'
  overtone message --session 3c4d 'the database is back'

It is kept with the workflow and delivered to the main agent exactly once: with
the next prompt, when an agent reports back, or when the loop continues. The
timeline records that there was a message, but not its text.";

pub(super) const TIMELINE: &str = "\
Examples:
  overtone timeline --since 2h
  overtone timeline 3c4d
  overtone timeline --category error --category tool
  overtone timeline --type stage:complete --limit 0
  overtone timeline --follow --json | jq .type

Times are UTC. With --json every line is one event, as it was recorded.";

pub(super) const TOP: &str = "\
Examples:
  overtone top
  overtone top --once                 one frame, for scripts and pipes
  watch overtone top --once
  overtone top --json | jq -r '.[] | select(.needsPerson) | .project'

Keys: arrows select, Enter shows the whole session, f filters, / searches,
s stops and r resumes after a question, ? explains the rest, q ends it.
Reads the session files itself; no dashboard is needed. Colours follow
NO_COLOR.";

pub(super) const STATS: &str = "\
Examples:
  overtone stats
  overtone stats --all --json

pass@1: stages that passed at the first attempt; pass@3: within the first
three. An attempt counts when an agent gave a verdict; one that was cut off
by an API error does not.";

pub(super) const SESSIONS: &str = "\
Examples:
  overtone sessions                    the same as overtone sessions list
  overtone sessions show 3c4d
  overtone sessions rm 3c4d 0f3c --yes
  overtone sessions gc --dry-run

An id can be given by its first characters, 4 or more, if only one session has
an id that begins with them.";

pub(super) const SPECS: &str = "\
Examples:
  overtone specs new user-login --workflow standard
  overtone specs new dark-mode --backlog
  overtone specs pause user-login
  overtone specs archive user-login
  overtone specs list --json";

pub(super) const INSTINCT: &str = "\
Examples:
  overtone instinct list
  overtone instinct contradict er-1a2b3c4d
  overtone instinct rm er-1a2b3c4d
  overtone instinct clear

A lesson starts at 30% and is told to the main agent from 70% on: +5% when it
is seen or confirmed, -10% when it is contradicted, -2% a week. Below 20% it
is forgotten. The list says which session a lesson comes from and what was seen
last; the main agent is told that a command often fails, not what its error says.";

pub(super) const CONFIG: &str = "\
Examples:
  overtone config list
  overtone config get language
  overtone config set loop.maxIterations 40";

pub(super) const VALIDATE: &str = "\
Examples:
  overtone validate
  overtone validate --plugin plugins/overtone";

pub(super) const STATUSLINE: &str = "\
In Claude Code's settings.json:
  \"statusLine\": {
    \"type\": \"command\",
    \"command\": \"~/.overtone/plugin/bin/overtone statusline\",
    \"refreshInterval\": 5
  }

Shows workflow, state and progress, active agents, context use (yellow from
70%, red from 90%), cost and compactions; without a workflow the model. The
state is ▶ running, ⏸ paused, ✋ waits for you, or ✅ finished. When COLUMNS is
too small, the least important parts are left out.";

pub(super) const SUBAGENT_STATUSLINE: &str = "\
In the settings.json of a plugin or of Claude Code:
  \"subagentStatusLine\": {
    \"type\": \"command\",
    \"command\": \"~/.overtone/plugin/bin/overtone subagent-statusline\"
  }

Shows stage, attempt, time and tokens of each agent of the workflow. Newer
clients (2.1.325) have dropped the setting and ignore it.";

pub(super) const COMPLETIONS: &str = "\
Examples:
  overtone completions bash > ~/.local/share/bash-completion/completions/overtone
  overtone completions zsh  > ~/.zfunc/_overtone
  overtone completions fish > ~/.config/fish/completions/overtone.fish";
