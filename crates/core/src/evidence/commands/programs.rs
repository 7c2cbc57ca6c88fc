//! What programs do to files.

use super::CommandKind;
use super::git;
use super::invocation::Invocation;
use super::test_runs::runs_tests;

pub(super) fn kind(invocation: &Invocation) -> CommandKind {
    if runs_tests(invocation) {
        return CommandKind::Test;
    }
    if invocation.program == "git" {
        return git::kind(invocation);
    }
    if writes(invocation) {
        CommandKind::Writing
    } else if only_reads(invocation) {
        CommandKind::ReadOnly
    } else {
        CommandKind::Other
    }
}

fn subcommand(invocation: &Invocation) -> &str {
    match invocation.subcommand() {
        Some((subcommand, _)) => subcommand,
        None => "",
    }
}

/// Whether the program changes files.
fn writes(invocation: &Invocation) -> bool {
    let has = |option: &str| invocation.has_option(option);
    let subcommand = subcommand(invocation);
    match invocation.program.as_str() {
        "rm" | "rmdir" | "mv" | "cp" | "install" | "touch" | "mkdir" | "mkfifo" | "mktemp" | "ln" | "dd"
        | "chmod" | "chown" | "chgrp" | "patch" | "truncate" | "shred" | "unlink" | "rsync" | "scp"
        | "unzip" | "zip" | "gzip" | "gunzip" | "split" | "wget" => true,
        "tee" => invocation.arguments.iter().any(|file| !file.starts_with('-') && !file.starts_with("/dev/")),
        "sed" => invocation.arguments.iter().any(|argument| is_in_place(argument)),
        "perl" | "ruby" => invocation.arguments.iter().any(|argument| is_in_place(argument)),
        "awk" | "gawk" => {
            let words = &invocation.arguments;
            words.windows(2).any(|pair| pair[0] == "-i" && pair[1] == "inplace")
                || words.iter().any(|word| word.contains("> \"") || word.contains(">\""))
        }
        "yq" => has("-i") || has("--inplace"),
        "sort" => has("-o") || has("--output"),
        "tree" => has("-o"),
        "uniq" | "xxd" => invocation.arguments.iter().filter(|file| !file.starts_with('-')).count() > 1,
        "find" => {
            let mut words = invocation.arguments.iter();
            words.any(|word| word == "-delete" || word.starts_with("-fprint") || word == "-fls")
        }
        "curl" => {
            invocation.has_flag('o') || invocation.has_flag('O') || has("--output") || has("--remote-name")
        }
        "tar" => !lists_archive(invocation),
        "prettier" => has("--write") || has("-w"),
        "eslint" | "stylelint" => has("--fix"),
        "biome" => has("--write") || has("--apply"),
        "ruff" => has("--fix") || (subcommand == "format" && !has("--check") && !has("--diff")),
        "black" | "isort" | "rustfmt" => {
            !has("--check") && !has("--diff") && !has("--check-only") && !has("--version")
        }
        "gofmt" | "goimports" => has("-w"),
        "cargo" => match subcommand {
            "fmt" => !has("--check"),
            "clippy" => has("--fix"),
            _ => {
                let changes = ["fix", "add", "remove", "update", "init", "new", "install", "clean", "vendor"];
                changes.contains(&subcommand)
            }
        },
        "go" => matches!(subcommand, "fmt" | "mod" | "get" | "generate" | "work"),
        "npm" | "pnpm" | "bun" | "yarn" => changes_packages(invocation, subcommand),
        "pip" | "pip3" | "gem" => matches!(subcommand, "install" | "uninstall"),
        "uv" | "poetry" => {
            matches!(subcommand, "add" | "remove" | "sync" | "lock" | "install" | "update" | "pip" | "init")
        }
        "bundle" | "composer" => {
            matches!(subcommand, "install" | "update" | "add" | "require" | "remove" | "init")
        }
        "mix" => subcommand == "deps.get" || (subcommand == "format" && !has("--check-formatted")),
        "dotnet" => matches!(subcommand, "add" | "new" | "restore" | "format" | "remove"),
        _ => false,
    }
}

fn changes_packages(invocation: &Invocation, subcommand: &str) -> bool {
    // `yarn` alone installs.
    let is_bare_yarn = invocation.program == "yarn" && invocation.arguments.is_empty();
    is_bare_yarn
        || matches!(
            subcommand,
            "install"
                | "i"
                | "ci"
                | "add"
                | "uninstall"
                | "remove"
                | "rm"
                | "update"
                | "upgrade"
                | "up"
                | "init"
                | "link"
                | "dedupe"
                | "prune"
                | "version"
                | "create"
        )
}

/// `-i`, `-i.bak`, `-pi`, `-ni`, `--in-place`
fn is_in_place(argument: &str) -> bool {
    if let Some(option) = argument.strip_prefix("--") {
        return option.starts_with("in-place");
    }
    match argument.strip_prefix('-') {
        // Letters up to the first one that is not a plain flag of sed or perl.
        Some(cluster) => {
            cluster.trim_start_matches(['n', 'E', 'r', 's', 'u', 'z', 'p', 'w', 'l', '0']).starts_with('i')
        }
        None => false,
    }
}

fn lists_archive(invocation: &Invocation) -> bool {
    match invocation.arguments.first() {
        Some(mode) => {
            mode == "--list" || (!mode.starts_with("--") && mode.contains('t') && !mode.contains(['x', 'c']))
        }
        None => true,
    }
}

/// Whether the program certainly changes no file. [`writes`] is asked first, and what `find` executes is an invocation of
/// its own.
fn only_reads(invocation: &Invocation) -> bool {
    match invocation.program.as_str() {
        "" | "ls" | "cat" | "head" | "tail" | "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "wc"
        | "pwd" | "echo" | "printf" | "jq" | "yq" | "tree" | "stat" | "file" | "diff" | "cmp" | "comm"
        | "which" | "whereis" | "type" | "command" | "env" | "printenv" | "true" | "false" | ":" | "test"
        | "[" | "[[" | "cd" | "pushd" | "popd" | "dirs" | "sleep" | "date" | "whoami" | "id" | "hostname"
        | "uname" | "uptime" | "ps" | "df" | "du" | "free" | "basename" | "dirname" | "realpath"
        | "readlink" | "sort" | "uniq" | "cut" | "tr" | "nl" | "tac" | "rev" | "column" | "paste"
        | "join" | "fold" | "fmt" | "expand" | "seq" | "less" | "more" | "bat" | "xxd" | "od" | "hexdump"
        | "strings" | "md5sum" | "sha1sum" | "sha256sum" | "cksum" | "lsof" | "nproc" | "locale" | "tput"
        | "export" | "set" | "unset" | "local" | "shift" | "return" | "exit" | "break" | "continue"
        | "wait" | "read" | "tee" | "overtone" | "find" => true,
        "sed" => !invocation.arguments.iter().any(|argument| may_write_in_script(argument)),
        "awk" | "gawk" => {
            let may_write = |argument: &String| argument.contains(['>', '|']) || argument.contains("system(");
            !invocation.arguments.iter().any(may_write)
        }
        "tar" => lists_archive(invocation),
        _ => {
            matches!(invocation.arguments.as_slice(), [only] if only == "--version" || only == "--help" || only == "-V")
        }
    }
}

/// Whether a script of sed may have one of the commands `w` and `e`, or a substitution with one of them as its flag.
fn may_write_in_script(script: &str) -> bool {
    for (at, c) in script.char_indices() {
        if !matches!(c, 'w' | 'W' | 'e') {
            continue;
        }
        let (before, after) = (&script[..at], &script[at + 1..]);
        let is_command =
            !before.ends_with(|c: char| c.is_alphabetic() || matches!(c, '\\' | '-' | '_' | '.'));
        let has_argument = after.is_empty() || after.starts_with([' ', ';', '\n']);
        if is_command && has_argument {
            return true;
        }
    }
    false
}
