//! Programs of the test kit that play something in the real client and print lines of JSON. Each play is a process of its own, so
//! that one that fails does not end the others.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::{e2e, shell};

/// The program that plays, and the variables that it finds clients and programs by.
#[derive(Debug)]
pub(crate) struct KitProgram {
    program: PathBuf,
    environment: Vec<(&'static str, OsString)>,
}

impl KitProgram {
    /// Builds the program of that name and everything that it plays with. `binary` is used in place of the development program.
    pub(crate) fn prepare(name: &str, client: &str, binary: Option<&Path>) -> Result<Self> {
        let environment = e2e::prepare(&[client.to_owned()])?;
        let mut kit = Self { program: shell::target_dir()?.join("debug").join(name), environment };
        if let Some(binary) = binary {
            kit.set("OVERTONE_BIN", binary.canonicalize().map_err(|e| Error::io("cannot find", binary, &e))?);
        }
        Ok(kit)
    }

    /// Sets a variable of its environment.
    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.environment.retain(|(other, _)| *other != name);
        self.environment.push((name, value.into()));
    }

    /// Every line that the program prints.
    pub(crate) fn lines<T: for<'a> Deserialize<'a>>(&self, arguments: &[&str]) -> Result<Vec<T>> {
        self.capture(arguments)?.lines().map(parse).collect()
    }

    /// The result of a play, which is the last line that the program prints.
    pub(crate) fn last_line<T: for<'a> Deserialize<'a>>(&self, arguments: &[&str]) -> Result<T> {
        parse(self.capture(arguments)?.lines().last().unwrap_or_default())
    }

    /// What the program prints. Its error is the line in which it says what went wrong.
    pub(crate) fn capture(&self, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.args(arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        let output = command.stdin(Stdio::null()).output();
        let output = output.map_err(|e| Error::io("cannot run", &self.program, &e))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut lines = printed.lines().skip_while(|line| !line.contains("panicked at")).skip(1);
        let reason = lines.next().or_else(|| printed.lines().next());
        Err(Error::new(reason.unwrap_or("it failed without a reason")))
    }
}

pub(crate) fn parse<T: for<'a> Deserialize<'a>>(line: &str) -> Result<T> {
    serde_json::from_str(line).map_err(|e| Error::new(format!("cannot read a result: {e}: {line}")))
}

/// Fails if one of the chosen names is not among the known ones.
pub(crate) fn refuse_unknown(what: &str, chosen: &[String], known: &[&str]) -> Result<()> {
    for name in chosen {
        if !known.contains(&name.as_str()) {
            let hint = format!("one of: {}", known.join(", "));
            return Err(Error::new(format!("no {what} is named {name}")).hint(hint));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_the_last_line() {
        // A shell stands in for the program of the test kit.
        let kit = KitProgram { program: "/bin/sh".into(), environment: Vec::new() };
        assert_eq!(kit.last_line::<u32>(&["-c", "echo sandbox; echo 7"]).unwrap(), 7);
        let error = kit.last_line::<u32>(&["-c", "echo 7; echo sandbox"]).unwrap_err();
        assert!(error.to_string().contains("cannot read a result"), "{error}");
    }

    #[test]
    fn a_name_that_does_not_exist_is_refused_with_the_names_that_do() {
        let error = refuse_unknown("column", &["barre".to_owned()], &["bare", "strict"]);
        assert_eq!(error.unwrap_err().to_string(), "no column is named barre\nhint: one of: bare, strict");
    }

    #[test]
    fn a_failure_is_reported_with_its_reason() {
        let mut kit =
            KitProgram { program: "/bin/sh".into(), environment: vec![("OVERTONE_BIN", "there".into())] };
        kit.set("OVERTONE_BIN", "here");
        let failing = "echo \"thread 'main' panicked at x.rs:1:1:\" >&2; echo 'no end' >&2; exit 101";
        assert_eq!(kit.capture(&["-c", failing]).unwrap_err().to_string(), "no end");
        assert_eq!(kit.capture(&["-c", "echo $OVERTONE_BIN"]).unwrap(), "here\n");
    }
}
