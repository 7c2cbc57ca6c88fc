//! Log files of the server's parts. A server that a hook started has no terminal.

use std::fs;
use std::path::PathBuf;

use overtone_core::engine::text::printable;

use crate::{Home, clock, files};

/// A larger file is rotated.
const MAX_BYTES: u64 = 1024 * 1024;

#[derive(Debug, Clone)]
pub struct Log {
    part: &'static str,
    path: PathBuf,
}

impl Log {
    /// The log of the part with this name, in this file of the home.
    pub fn new(home: &Home, part: &'static str, file: &str) -> Self {
        Self { part, path: home.root().join(file) }
    }

    /// Appends one line and prints it on stderr. The caller has removed secrets.
    pub fn write_line(&self, text: &str) {
        let text = printable(text);
        eprintln!("[overtone/{}] {text}", self.part);
        if let Ok(metadata) = self.path.symlink_metadata()
            && metadata.len() > MAX_BYTES
        {
            // If this fails, the file keeps growing, which is better than losing new lines.
            let _ = fs::rename(&self.path, self.path.with_added_extension("1"));
        }
        let line = format!("{} {text}\n", clock::to_iso(clock::now()));
        if let Err(error) = files::append_lines(&self.path, &line) {
            let path = self.path.display().to_string();
            eprintln!("[overtone/{}] cannot write {}: {error}", self.part, printable(&path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_and_the_file_does_not_grow_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::new(&Home::at(dir.path().to_owned()), "test", "a.log");
        log.write_line("two\nlines");
        let (path, old) = (dir.path().join("a.log"), dir.path().join("a.log.1"));
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("Z two lines\n") && text.lines().count() == 1, "{text}");
        files::append_lines(&path, &("x".repeat(1024 * 1024) + "\n")).unwrap();
        log.write_line("new");
        assert!(fs::read_to_string(&path).unwrap().ends_with(" new\n"));
        assert!(fs::read_to_string(&old).unwrap().starts_with(&text));
    }
}
