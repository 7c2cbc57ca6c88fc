//! Stands in for the linker of the release binary: links it, watches the hooks at work, and links it again with what
//! they use side by side.
//!
//! A start asks the system for every piece of the program's file that it uses, some kilobytes at a time. The hooks use a
//! twentieth of the program, scattered all over it, and asking took a sixth to a third of their time.
//!
//! Nothing here may stop a build: without valgrind, for example, the program is as good, only slower to start.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::layout::Layout;
use super::training;
use crate::error::{Error, Result};
use crate::shell;

/// Set when this program is started as a linker: the folder for what it leaves behind.
pub(super) const FOLDER: &str = "OVERTONE_LINKER_FOLDER";
/// In that folder: one line on how it went.
const REPORT: &str = "layout.txt";

/// Whether this program was started as a linker.
pub(crate) fn is_called() -> bool {
    env::var_os(FOLDER).is_some()
}

pub(crate) fn run() -> ExitCode {
    let link = Link { arguments: env::args_os().skip(1).collect() };
    let folder = env::var_os(FOLDER).map(PathBuf::from).unwrap_or_default();
    let is_done = if link.is_the_program() { link.in_order(&folder) } else { link.plain() };
    match is_done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// How the last link went.
pub(super) fn report(folder: &Path) -> Option<String> {
    std::fs::read_to_string(folder.join(REPORT)).ok()
}

/// What the compiler asks for.
struct Link {
    arguments: Vec<OsString>,
}

impl Link {
    fn plain(&self) -> Result<()> {
        shell::run(Command::new("cc").args(&self.arguments))
    }

    /// Other programs, like those that help to build this one, may be linked as well.
    fn is_the_program(&self) -> bool {
        let name = self.output().and_then(Path::file_name).map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.starts_with("overtone-") && !name.contains('.'))
    }

    fn output(&self) -> Option<&Path> {
        let at = self.arguments.iter().position(|argument| argument == "-o")?;
        self.arguments.get(at + 1).map(Path::new)
    }

    fn objects(&self) -> impl Iterator<Item = &Path> {
        let files = self.arguments.iter().map(Path::new);
        files.filter(|file| file.extension().is_some_and(|extension| extension == "o"))
    }

    fn in_order(&self, folder: &Path) -> Result<()> {
        let outcome = self.layout(folder).and_then(|layout| {
            let script = folder.join("layout.ld");
            shell::write_file(&script, layout.script().as_bytes())?;
            shell::run(Command::new("cc").args(&self.arguments).arg("-T").arg(script))?;
            Ok(layout.to_string())
        });
        let report = outcome.or_else(|error| {
            self.plain()?;
            Ok(format!("what hooks use is not side by side, they start slower ({error})"))
        })?;
        shell::write_file(&folder.join(REPORT), report.as_bytes())
    }

    fn layout(&self, folder: &Path) -> Result<Layout> {
        let place =
            tempfile::tempdir_in(folder).map_err(|e| Error::io("cannot create folder", folder, &e))?;
        let unsorted = place.path().join("unsorted");
        self.with_names(&unsorted)?;
        let used = training::functions_of_hooks(&unsorted)?;
        let mut objdump = Command::new("objdump");
        let references = shell::capture(objdump.arg("-r").args(self.objects()).env("LC_ALL", "C"))?;
        Ok(Layout::of(&used, &references))
    }

    /// Links with the names of the functions, elsewhere.
    fn with_names(&self, output: &Path) -> Result<()> {
        let own = self.output();
        let arguments = self.arguments.iter().filter(|argument| *argument != "-Wl,--strip-all");
        let arguments = arguments.map(|argument| {
            if own.is_some_and(|own| own == Path::new(argument)) { output.as_os_str() } else { argument }
        });
        shell::run(Command::new("cc").args(arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(line: &str) -> Link {
        Link { arguments: line.split(' ').map(OsString::from).collect() }
    }

    #[test]
    fn only_the_program_is_put_in_order() {
        for (line, is_ours) in [
            ("-m64 a.o -o /t/release/deps/overtone-f67951344fc0d729 -static", true),
            ("a.o -o /t/release/deps/overtone_engine-f67951344fc0d729", false),
            ("a.o -shared -o /t/release/deps/libserde_derive-f6.so", false),
            ("a.o -o /t/release/build/ring-1/build_script_build-1", false),
            ("a.o", false),
        ] {
            assert_eq!(link(line).is_the_program(), is_ours, "{line}");
        }
    }

    #[test]
    fn the_objects_are_found() {
        let link = link("-m64 crt1.o -o /t/overtone-1 /t/overtone-1.rcgu.o libring.rlib -lc");
        let objects: Vec<_> = link.objects().collect();
        assert_eq!(objects, [Path::new("crt1.o"), Path::new("/t/overtone-1.rcgu.o")]);
    }
}
