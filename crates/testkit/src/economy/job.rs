//! The job that every run does, and what each agent does for it: a `--version` flag for a small program in Python.
//!
//! Everybody does it with the fewest honest calls: what does not depend on each other goes into one message, every file is
//! read before it is changed, every claim is checked by a command, and the documents of a stage are written.

use overtone_core::registry::{Stage, StageKey, TestMode, Workflow};

use super::step::Call::{Bash, Documents, Edit, Handoffs, Read, Write};
use super::step::Step::{self, Calls, Report};

/// The name that the main agent gives the feature.
pub(super) const FEATURE: &str = "version-flag";

/// The files of the first commit.
pub(super) const FILES: [(&str, &str); 5] = [
    (".gitignore", "__pycache__/\n"),
    ("README.md", README),
    ("greet.py", PROGRAM),
    ("tests/__init__.py", ""),
    ("tests/test_greet.py", TESTS),
];

const README: &str = "\
# greet

Greets people from the command line.

## Usage

```
python3 greet.py Ada            Hello, Ada!
python3 greet.py --shout Ada    HELLO, ADA!
```
";

const PROGRAM: &str = "\
\"\"\"Greets people from the command line.\"\"\"

import argparse


def greeting(name, shout=False):
    text = f\"Hello, {name}!\"
    return text.upper() if shout else text


def parser():
    result = argparse.ArgumentParser(prog=\"greet\", description=__doc__)
    result.add_argument(\"name\", help=\"who is greeted\")
    result.add_argument(\"--shout\", action=\"store_true\", help=\"greet in capital letters\")
    return result


def main(arguments=None):
    options = parser().parse_args(arguments)
    print(greeting(options.name, options.shout))


if __name__ == \"__main__\":
    main()
";

const TESTS: &str = "\
import unittest

from greet import greeting, parser


class GreetingTest(unittest.TestCase):
    def test_a_name_is_greeted(self):
        self.assertEqual(greeting(\"Ada\"), \"Hello, Ada!\")

    def test_shouting_is_in_capitals(self):
        self.assertEqual(greeting(\"Ada\", shout=True), \"HELLO, ADA!\")


class ParserTest(unittest.TestCase):
    def test_a_name_is_required(self):
        with self.assertRaises(SystemExit):
            parser().parse_args([])


if __name__ == \"__main__\":
    unittest.main()
";

const RUN_TESTS: &str = "python3 -m unittest";
const TRY_FLAG: &str = "python3 greet.py --version";
const SHOW_CHANGE: &str = "git status --short && git diff HEAD";

/// The new option, in the program and in its tests.
const CHANGE_PROGRAM: [super::step::Call; 2] = [
    Edit("greet.py", "import argparse\n", "import argparse\n\nVERSION = \"1.0.0\"\n"),
    Edit(
        "greet.py",
        "    return result\n",
        "    result.add_argument(\"--version\", action=\"version\", version=f\"%(prog)s {VERSION}\")\n    return result\n",
    ),
];
const CHANGE_TESTS: super::step::Call = Edit(
    "tests/test_greet.py",
    "            parser().parse_args([])\n",
    "            parser().parse_args([])\n\n    def test_the_version_is_printed_without_a_name(self):\n        \
     with self.assertRaises(SystemExit) as ended:\n            parser().parse_args([\"--version\"])\n        \
     self.assertEqual(ended.exception.code, 0)\n",
);

/// The new option in the document that names the others.
const READ_DOCUMENT: super::step::Call = Read("README.md");
const CHANGE_DOCUMENT: super::step::Call =
    Edit("README.md", "HELLO, ADA!\n", "HELLO, ADA!\npython3 greet.py --version      greet 1.0.0\n");

const READ_CODE: [super::step::Call; 2] = [Read("greet.py"), Read("tests/test_greet.py")];

/// What the main agent does without any workflow, before its last words. It looks around first and reviews its own work,
/// because nobody else does.
pub(super) const PLAIN: [Step; 6] = [
    Calls(&[Bash("git status --short && ls -R")]),
    Calls(&READ_CODE),
    Calls(&[CHANGE_PROGRAM[0], CHANGE_PROGRAM[1], CHANGE_TESTS]),
    Calls(&[Bash(RUN_TESTS)]),
    Calls(&[Bash(TRY_FLAG)]),
    Calls(&[Bash(SHOW_CHANGE)]),
];

/// What the agent of a stage does.
pub(super) fn steps(workflow: Workflow, key: StageKey) -> Vec<Step> {
    match key.stage {
        Stage::Plan => PLAN.to_vec(),
        Stage::Arch => ARCH.to_vec(),
        Stage::Design => DESIGN.to_vec(),
        Stage::Test if workflow.test_mode(key) == Some(TestMode::Spec) => SPECIFY.to_vec(),
        Stage::Test => VERIFY.to_vec(),
        Stage::Dev => develop(workflow),
        Stage::Review => REVIEW.to_vec(),
        Stage::Qa => QA.to_vec(),
        Stage::E2e => E2E.to_vec(),
        Stage::Retro => RETRO.to_vec(),
        Stage::Docs => DOCS.to_vec(),
        other => panic!("no workflow of the measurement has the stage {other:?}"),
    }
}

/// The developer has tasks to tick where there is a feature, and tests to satisfy where TEST came first.
fn develop(workflow: Workflow) -> Vec<Step> {
    match workflow {
        Workflow::Single => DEV_ALONE.to_vec(),
        Workflow::Quick => DEV_WITHOUT_PLAN.to_vec(),
        _ => DEV_BY_PLAN.to_vec(),
    }
}

const DEV_ALONE: [Step; 5] = [
    Calls(&READ_CODE),
    Calls(&[CHANGE_PROGRAM[0], CHANGE_PROGRAM[1], CHANGE_TESTS]),
    Calls(&[Bash(RUN_TESTS)]),
    Calls(&[Bash(TRY_FLAG)]),
    Report,
];

const DEV_WITHOUT_PLAN: [Step; 6] = [
    Calls(&[Handoffs, Read("{feature}/tasks.md"), READ_CODE[0], READ_CODE[1], Documents(&[READ_DOCUMENT])]),
    Calls(&[CHANGE_PROGRAM[0], CHANGE_PROGRAM[1], CHANGE_TESTS, Documents(&[CHANGE_DOCUMENT])]),
    Calls(&[Bash(RUN_TESTS)]),
    Calls(&[Bash(TRY_FLAG)]),
    Calls(&[Edit(
        "{feature}/tasks.md",
        "## Tasks\n",
        "## Tasks\n\n- [x] 1. The option --version prints the version (greet.py), with a test — verify: python3 -m unittest\n",
    )]),
    Report,
];

const DEV_BY_PLAN: [Step; 6] = [
    Calls(&[
        Handoffs,
        Read("{feature}/tasks.md"),
        Read("{feature}/design.md"),
        Read("{feature}/bdd.md"),
        READ_CODE[0],
        Documents(&[READ_DOCUMENT]),
    ]),
    Calls(&[CHANGE_PROGRAM[0], CHANGE_PROGRAM[1], Documents(&[CHANGE_DOCUMENT])]),
    Calls(&[Bash(RUN_TESTS)]),
    Calls(&[Bash(TRY_FLAG)]),
    Calls(&[
        Edit("{feature}/tasks.md", "- [ ] 1.", "- [x] 1."),
        Edit("{feature}/tasks.md", "- [ ] 2.", "- [x] 2."),
    ]),
    Report,
];

const PLAN: [Step; 3] = [
    Calls(&[Handoffs, Read("{feature}/tasks.md"), READ_CODE[0], READ_CODE[1]]),
    Calls(&[
        Write("{feature}/proposal.md", PROPOSAL),
        Edit(
            "{feature}/tasks.md",
            "## Tasks\n",
            "## Tasks\n\n- [ ] 1. A constant and the option --version (greet.py) — verify: python3 greet.py --version\n\
             - [ ] 2. The option needs no name and ends with 0 (tests/test_greet.py) — verify: python3 -m unittest\n",
        ),
    ]),
    Report,
];

const PROPOSAL: &str = "\
# Proposal

## Goal
`greet --version` prints the name and the version of the program.

## Scope
In: the option and its test. Out: a package, a release process.

## Acceptance criteria
1. `--version` prints `greet 1.0.0` on stdout and exits with 0.
2. It needs no name.

## Risks
None beyond a forgotten update of the constant.

## Commands
python3 -m unittest
";

const ARCH: [Step; 3] = [
    Calls(&[Handoffs, Read("{feature}/proposal.md"), READ_CODE[0]]),
    Calls(&[Write("{feature}/design.md", DESIGN_TEXT)]),
    Report,
];

const DESIGN_TEXT: &str = "\
# Design

## Summary
argparse has an action for this, so no code of our own runs.

## Interfaces
`VERSION: str` in greet.py (new). `parser()` gets `--version` with `action=\"version\"`.

## Failure handling
None: argparse prints and exits with 0 before it asks for a name.

## Decision and alternative
Reading the version from package metadata was rejected: there is no package.

## Test seams
`parser().parse_args([\"--version\"])` raises SystemExit with code 0.
";

const DESIGN: [Step; 3] = [
    Calls(&[Handoffs, Read("{feature}/proposal.md"), Read("{feature}/design.md")]),
    Calls(&[Write("{feature}/ux.md", UX)]),
    Report,
];

const UX: &str = "\
# Interface

## Flow
The user types `greet --version` and sees one line.

## Texts
`greet 1.0.0`; in the help: `--version  show program's version number and exit`.

## Accessibility
Plain text on stdout.
";

const SPECIFY: [Step; 4] = [
    Calls(&[
        Handoffs,
        Read("{feature}/proposal.md"),
        Read("{feature}/design.md"),
        Read("{feature}/bdd.md"),
        READ_CODE[1],
    ]),
    Calls(&[Write("{feature}/bdd.md", SCENARIOS), CHANGE_TESTS]),
    // The new test is red, as it should be before DEV.
    Calls(&[Bash("python3 -m unittest || true")]),
    Report,
];

const SCENARIOS: &str = "\
# version-flag: behaviour

## Feature: version-flag

### Scenario: the version is printed
GIVEN the program
WHEN it is started with --version
THEN it prints greet 1.0.0 and exits with 0

### Scenario: no name is needed
GIVEN no name on the command line
WHEN it is started with --version
THEN it does not complain about the name
";

// The agents below know from the developer's report which files to open and which command to try. If the report is not quoted to
// them, they have to read it first.

const REVIEW: [Step; 3] = [Calls(&[Handoffs]), Calls(&[Bash(SHOW_CHANGE), READ_CODE[0]]), Report];

const VERIFY: [Step; 3] = [Calls(&[Handoffs]), Calls(&[Bash(RUN_TESTS), Bash(TRY_FLAG)]), Report];

const QA: [Step; 4] = [
    Calls(&[Handoffs, Read("{feature}/proposal.md"), Read("{feature}/bdd.md"), Read("{feature}/ux.md")]),
    Calls(&[Bash(
        "python3 greet.py --version; python3 greet.py --help; python3 greet.py Ada; python3 greet.py || true",
    )]),
    Calls(&[Write("{feature}/qa-handoff.md", QA_TABLE)]),
    Report,
];

const QA_TABLE: &str = "\
| criterion | steps | expected | actual | result |
|---|---|---|---|---|
| 1 | python3 greet.py --version | greet 1.0.0, exit 0 | greet 1.0.0, exit 0 | pass |
| 2 | the same without a name | no complaint | no complaint | pass |

Defects: none.
";

const E2E: [Step; 3] = [
    Calls(&[Handoffs, Read("{feature}/bdd.md"), Write("tests/test_end_to_end.py", END_TO_END)]),
    Calls(&[Bash(RUN_TESTS)]),
    Report,
];

const END_TO_END: &str = "\
import subprocess
import sys
import unittest


class EndToEndTest(unittest.TestCase):
    def test_the_program_prints_its_version(self):
        ended = subprocess.run([sys.executable, \"greet.py\", \"--version\"], capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stdout), (0, \"greet 1.0.0\\n\"))
";

const RETRO: [Step; 2] = [Calls(&[Handoffs]), Report];

const DOCS: [Step; 4] =
    [Calls(&[Handoffs]), Calls(&[READ_DOCUMENT, Bash(TRY_FLAG)]), Calls(&[CHANGE_DOCUMENT]), Report];
