//! What the user does beside the client: commands in a shell of their own, in the same home and project.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::Sandbox;
use crate::sandbox::path;

/// A shell of the user. It has no variable of the client, so that programs see that no tool call has started them. The
/// plugin's programs are on its path.
#[derive(Debug, Clone)]
pub struct UserShell {
    folder: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl UserShell {
    /// Runs a command and returns whether it succeeded, with everything that it printed.
    pub fn try_run(&self, line: &str) -> (bool, String) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).current_dir(&self.folder).stdin(Stdio::null());
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        let output = command.output().expect("a shell starts");
        let printed = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&printed).into_owned())
    }

    /// Runs a command that has to succeed, and returns what it printed.
    #[track_caller]
    pub fn run(&self, line: &str) -> String {
        let (succeeded, printed) = self.try_run(line);
        assert!(succeeded, "`{line}` failed: {printed}");
        printed
    }

    /// The same shell with one more variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }
}

impl Sandbox {
    pub fn user_shell(&self) -> UserShell {
        let template = self.command_of("sh".as_ref());
        let inherited = template.get_envs().filter_map(|(name, value)| Some((name.into(), value?.into())));
        let mut environment: Vec<(OsString, OsString)> = inherited.collect();
        let inherited = path();
        let folders = std::iter::once(self.plugin().join("bin")).chain(env::split_paths(&inherited));
        environment.push(("PATH".into(), env::join_paths(folders).expect("parts of a PATH make a PATH")));
        UserShell { folder: self.project(), environment }
    }

    /// Makes a git repository of the project, with these files in its first commit.
    pub fn put_repository<'f>(&self, files: impl IntoIterator<Item = (&'f str, &'f str)>) {
        for (path, contents) in files {
            self.put_file(path, contents);
        }
        let shell = self.user_shell();
        shell.run(
            "git init -q -b main && git config user.name User && git config user.email user@example.com",
        );
        shell.run("git add -A && git commit -q -m 'the project'");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_works_in_the_project_and_has_our_program() {
        let sandbox = Sandbox::for_tests();
        sandbox.put_repository([("src/a.txt", "one\n")]);
        let shell = sandbox.user_shell().env("LANGUAGE", "en");
        assert_eq!(shell.run("git status --short && git ls-files && echo $LANGUAGE"), "src/a.txt\nen\n");
        assert_eq!(
            shell.run("command -v overtone").trim(),
            sandbox.plugin().join("bin/overtone").to_string_lossy()
        );
        assert_eq!(shell.run("echo ${CLAUDECODE-none}").trim(), "none");
        assert_eq!(shell.try_run("echo no >&2; exit 3"), (false, "no\n".to_owned()));
    }

    #[test]
    #[should_panic(expected = "`exit 3` failed")]
    fn a_command_that_has_to_succeed_says_which_one_failed() {
        Sandbox::for_tests().user_shell().run("exit 3");
    }
}
