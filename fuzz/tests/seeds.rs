//! Every seed of `fuzz/seeds` through its target, and many small mutations of the seeds. The mutations are the same in
//! each run, so a failure can be repeated.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use overtone_fuzz as targets;

/// How many mutated inputs each target gets. The long search is `cargo xtask proof fuzz`.
const MUTATIONS: usize = 400;
const MAX_BYTES: usize = 4096;

/// The folders of seeds that other packages test: `crates/fleet/src/fuzzing.rs`.
const TESTED_ELSEWHERE: [&str; 1] = ["fleet"];

macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            run(stringify!($name), targets::$name::check);
        })*
    };
}

targets!(wire, verdict, permission, tasks, frontmatter, ccc_json, settings_merge, stream_json, query);

#[test]
fn every_folder_of_seeds_has_a_test() {
    let mut folders: Vec<_> = fs::read_dir(seeds_dir())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    let mut expected: Vec<_> = NAMES.iter().chain(&TESTED_ELSEWHERE).map(|name| (*name).to_owned()).collect();
    expected.sort();
    assert_eq!(folders, expected);
}

fn seeds_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds")
}

fn run(name: &str, check: fn(&[u8])) {
    let mut files: Vec<_> =
        fs::read_dir(seeds_dir().join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 8, "{name} has only {} seeds", files.len());
    let seeds: Vec<_> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    for (file, seed) in files.iter().zip(&seeds) {
        try_input(check, seed, &file.display().to_string());
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for number in 0..MUTATIONS {
        try_input(check, &mutated(&seeds, &mut random), &format!("mutation {number}"));
    }
}

fn try_input(check: fn(&[u8]), data: &[u8], what: &str) {
    let outcome = catch_unwind(AssertUnwindSafe(|| check(data)));
    assert!(outcome.is_ok(), "{what} breaks the target: {}", data.escape_ascii());
}

/// A seed with one to four changes of the kinds that libFuzzer makes.
fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut data = random.pick(seeds).clone();
    for _ in 0..=random.below(4) {
        let at = random.below(data.len() + 1);
        let end = at + random.below(data.len() - at + 1).min(16);
        match random.below(5) {
            0 => drop(data.drain(at..end)),
            1 => drop(data.splice(at..at, data[at..end].to_vec())),
            2 => data.insert(at, random.byte()),
            3 if at < data.len() => data[at] = random.byte(),
            _ => {
                let other = random.pick(seeds);
                let from = random.below(other.len() + 1);
                data.truncate(at);
                data.extend_from_slice(&other[from..]);
            }
        }
    }
    data.truncate(MAX_BYTES);
    data
}

/// `xorshift64`: the same numbers in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        // Bytes with a meaning in the formats that the targets read are more likely.
        const SPECIAL: &[u8] = b"\"'{}[]:,\\/\n\r\t #-<>!=&?%x0\0";
        if self.below(2) == 0 { *self.pick(SPECIAL) } else { self.below(256).to_le_bytes()[0] }
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
