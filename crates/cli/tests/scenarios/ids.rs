//! The record of all scenarios of the behaviour documents, and the proof that each has a test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Document 1, the `PreCompact` hook.
const SPEC_1: [&str; 29] = [
    "1.1", "1.2", "1.3", //
    "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", //
    "3.1", "3.2", "3.3", "3.4", "3.5", //
    "4.1", "4.2", //
    "5.1", "5.2", "5.3", //
    "6.1", "6.2", "6.3", //
    "7.1", "7.2", "7.3", "7.4", //
    "8.1", "8.2", "8.3",
];

/// Document 2, the compact suggestion; its scenarios have no numbers of their own, so their order counts.
const SPEC_2: [&str; 18] = [
    "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "15", "16", "17",
    "18",
];

/// Document 3, the platform alignment.
const SPEC_3: [&str; 62] = [
    "1a-1", "1a-2", "1a-3", "1a-4", "1a-5", "1a-6", "1a-7", "1a-8", //
    "1b-1", "1b-2", "1b-3", "1b-4", "1b-5", "1b-6", "1b-7", "1b-8", "1b-9", "1b-10", //
    "1c-1", "1c-2", "1c-3", "1c-4", "1c-5", "1c-6", "1c-7", "1c-8", "1c-9", //
    "1d-1", "1d-2", "1d-3", "1d-4", "1d-5", "1d-6", "1d-7", "1d-8", "1d-9", "1d-10", "1d-11", //
    "1e-1", "1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8", "1e-9", "1e-10", "1e-11",
    "1e-12", //
    "1f-1", "1f-2", "1f-3", "1f-4", "1f-5", "1f-6", //
    "1g-1", "1g-2", "1g-3", //
    "1h-1", "1h-2", "1h-3",
];

/// Every file of this crate that holds scenarios.
const SOURCES: [&str; 10] = [
    include_str!("spec1_recovery.rs"),
    include_str!("spec1_tasks.rs"),
    include_str!("spec1_events.rs"),
    include_str!("spec2.rs"),
    include_str!("spec3_agents.rs"),
    include_str!("spec3_skills.rs"),
    include_str!("spec3_context.rs"),
    include_str!("spec3_session_end.rs"),
    include_str!("spec3_tool_failure.rs"),
    include_str!("spec3_plugin.rs"),
];

#[test]
fn the_documents_have_109_scenarios() {
    let prefixes = prefixes();
    assert_eq!(prefixes.len(), 109);
    assert_eq!(prefixes.iter().collect::<BTreeSet<_>>().len(), 109, "an id is listed twice");
}

#[test]
fn every_scenario_has_a_test() {
    let tests = tests();
    let missing: Vec<_> =
        prefixes().into_iter().filter(|prefix| !tests.iter().any(|test| test.starts_with(prefix))).collect();
    assert!(missing.is_empty(), "scenarios without a test: {missing:?}");
}

#[test]
fn every_test_belongs_to_a_scenario_and_runs() {
    let prefixes = prefixes();
    let strays: Vec<_> =
        tests().into_iter().filter(|test| !prefixes.iter().any(|prefix| test.starts_with(prefix))).collect();
    assert!(strays.is_empty(), "tests without a listed scenario: {strays:?}");
    let switched_off = concat!("#[", "ignore");
    assert!(SOURCES.iter().all(|source| !source.contains(switched_off)));
}

/// Document 5, the supervisor; its scenarios have no numbers of their own, so their order counts.
const SPEC_5_SCENARIOS: usize = 29;

/// The tests that hold them: the hook's and the launcher's. They hold other tests, too.
const SPEC_5_FOLDERS: [&str; 2] = ["supervisor", "ccc"];

#[test]
fn every_scenario_of_the_supervisor_has_a_test() {
    let sources: Vec<_> = SPEC_5_FOLDERS.iter().flat_map(|folder| sources_in(folder)).collect();
    let tests: Vec<_> = sources.iter().flat_map(|source| tests_in(source)).collect();
    let expected: Vec<_> = (1..=SPEC_5_SCENARIOS).map(|number| format!("s5_{number:02}_")).collect();
    let has = |prefix: &String| tests.iter().any(|test| test.starts_with(prefix));
    let missing: Vec<_> = expected.iter().filter(|prefix| !has(prefix)).collect();
    assert!(missing.is_empty(), "scenarios without a test: {missing:?}");
    let named = tests.iter().filter(|test| test.starts_with("s5_"));
    let strays: Vec<_> =
        named.filter(|test| !expected.iter().any(|prefix| test.starts_with(prefix))).collect();
    assert!(strays.is_empty(), "tests without a scenario: {strays:?}");
    let switched_off = concat!("#[", "ignore");
    assert!(sources.iter().all(|source| !source.contains(switched_off)));
}

/// The sources of one test program of this package, all of which its `main.rs` takes in.
fn sources_in(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let files: Vec<_> = files.filter(|file| file.extension().is_some_and(|ending| ending == "rs")).collect();
    let main =
        files.iter().find(|file| file.ends_with("main.rs")).map(|file| fs::read_to_string(file).unwrap());
    for file in &files {
        let name = file.file_stem().unwrap().to_string_lossy();
        let is_taken_in = main.as_ref().is_some_and(|main| main.contains(&format!("mod {name};\n")));
        assert!(name == "main" || is_taken_in, "{} never runs", file.display());
    }
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

/// How the name of a scenario's test begins: `s1_2_4_`, `s2_01_`, `s3_1c_5_`.
fn prefixes() -> Vec<String> {
    let documents: [(u8, &[&str]); 3] = [(1, &SPEC_1), (2, &SPEC_2), (3, &SPEC_3)];
    let name = |document, id: &str| format!("s{document}_{}_", id.replace(['.', '-'], "_"));
    documents.into_iter().flat_map(|(document, ids)| ids.iter().map(move |id| name(document, id))).collect()
}

fn tests() -> Vec<&'static str> {
    SOURCES.iter().flat_map(|source| tests_in(source)).collect()
}

/// The names of all functions that directly follow a `#[test]`.
fn tests_in(source: &str) -> Vec<&str> {
    let lines = source.lines().zip(source.lines().skip(1));
    lines
        .filter(|(attribute, _)| attribute.trim() == "#[test]")
        .filter_map(|(_, function)| function.trim().strip_prefix("fn ")?.split('(').next())
        .collect()
}
