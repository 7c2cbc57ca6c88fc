//! Recognises the client by its process. It starts hooks directly, without a shell, so its own calls have it as their parent.
//! The call of a tool has a shell or another program in between.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};

use overtone_store::ClientProcess;

const NAME: &str = "claude";

/// The folder of the client's packages.
const PACKAGES: &str = "@anthropic-ai";

/// Programs that run the client as a script, which is their first argument.
const SCRIPT_RUNNERS: [&str; 3] = ["node", "bun", "deno"];

/// The parent of this process, if it is the client. `None` too where the system does not tell.
pub fn parent_client() -> Option<ClientProcess> {
    let pid = parent_id();
    let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let script = || first_argument(&fs::read(format!("/proc/{pid}/cmdline")).ok()?);
    if !is_client(&program, script) {
        return None;
    }
    Some(ClientProcess { pid, started: start_time(pid)? })
}

/// Whether a hook call cannot come from one of these clients: at least one of them is running, and this process was started
/// by another program.
pub fn is_called_by_other(clients: &[ClientProcess]) -> bool {
    if clients.is_empty() {
        return false;
    }
    let parent = parent_id();
    !clients.iter().any(|client| client.pid == parent) && clients.iter().any(is_running)
}

fn is_running(client: &ClientProcess) -> bool {
    start_time(client.pid) == Some(client.started)
}

/// The client is a program of its own, or a script in a folder of its package.
fn is_client(program: &Path, script: impl FnOnce() -> Option<PathBuf>) -> bool {
    let name = program.file_name().and_then(OsStr::to_str).unwrap_or_default();
    if !SCRIPT_RUNNERS.contains(&name) {
        return is_client_file(program);
    }
    match script() {
        Some(script) => is_client_file(&script),
        None => false,
    }
}

/// `…/claude`, `…/claude/versions/2.1.325`, `…/@anthropic-ai/claude-code/cli.js`.
fn is_client_file(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
    match parts.as_slice() {
        [.., name] if name.to_ascii_lowercase().starts_with(NAME) => true,
        [.., folder, versions, _] if folder == NAME && versions == "versions" => true,
        parts => parts.iter().any(|part| part == PACKAGES),
    }
}

fn first_argument(command_line: &[u8]) -> Option<PathBuf> {
    let argument = command_line.split(|byte| *byte == 0).nth(1)?;
    Some(PathBuf::from(String::from_utf8_lossy(argument).into_owned()))
}

/// When a process started, in clock ticks since the machine was booted. `None` if it has ended.
fn start_time(pid: u32) -> Option<u64> {
    parse_start_time(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The second field is the program's name, which may contain anything; it ends with the last parenthesis.
fn parse_start_time(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    // A process that has ended stays visible until its parent has waited for it.
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn client(pid: u32) -> ClientProcess {
        ClientProcess { pid, started: start_time(pid).unwrap() }
    }

    #[test]
    fn only_a_call_beside_a_running_client_is_one_of_others() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let (parent, other) = (client(parent_id()), client(child.id()));
        assert!(!is_called_by_other(&[]), "no client is known");
        assert!(is_called_by_other(&[other]));
        assert!(!is_called_by_other(&[other, parent]));
        let reused = ClientProcess { started: other.started + 1, ..other };
        assert!(
            !is_called_by_other(&[reused]),
            "the client has ended, and its id is that of another process"
        );
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!is_called_by_other(&[other]), "the client has ended");
    }

    #[test]
    fn the_client_is_recognised_and_shells_are_not() {
        let is_client =
            |program: &str, script: Option<&str>| is_client(Path::new(program), || script.map(PathBuf::from));
        assert!(is_client("/home/u/.local/share/claude/versions/2.1.325", None));
        assert!(is_client("/x/node_modules/@anthropic-ai/claude-code-linux-x64/claude", None));
        assert!(is_client("/opt/claude (deleted)", None));
        assert!(is_client("/usr/bin/node", Some("/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js")));
        // The client's shell has paths of the client among its arguments, but it is a shell.
        assert!(!is_client("/bin/bash", Some("/home/u/.claude/shell-snapshots/x.sh")));
        assert!(!is_client("/usr/bin/node", Some("/home/u/forge.js")));
        assert!(!is_client("/usr/bin/node", None));
        assert!(!is_client("/usr/bin/python3.12", Some("claude.py")));
        assert!(!is_client("/home/claude/tools/sh", None));
    }

    #[test]
    fn the_tests_run_in_no_client() {
        assert_eq!(parent_client(), None);
    }

    #[test]
    fn the_name_of_the_program_may_contain_anything() {
        let stat = "7 (a) R 1 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        assert_eq!(parse_start_time(stat), Some(4711));
        assert_eq!(parse_start_time("7 (a) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"), None);
        assert_eq!(parse_start_time("7 (a"), None);
    }

    #[test]
    fn the_first_argument_of_a_command_line_is_the_script() {
        assert_eq!(first_argument(b"node\0/a/cli.js\0-p\0"), Some(PathBuf::from("/a/cli.js")));
        assert_eq!(first_argument(b"node"), None);
    }
}
