//! Looks through wrappers: `sudo`, `env A=1`, `timeout 60`, `npx`, `bash -c '…'` and the like.

use super::shell::{SimpleCommand, is_shell, split};

/// A program with its arguments, as it is finally run.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Invocation {
    /// `NAME=value` in front of the program.
    pub(super) assignments: Vec<String>,
    /// The name without its folder. Empty if the command has no program.
    pub(super) program: String,
    /// The program as it was written.
    pub(super) path: String,
    pub(super) arguments: Vec<String>,
    /// The files that its output is redirected to.
    pub(super) written_files: Vec<String>,
}

impl Invocation {
    /// The first argument that is not an option, with what follows it.
    pub(super) fn subcommand(&self) -> Option<(&str, &[String])> {
        let at = self.arguments.iter().position(|argument| !argument.starts_with(['-', '+']))?;
        Some((&self.arguments[at], &self.arguments[at + 1..]))
    }

    /// Whether an argument is this option, with or without a value: `--output=x`.
    pub(super) fn has_option(&self, option: &str) -> bool {
        self.arguments.iter().any(|argument| match argument.strip_prefix(option) {
            Some(rest) => rest.is_empty() || rest.starts_with('='),
            None => false,
        })
    }

    /// Whether a cluster of short options contains this letter.
    pub(super) fn has_flag(&self, letter: char) -> bool {
        let is_cluster = |argument: &&String| argument.starts_with('-') && !argument.starts_with("--");
        self.arguments.iter().filter(is_cluster).any(|cluster| cluster.contains(letter))
    }
}

/// Scripts in arguments are read up to this depth.
const MAX_DEPTH: usize = 4;

/// Every program that a command line runs.
pub(super) fn invocations(command: &str) -> Vec<Invocation> {
    let mut found = Vec::new();
    read_script(command, 0, &mut found);
    found
}

fn read_script(script: &str, depth: usize, found: &mut Vec<Invocation>) {
    for command in split(script) {
        read_command(&command, depth, found);
    }
}

fn read_command(command: &SimpleCommand, depth: usize, found: &mut Vec<Invocation>) {
    let mut invocation = Invocation { written_files: command.written_files.clone(), ..Invocation::default() };
    let words = unwrapped(&command.words, &mut invocation.assignments);
    if let Some((program, arguments)) = words.split_first() {
        program.clone_into(&mut invocation.path);
        base_name(program).clone_into(&mut invocation.program);
        invocation.arguments = arguments.to_vec();
    }
    let inner = inner_script(&invocation);
    match inner {
        Some(script) if depth < MAX_DEPTH => {
            read_script(&script, depth + 1, found);
            // The shell itself is not of interest, but its redirection is.
            if !invocation.written_files.is_empty() {
                found.push(Invocation { written_files: invocation.written_files, ..Invocation::default() });
            }
        }
        _ => {
            read_executed_by_find(&invocation, depth, found);
            found.push(invocation);
        }
    }
}

fn base_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// The script in `bash -c '…'` or `eval …`.
fn inner_script(invocation: &Invocation) -> Option<String> {
    if invocation.program == "eval" {
        return Some(invocation.arguments.join(" "));
    }
    if !is_shell(&invocation.program) {
        return None;
    }
    let is_command_option =
        |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let at = invocation.arguments.iter().position(is_command_option)?;
    invocation.arguments.get(at + 1).cloned()
}

/// `find … -exec program … {} +`
fn read_executed_by_find(invocation: &Invocation, depth: usize, found: &mut Vec<Invocation>) {
    if invocation.program != "find" || depth >= MAX_DEPTH {
        return;
    }
    let mut rest = invocation.arguments.as_slice();
    while let Some(at) =
        rest.iter().position(|word| matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"))
    {
        rest = &rest[at + 1..];
        let end = rest.iter().position(|word| matches!(word.as_str(), ";" | "+")).unwrap_or(rest.len());
        let command = SimpleCommand { words: rest[..end].to_vec(), written_files: Vec::new() };
        read_command(&command, depth + 1, found);
        rest = &rest[end..];
    }
}

/// The words from the program on that the wrappers finally run. Assignments on the way are collected.
fn unwrapped<'a>(mut words: &'a [String], assignments: &mut Vec<String>) -> &'a [String] {
    loop {
        let Some((first, rest)) = words.split_first() else { return words };
        if is_assignment(first) {
            assignments.push(first.clone());
            words = rest;
            continue;
        }
        match after_wrapper(base_name(first), rest) {
            Some(inner) => words = inner,
            None => return words,
        }
    }
}

fn is_assignment(word: &str) -> bool {
    match word.split_once('=') {
        Some((name, _)) => {
            !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        }
        None => false,
    }
}

/// What a wrapper runs. `None` if the program is not one.
fn after_wrapper<'a>(program: &str, rest: &'a [String]) -> Option<&'a [String]> {
    let subcommand = rest.first().map(String::as_str).unwrap_or_default();
    match (program, subcommand) {
        (
            "if" | "then" | "else" | "elif" | "do" | "while" | "until" | "!" | "{" | "}" | "fi" | "done"
            | "esac" | "nohup" | "builtin" | "setsid" | "chronic" | "unbuffer" | "cross-env",
            _,
        ) => Some(rest),
        // Their words are not run.
        ("for" | "case" | "select" | "function", _) => Some(&[]),
        ("command", "-v" | "-V") => None,
        ("command" | "exec" | "time" | "stdbuf" | "caffeinate" | "xvfb-run", _) => {
            Some(after_options(rest, &["-a"]))
        }
        ("sudo" | "doas", _) => Some(after_options(rest, &["-u", "-g", "-h", "-C", "-D"])),
        ("env", _) if env_runs_something(rest) => Some(after_options(rest, &["-u", "-C", "-S"])),
        ("nice", _) => Some(after_options(rest, &["-n"])),
        ("ionice", _) => Some(after_options(rest, &["-c", "-n"])),
        ("timeout" | "gtimeout", _) => after_options(rest, &["-k", "-s"]).get(1..),
        ("xargs", _) => Some(after_options(rest, &["-I", "-n", "-P", "-L", "-d", "-a", "-s", "-E"])),
        ("npx" | "bunx" | "pnpx", _) => Some(after_options(rest, &["-p", "--package"])),
        ("npm" | "pnpm" | "yarn", "exec" | "dlx")
        | ("bundle", "exec")
        | ("bun", "x")
        | ("mise", "exec" | "x") => Some(after_options(&rest[1..], &["-p", "--package"])),
        ("uv" | "poetry" | "pipenv" | "pdm" | "rye", "run") => Some(after_options(
            &rest[1..],
            &["--with", "--group", "--extra", "--python", "-p", "--project", "--directory"],
        )),
        ("direnv", "exec") => rest.get(2..),
        _ => None,
    }
}

/// The words after the options. Those listed have their value in the next word.
fn after_options<'a>(mut words: &'a [String], with_value: &[&str]) -> &'a [String] {
    while let Some((first, rest)) = words.split_first() {
        if first == "--" {
            return rest;
        }
        if !first.starts_with('-') {
            break;
        }
        let has_value = with_value.contains(&first.as_str());
        words = if has_value { rest.get(1..).unwrap_or_default() } else { rest };
    }
    words
}

/// Without a program, `env` prints the environment.
fn env_runs_something(rest: &[String]) -> bool {
    after_options(rest, &["-u", "-C", "-S"]).iter().any(|word| !is_assignment(word))
}
