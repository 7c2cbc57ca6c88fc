//! The columns of the table: what stands between the scripted model and the user's project.

use std::env;
use std::path::PathBuf;

use serde_json::json;

use super::case::{Case, Role};
use crate::{Sandbox, UserShell};

/// Where `cargo xtask discipline` and `cargo xtask tokens` have installed the peers.
const PEERS_VARIABLE: &str = "OVERTONE_PEERS";

/// The language of Overtone's texts in the benchmark, so that its page is in one language.
pub(super) const LANGUAGE: (&str, &str) = ("OVERTONE_LANG", "en");

/// One column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// The client without any plugin, with agents of the same names.
    Bare,
    /// Another product that watches agents.
    Peer(&'static Peer),
    /// Overtone at its default level.
    Notice,
    /// Overtone at its strict level.
    Strict,
}

/// A product that can be had from a registry as a plugin of the client.
#[derive(Debug, PartialEq, Eq)]
pub struct Peer {
    pub name: &'static str,
    /// The npm package whose folder is the plugin.
    pub package: &'static str,
    /// What its agents' names begin with.
    prefix: &'static str,
    agents: &'static [(Role, &'static str)],
}

/// The peers. Their versions are in `crates/testkit/peers.txt`.
static PEERS: [Peer; 1] = [Peer {
    name: "oh-my-claudecode",
    package: "oh-my-claude-sisyphus",
    prefix: "oh-my-claudecode:",
    agents: &[
        (Role::Planner, "planner"),
        (Role::Developer, "executor"),
        (Role::Debugger, "debugger"),
        (Role::Reviewer, "code-reviewer"),
        (Role::Tester, "test-engineer"),
        (Role::Retrospective, "critic"),
        (Role::DocUpdater, "writer"),
    ],
}];

impl Peer {
    pub fn all() -> &'static [Self] {
        &PEERS
    }

    /// The folder of the plugin. Panics if no command of `xtask` has installed it.
    #[track_caller]
    pub fn plugin(&self) -> PathBuf {
        let folder = env::var_os(PEERS_VARIABLE)
            .unwrap_or_else(|| panic!("{PEERS_VARIABLE} is not set\nhint: run `cargo xtask discipline`"));
        PathBuf::from(folder).join(self.name).join("node_modules").join(self.package)
    }
}

impl Column {
    pub fn all() -> Vec<Self> {
        let peers = PEERS.iter().map(Self::Peer);
        std::iter::once(Self::Bare).chain(peers).chain([Self::Notice, Self::Strict]).collect()
    }

    pub fn find(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|column| column.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Peer(peer) => peer.name,
            Self::Notice => "notice",
            Self::Strict => "strict",
        }
    }

    pub(super) const fn is_overtone(self) -> bool {
        matches!(self, Self::Notice | Self::Strict)
    }

    /// How the model calls an agent here.
    pub(super) fn agent_name(self, role: Role) -> String {
        if role.is_built_in() {
            return role.name().to_owned();
        }
        match self {
            Self::Bare => role.name().to_owned(),
            Self::Notice | Self::Strict => format!("ot:{}", role.name()),
            Self::Peer(peer) => {
                let found = peer.agents.iter().find(|(listed, _)| *listed == role);
                let (_, name) = found.unwrap_or_else(|| panic!("{} has no agent for {role:?}", peer.name));
                format!("{}{name}", peer.prefix)
            }
        }
    }

    /// The plugin that the client is started with.
    pub(super) fn plugin(self, sandbox: &Sandbox) -> Option<PathBuf> {
        match self {
            Self::Bare => None,
            Self::Notice | Self::Strict => Some(sandbox.plugin()),
            Self::Peer(peer) => Some(peer.plugin()),
        }
    }

    /// Prepares what the user would have prepared: agents, the guard level, trust in the checks, and the workflow.
    pub(super) fn prepare(self, sandbox: &Sandbox, case: &Case, session: &str) {
        match self {
            Self::Bare => put_plain_agents(sandbox),
            Self::Peer(_) => {}
            Self::Notice => start_workflow(sandbox, case, session),
            Self::Strict => {
                sandbox.put_config(&json!({"guard": {"level": "strict"}}));
                start_workflow(sandbox, case, session);
                ensure_strict(sandbox, case, session);
            }
        }
    }
}

/// Agents of the user that have the names of ours and no rules.
fn put_plain_agents(sandbox: &Sandbox) {
    for role in Role::ALL.into_iter().filter(|role| !role.is_built_in()) {
        let name = role.name();
        let file = sandbox.home().join(".claude/agents").join(format!("{name}.md"));
        sandbox.write(
            &file,
            &format!(
                "---\nname: {name}\ndescription: The {name}.\n---\n\nYou are the {name} of this project.\n"
            ),
        );
    }
}

/// Starts the workflow by the commands of the user.
fn start_workflow(sandbox: &Sandbox, case: &Case, session: &str) {
    let shell = sandbox.user_shell().env(LANGUAGE.0, LANGUAGE.1);
    if case.has_checks {
        trust_checks(&shell);
    }
    if let Some(workflow) = case.workflow {
        let feature = match case.feature {
            Some(name) => format!(" --feature {name}"),
            None => String::new(),
        };
        shell.run(&format!("overtone init {workflow} --session {session}{feature}"));
    }
}

/// A program without this command has no checks either, and then every case about checks shows it.
fn trust_checks(shell: &UserShell) {
    let (succeeded, printed) = shell.try_run("overtone trust --yes");
    if !succeeded {
        println!("overtone trust --yes: {}", printed.lines().next().unwrap_or_default());
    }
}

/// Sets the level in the state where `init` does not yet take it from the configuration.
fn ensure_strict(sandbox: &Sandbox, case: &Case, session: &str) {
    if case.workflow.is_none() {
        return;
    }
    let mut workflow = sandbox.workflow(session);
    if workflow["guard"] != "strict" {
        workflow["guard"] = json!("strict");
        sandbox.put_state(session, "workflow.json", &workflow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_versions_has_every_peer() {
        let listed = include_str!("../../peers.txt");
        for peer in Peer::all() {
            let line =
                listed.lines().find(|line| line.starts_with(&format!("{} {} ", peer.name, peer.package)));
            assert!(line.is_some(), "{}", peer.name);
        }
    }

    #[test]
    fn every_column_has_a_name_for_every_role() {
        for column in Column::all() {
            assert_eq!(Column::find(column.name()), Some(column));
            for role in Role::ALL {
                assert!(!column.agent_name(role).is_empty());
            }
        }
        assert_eq!(Column::Notice.agent_name(Role::Reviewer), "ot:code-reviewer");
        assert_eq!(Column::Strict.agent_name(Role::Helper), "general-purpose");
    }
}
