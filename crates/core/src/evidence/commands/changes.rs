//! Which files a command changes, as far as the command line tells.

use super::CommandKind;
use super::git;
use super::invocation::{Invocation, invocations};
use super::programs;

/// The files that a command changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileChanges {
    /// Files and folders that it certainly changes, relative to the folder in which it runs. They may begin with `~/` or with
    /// [`OWN_HOME`].
    pub paths: Vec<String>,
    /// It may change other files as well: it runs a script, or a program that chooses its files itself.
    pub may_change_more: bool,
}

/// What a command does to files. `cd` is followed, variables are not, except for `$HOME` and `$OVERTONE_HOME`.
pub fn file_changes(command: &str) -> FileChanges {
    let mut changes = FileChanges::default();
    let mut folder = Some(String::new());
    for invocation in invocations(command) {
        if matches!(invocation.program.as_str(), "cd" | "pushd") {
            folder = enter(folder.as_deref(), &invocation);
            continue;
        }
        for path in &invocation.written_files {
            changes.add(folder.as_deref(), path);
        }
        if programs::kind(&invocation) == CommandKind::ReadOnly {
            continue;
        }
        match named_files(&invocation) {
            Some(files) => files.iter().for_each(|path| changes.add(folder.as_deref(), path)),
            None => changes.may_change_more |= may_change_others(&invocation),
        }
    }
    changes
}

impl FileChanges {
    /// Adds a path that is relative to `folder`. A path that the command line does not tell may be any file.
    fn add(&mut self, folder: Option<&str>, path: &str) {
        match joined(folder, path) {
            Some(path) => self.paths.push(path),
            None => self.may_change_more = true,
        }
    }
}

/// The folder after `cd`. `None` if it is not known.
fn enter(folder: Option<&str>, invocation: &Invocation) -> Option<String> {
    match invocation.arguments.iter().find(|argument| !argument.starts_with('-')) {
        Some(to) => joined(folder, to),
        None if invocation.arguments.is_empty() => Some("~".to_owned()),
        None => None,
    }
}

fn joined(folder: Option<&str>, path: &str) -> Option<String> {
    if let Some(rest) = below_own_home(path)
        && !rest.contains(['$', '`'])
    {
        return Some(format!("{OWN_HOME}{rest}"));
    }
    let path = match path.strip_prefix("$HOME").or_else(|| path.strip_prefix("${HOME}")) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        _ => path.to_owned(),
    };
    if path.is_empty() || path.contains(['$', '`']) {
        return None;
    }
    if path.starts_with(['/', '~']) {
        return Some(path);
    }
    match folder? {
        "" => Some(path),
        folder => Some(format!("{}/{path}", folder.trim_end_matches('/'))),
    }
}

/// The variable that names Overtone's folder, in front of a path below it.
pub const OWN_HOME: &str = "$OVERTONE_HOME";

/// The rest of a path that begins with the variable.
fn below_own_home(path: &str) -> Option<&str> {
    let rest = path.strip_prefix(OWN_HOME).or_else(|| path.strip_prefix("${OVERTONE_HOME}"))?;
    if rest.is_empty() || rest.starts_with('/') { Some(rest) } else { None }
}

/// The files that the program is given to change. `None` for programs that choose their files themselves.
fn named_files(invocation: &Invocation) -> Option<Vec<String>> {
    let files = || invocation.arguments.iter().filter(|argument| !argument.starts_with('-')).cloned();
    match invocation.program.as_str() {
        "rm" | "rmdir" | "mv" | "touch" | "mkdir" | "mkfifo" | "truncate" | "shred" | "unlink" | "tee"
        | "chmod" | "chown" | "chgrp" => Some(files().collect()),
        // The last one is what is made, the others are only read.
        "cp" | "ln" | "install" => Some(files().next_back().into_iter().collect()),
        // The script comes first, unless it is given by an option.
        "sed" | "perl" if programs::kind(invocation) == CommandKind::Writing => {
            Some(files_after_script(&invocation.arguments))
        }
        "git" => git::changed_files(invocation),
        _ => None,
    }
}

/// The arguments without options and without the script, which is the value of `-e` or else the first argument.
fn files_after_script(arguments: &[String]) -> Vec<String> {
    let mut files = Vec::new();
    let (mut has_script, mut is_script) = (false, false);
    for argument in arguments {
        if std::mem::replace(&mut is_script, false) {
            continue;
        }
        match argument.strip_prefix('-') {
            Some(option) => {
                is_script = option.ends_with('e') && !option.starts_with('-');
                has_script |= is_script || option.starts_with("-expression=");
            }
            None => files.push(argument.clone()),
        }
    }
    if !has_script && !files.is_empty() {
        files.remove(0);
    }
    files
}

/// Whether a program may change files that it is not given by name. Tests, builds and commits work on folders that git
/// ignores, or on the repository itself, so only what is not known to be one of them is suspected.
fn may_change_others(invocation: &Invocation) -> bool {
    match programs::kind(invocation) {
        CommandKind::ReadOnly | CommandKind::Test => false,
        CommandKind::Writing | CommandKind::Other => !invocation.program.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(command: &str) -> Vec<String> {
        file_changes(command).paths
    }

    #[test]
    fn files_are_named_by_redirections_and_arguments() {
        for (command, files) in [
            ("echo x > src/a.py", vec!["src/a.py"]),
            ("cat <<'EOF' > a.py\nrm b\nEOF", vec!["a.py"]),
            ("sed -i 's/a/b/' a.py b.py", vec!["a.py", "b.py"]),
            ("sed -i -e 's/a/b/' a.py", vec!["a.py"]),
            ("perl -pi -e 's/a/b/' a.py", vec!["a.py"]),
            ("rm -rf src tests/test_a.py", vec!["src", "tests/test_a.py"]),
            ("cp a.py b.py", vec!["b.py"]),
            ("mv a.py b.py", vec!["a.py", "b.py"]),
            ("echo x | tee -a log.txt", vec!["log.txt"]),
            ("bash -c 'echo x > a.py'", vec!["a.py"]),
            ("cd sub && echo x > a.py", vec!["sub/a.py"]),
            ("cd /tmp && rm a.py && cd", vec!["/tmp/a.py"]),
            ("rm -rf ~/.overtone $HOME/.overtone/plugin", vec!["~/.overtone", "~/.overtone/plugin"]),
            ("rm -rf \"$OVERTONE_HOME/sessions\"", vec!["$OVERTONE_HOME/sessions"]),
            ("cd ${OVERTONE_HOME} && rm -r sessions", vec!["$OVERTONE_HOME/sessions"]),
            ("git checkout -- src/a.py", vec!["src/a.py"]),
            ("git restore src/a.py", vec!["src/a.py"]),
            ("git rm -q a.py", vec!["a.py"]),
        ] {
            assert_eq!(paths(command), files, "{command}");
            assert!(!file_changes(command).may_change_more, "{command}");
        }
    }

    #[test]
    fn a_command_that_chooses_its_files_may_change_any() {
        for command in [
            "python3 fix.py",
            "python3 -c 'open(\"a.py\",\"w\")'",
            "make",
            "echo x > \"$FILE\"",
            "cd \"$DIR\" && rm a.py",
            "cargo fmt",
            "npm install left-pad",
            "git reset --hard HEAD~1",
            "git stash",
            "patch -p1 < a.diff",
            "./run.sh",
        ] {
            let changes = file_changes(command);
            assert!(changes.may_change_more, "{command}: {changes:?}");
            assert!(changes.paths.is_empty(), "{command}: {changes:?}");
        }
    }

    #[test]
    fn reading_testing_and_committing_change_no_files() {
        for command in [
            "ls && cat a.py | grep x > /dev/null 2>&1",
            "python3 -m unittest -q",
            "cargo test --workspace",
            "git diff",
            "git add -A && git commit -m 'x > y'",
            "git push",
            "cd sub",
            "",
        ] {
            assert_eq!(file_changes(command), FileChanges::default(), "{command}");
        }
    }
}
