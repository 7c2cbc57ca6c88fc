//! One target from its start to its end.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::fuzz::build::Programs;
use crate::fuzz::corpus;
use crate::fuzz::progress::Progress;

/// How often somebody who watches is told.
const TELL_EVERY: Duration = Duration::from_secs(5);
/// How much of what a failing target says is shown.
const LAST_WORDS: usize = 24;
/// In memory: the targets that write files write them thousands of times a second.
const MEMORY: &str = "/dev/shm";

/// A target that is to run.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) programs: &'a Programs,
    pub(super) work: &'a Path,
    pub(super) name: &'static str,
    pub(super) seconds: u32,
}

/// How a run ended.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) name: &'static str,
    pub(super) progress: Progress,
    pub(super) seeds: usize,
    pub(super) took: Duration,
    pub(super) failure: Option<Failure>,
}

/// What a target that has failed said, and the input that it failed with.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) input: Option<PathBuf>,
    pub(super) words: Vec<String>,
}

/// A private folder that goes when it is dropped.
pub(super) fn scratch() -> Result<tempfile::TempDir> {
    let folder =
        Some(PathBuf::from(MEMORY)).filter(|folder| folder.is_dir()).unwrap_or_else(std::env::temp_dir);
    tempfile::Builder::new()
        .prefix("overtone-fuzz-")
        .tempdir_in(&folder)
        .map_err(|e| Error::io("cannot create folder", &folder, &e))
}

impl Run<'_> {
    pub(super) fn go(&self) -> Result<Outcome> {
        let (corpus, seeds) = (corpus::found(self.work, self.name), corpus::seeds(self.name));
        let artifacts = self.work.join("artifacts").join(self.name);
        for folder in [&corpus, &artifacts] {
            fs::create_dir_all(folder).map_err(|e| Error::io("cannot create folder", folder, &e))?;
        }
        let count = crate::tree::files(&seeds)?.len();
        eprintln!("fuzz: {} for {} s, from {count} seeds", self.name, self.seconds);
        let scratch = scratch()?;
        let mut command = self.programs.command(self.name, scratch.path());
        command
            .args([
                format!("-max_total_time={}", self.seconds),
                format!("-artifact_prefix={}/", artifacts.display()),
            ])
            .args([corpus, seeds])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let started = Instant::now();
        let mut child =
            command.spawn().map_err(|e| Error::new(format!("cannot start the target {}: {e}", self.name)))?;
        let mut listener = Listener {
            name: self.name,
            started,
            told: started,
            progress: Progress::default(),
            words: Vec::new(),
        };
        for line in
            child.stderr.take().into_iter().flat_map(|pipe| BufReader::new(pipe).split(b'\n')).flatten()
        {
            listener.hear(&String::from_utf8_lossy(&line));
        }
        let status =
            child.wait().map_err(|e| Error::new(format!("the target {} is lost: {e}", self.name)))?;
        let failure = (!status.success()).then(|| listener.failure());
        Ok(Outcome {
            name: self.name,
            progress: listener.progress,
            seeds: count,
            took: started.elapsed(),
            failure,
        })
    }
}

/// Follows what a target says.
struct Listener {
    name: &'static str,
    started: Instant,
    told: Instant,
    progress: Progress,
    /// What is no progress: the reason for a failure.
    words: Vec<String>,
}

impl Listener {
    fn hear(&mut self, line: &str) {
        match Progress::read(line) {
            Some(progress) => {
                self.progress = progress;
                if self.told.elapsed() >= TELL_EVERY {
                    self.told = Instant::now();
                    eprintln!(
                        "fuzz: {} {:>4} s  {}",
                        self.name,
                        self.started.elapsed().as_secs(),
                        self.progress
                    );
                }
            }
            None => self.words.push(line.to_owned()),
        }
    }

    fn failure(&mut self) -> Failure {
        let input =
            self.words.iter().find_map(|line| line.split_once("Test unit written to ").map(|(_, path)| path));
        let input = input.map(|path| PathBuf::from(path.trim()));
        let mut words: Vec<_> = self.words.drain(..).filter(|line| says_why(line)).collect();
        words.drain(..words.len().saturating_sub(LAST_WORDS));
        Failure { input, words }
    }
}

/// Not libFuzzer's own affairs.
fn says_why(line: &str) -> bool {
    const NOISE: [&str; 10] = [
        "INFO:",
        "NOTE:",
        "WARNING:",
        "MS:",
        "artifact_prefix",
        "Base64:",
        "0x",
        "    #",
        "      Combine",
        "SUMMARY: libFuzzer",
    ];
    !line.trim().is_empty() && !NOISE.iter().any(|start| line.starts_with(start))
}
