//! What a `git` command does to files, to hooks and to remotes.

use super::CommandKind;
use super::invocation::Invocation;

/// A call of git: its global options are read, and the words after the subcommand remain.
#[derive(Debug)]
struct GitCall<'a> {
    /// Settings from `-c name=value`.
    settings: Vec<&'a str>,
    subcommand: &'a str,
    arguments: &'a [String],
}

impl<'a> GitCall<'a> {
    fn read(invocation: &'a Invocation) -> Option<Self> {
        if invocation.program != "git" {
            return None;
        }
        let mut settings = Vec::new();
        let mut words = invocation.arguments.as_slice();
        while let Some((first, rest)) = words.split_first() {
            words = rest;
            match first.as_str() {
                "-c" | "--config-env" => {
                    settings.extend(rest.first().map(String::as_str));
                    words = rest.get(1..).unwrap_or_default();
                }
                "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" => {
                    words = rest.get(1..).unwrap_or_default();
                }
                option if option.starts_with("--config-env=") => {
                    settings.push(&option["--config-env=".len()..]);
                }
                option if option.starts_with('-') => {}
                subcommand => return Some(Self { settings, subcommand, arguments: rest }),
            }
        }
        Some(Self { settings, subcommand: "", arguments: &[] })
    }

    fn has(&self, words: &[&str]) -> bool {
        self.arguments.iter().any(|argument| words.contains(&argument.as_str()))
    }

    /// The arguments up to `--`, without the values of options.
    fn options(&self) -> impl Iterator<Item = &'a str> {
        let mut is_value = false;
        let arguments = self.arguments.iter().map(String::as_str).take_while(|argument| *argument != "--");
        arguments.filter(move |argument| {
            let is_option = !std::mem::replace(&mut is_value, false);
            if is_option {
                is_value = takes_next_word(argument);
            }
            is_option
        })
    }
}

/// Short options of `commit`, `merge`, `push` and `am` that have a value. It is the rest of the word or the next one.
const VALUE_LETTERS: &str = "mFCcto";
/// Short options whose value, if there is one, is the rest of the word.
const ATTACHED_LETTERS: &str = "Su";

fn takes_next_word(argument: &str) -> bool {
    if argument.starts_with("--") {
        return matches!(
            argument,
            "--message"
                | "--file"
                | "--author"
                | "--date"
                | "--template"
                | "--reuse-message"
                | "--reedit-message"
                | "--fixup"
                | "--squash"
                | "--trailer"
                | "--cleanup"
                | "--pathspec-from-file"
                | "--push-option"
                | "--repo"
                | "--receive-pack"
                | "--exec"
        );
    }
    match argument.strip_prefix('-') {
        Some(cluster) => cluster.find(|c| VALUE_LETTERS.contains(c)) == cluster.len().checked_sub(1),
        None => false,
    }
}

/// Whether a cluster of short options contains this one, and not only in the value of another one.
fn has_short_option(argument: &str, letter: char) -> bool {
    let Some(cluster) = argument.strip_prefix('-') else { return false };
    if cluster.starts_with('-') {
        return false;
    }
    let end =
        cluster.find(|c| VALUE_LETTERS.contains(c) || ATTACHED_LETTERS.contains(c)).unwrap_or(cluster.len());
    cluster[..end].contains(letter)
}

pub(super) fn kind(invocation: &Invocation) -> CommandKind {
    let Some(call) = GitCall::read(invocation) else { return CommandKind::Other };
    let is_listing = || call.arguments.iter().all(|argument| argument.starts_with('-'));
    match call.subcommand {
        "diff" | "log" | "show" if call.arguments.iter().any(|argument| argument.starts_with("--output")) => {
            CommandKind::Writing
        }
        "" | "status" | "log" | "diff" | "show" | "blame" | "ls-files" | "ls-tree" | "ls-remote"
        | "rev-parse" | "rev-list" | "describe" | "shortlog" | "grep" | "cat-file" | "merge-base"
        | "name-rev" | "for-each-ref" | "show-ref" | "check-ignore" | "check-attr" | "whatchanged"
        | "count-objects" | "range-diff" | "cherry" | "diff-tree" | "diff-index" | "version" | "help"
        | "var" => CommandKind::ReadOnly,
        "branch" | "tag"
            if !has_changing_option(&call) && (is_listing() || call.has(&["--list", "-l", "--contains"])) =>
        {
            CommandKind::ReadOnly
        }
        "remote" if is_listing() || call.has(&["show", "get-url"]) => CommandKind::ReadOnly,
        "stash" if call.has(&["list", "show"]) => CommandKind::ReadOnly,
        "worktree" if call.has(&["list"]) => CommandKind::ReadOnly,
        "reflog" if !call.has(&["expire", "delete"]) => CommandKind::ReadOnly,
        "config" if call.has(&["--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"]) => {
            CommandKind::ReadOnly
        }
        "checkout" | "switch" | "restore" | "reset" | "apply" | "am" | "stash" | "commit" | "merge"
        | "rebase" | "pull" | "cherry-pick" | "revert" | "clean" | "rm" | "mv" | "add" | "init" | "clone"
        | "submodule" | "worktree" | "update-index" | "read-tree" | "checkout-index" | "sparse-checkout"
        | "format-patch" | "archive" | "config" => CommandKind::Writing,
        _ => CommandKind::Other,
    }
}

/// The files of the work tree that a git command changes by name. `None` if it chooses them itself, like `git reset --hard`.
/// Commands that only change the repository, such as `git commit`, change no file of the work tree.
pub(super) fn changed_files(invocation: &Invocation) -> Option<Vec<String>> {
    let call = GitCall::read(invocation)?;
    let files = || call.arguments.iter().filter(|argument| !argument.starts_with('-')).cloned();
    match call.subcommand {
        "add" | "commit" | "tag" | "branch" | "push" | "fetch" | "remote" | "config" | "notes" | "gc"
        | "update-index" | "bisect" => Some(Vec::new()),
        "rm" | "mv" | "restore" => Some(files().collect()),
        "checkout" if call.has(&["--"]) => {
            Some(call.arguments.iter().skip_while(|argument| *argument != "--").skip(1).cloned().collect())
        }
        _ => None,
    }
}

fn has_changing_option(call: &GitCall) -> bool {
    call.has(&[
        "-d",
        "-D",
        "-m",
        "-M",
        "-c",
        "-C",
        "-f",
        "-u",
        "--delete",
        "--move",
        "--copy",
        "--force",
        "--unset-upstream",
    ])
}

pub(super) fn skips_hooks(invocations: &[Invocation]) -> bool {
    let mut is_disabled_for_all = false;
    for invocation in invocations {
        let assigns = || invocation.assignments.iter().any(|assignment| disables_hooks(assignment));
        if let Some(call) = GitCall::read(invocation) {
            if assigns() || call_skips_hooks(&call) || (is_disabled_for_all && runs_hooks(call.subcommand)) {
                return true;
            }
        } else if invocation.program.is_empty() {
            is_disabled_for_all |= assigns();
        } else if invocation.program == "export" {
            is_disabled_for_all |= invocation.arguments.iter().any(|assignment| disables_hooks(assignment));
        }
    }
    false
}

fn call_skips_hooks(call: &GitCall) -> bool {
    if call.settings.iter().any(|setting| names_hooks_path(setting)) {
        return true;
    }
    match call.subcommand {
        "config" => {
            let Some(at) = call.arguments.iter().position(|argument| names_hooks_path(argument)) else {
                return false;
            };
            call.arguments.len() > at + 1 || call.has(&["--unset", "--unset-all", "unset"])
        }
        subcommand => call.options().any(|option| {
            // Git accepts the beginning of an option. Shorter ones could also mean `--no-verbose`.
            let is_no_verify = option.starts_with("--no-veri") && "--no-verify".starts_with(option);
            is_no_verify || (matches!(subcommand, "commit" | "am") && has_short_option(option, 'n'))
        }),
    }
}

/// Whether a setting is about the folder of the hooks. Names of settings are compared without case.
fn names_hooks_path(setting: &str) -> bool {
    let name = setting.split('=').next().unwrap_or(setting);
    name.eq_ignore_ascii_case("core.hooksPath")
}

fn runs_hooks(subcommand: &str) -> bool {
    matches!(
        subcommand,
        "commit" | "merge" | "push" | "rebase" | "pull" | "am" | "cherry-pick" | "revert" | "checkout"
    )
}

/// Variables with which hook managers do nothing, or with which git is configured.
fn disables_hooks(assignment: &str) -> bool {
    let Some((name, value)) = assignment.split_once('=') else { return false };
    match name {
        "HUSKY" | "LEFTHOOK" => matches!(value, "0" | "false"),
        "HUSKY_SKIP_HOOKS" | "OVERCOMMIT_DISABLE" => !matches!(value, "" | "0" | "false"),
        // Hooks of pre-commit to leave out.
        "SKIP" => !value.is_empty(),
        "GIT_CONFIG_PARAMETERS" => value.to_ascii_lowercase().contains("core.hookspath"),
        _ => name.starts_with("GIT_CONFIG_KEY_") && names_hooks_path(value),
    }
}

pub(super) fn forces_push(invocation: &Invocation) -> bool {
    let Some(call) = GitCall::read(invocation) else { return false };
    if !matches!(call.subcommand, "push" | "send-pack") {
        return false;
    }
    let is_forced = call.options().any(|option| {
        option == "--force"
            || option == "--mirror"
            || option.starts_with("--force-w")
            || option.starts_with('+')
            || has_short_option_of_push(option, 'f')
    });
    let after_dashes = call.arguments.iter().skip_while(|argument| *argument != "--");
    is_forced || after_dashes.skip(1).any(|refspec| refspec.starts_with('+'))
}

/// `-u` has no value in `git push`, so `-uf` forces.
fn has_short_option_of_push(option: &str, letter: char) -> bool {
    match option.strip_prefix('-') {
        Some(cluster) if !cluster.starts_with('-') => {
            cluster.split('o').next().unwrap_or_default().contains(letter)
        }
        _ => false,
    }
}
