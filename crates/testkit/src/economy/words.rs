//! What people and agents say in the measured sessions, in each language.

use overtone_core::registry::{Stage, StageKey, TestMode, Workflow};

/// A language that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    English,
    Chinese,
}

impl Language {
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// The value of `OVERTONE_LANG`.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-TW",
        }
    }

    pub fn find(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.tag() == tag)
    }

    const fn pick(self, english: &'static str, chinese: &'static str) -> &'static str {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }

    /// The request for the job.
    pub(super) const fn job(self) -> &'static str {
        self.pick(
            "Add a --version flag to greet.py that prints \"greet 1.0.0\", with a test.",
            "請為 greet.py 加上 --version 選項，印出 \"greet 1.0.0\"，並附上測試。",
        )
    }

    /// The main agent's last words about the job.
    pub(super) const fn job_done(self) -> &'static str {
        self.pick(
            "greet.py has a --version flag now: it prints \"greet 1.0.0\" and needs no name. All tests pass, the new one included.",
            "greet.py 現在有 --version 選項：印出 \"greet 1.0.0\"，不需要名字。所有測試都通過，包含新增的測試。",
        )
    }

    /// Questions about which nothing has to be built, with their answers.
    pub(super) const fn questions(self) -> [(&'static str, &'static str); 3] {
        [
            (
                self.pick("What does argparse do when a required argument is missing?", "缺少必要參數時，argparse 會怎麼做？"),
                self.pick(
                    "It prints the usage and an error to stderr and ends the program with exit code 2.",
                    "它會把用法和錯誤訊息印到 stderr，並以結束代碼 2 結束程式。",
                ),
            ),
            (
                self.pick("And how do I test that without ending the test run?", "那要怎麼測試，才不會結束整個測試？"),
                self.pick(
                    "Call parse_args inside assertRaises(SystemExit); the exception carries the exit code.",
                    "在 assertRaises(SystemExit) 裡呼叫 parse_args；例外物件帶有結束代碼。",
                ),
            ),
            (
                self.pick("Is unittest or pytest better for a project of this size?", "這種規模的專案，用 unittest 還是 pytest 比較好？"),
                self.pick(
                    "unittest is enough: it needs no installation, and a handful of tests gains little from fixtures.",
                    "unittest 就夠了：不需要安裝，而少量的測試用不太到 fixture。",
                ),
            ),
        ]
    }

    /// What the main agent writes to the agent of a stage.
    pub(super) fn delegation(self, workflow: Workflow, key: StageKey) -> String {
        let goal = self.pick(
            "Goal: greet.py gets a --version flag that prints \"greet 1.0.0\" and needs no name, with a test. The user has decided the wording; nothing else changes.",
            "目標：greet.py 加上 --version 選項，印出 \"greet 1.0.0\"，不需要名字，並附上測試。用字由使用者決定；其他都不變。",
        );
        match workflow.test_mode(key) {
            Some(TestMode::Spec) => format!("{goal} {}", self.pick("Mode: spec.", "模式：spec。")),
            Some(TestMode::Verify) => format!("{goal} {}", self.pick("Mode: verify.", "模式：verify。")),
            None => goal.to_owned(),
        }
    }

    /// The last message of a stage's agent, in the form that its page asks for. `documents`: the agent was asked to document
    /// its change, and has done so.
    pub(super) fn report(self, key: StageKey, documents: bool) -> String {
        const PASS: &str = "<!-- VERDICT: {\"result\":\"PASS\"} -->";
        const DOCUMENTED: &str =
            "<!-- VERDICT: {\"result\":\"PASS\",\"visible\":true,\"documented\":true} -->";
        let (findings, files) = self.findings(key.stage);
        let (verdict, files) =
            if documents { (DOCUMENTED, format!("{files}\nREADME.md")) } else { (PASS, files.to_owned()) };
        if key.stage == Stage::Retro {
            return format!("{findings}\n{PASS}");
        }
        let (agent, context) = (key.stage.agent().name(), self.context());
        let none = self.pick("none", "無");
        format!(
            "## HANDOFF: {agent} → main\n### Context\n{context}\n### Findings\n{findings}\n### Files\n{files}\n\
             ### Open questions\n{none}\n\n{verdict}"
        )
    }

    const fn context(self) -> &'static str {
        self.pick(
            "greet.py should get a --version flag that prints \"greet 1.0.0\" without a name. The wording is the user's.",
            "greet.py 要有 --version 選項，不需要名字就印出 \"greet 1.0.0\"。用字由使用者決定。",
        )
    }

    /// What an agent found, and the files that it names.
    const fn findings(self, stage: Stage) -> (&'static str, &'static str) {
        match stage {
            Stage::Plan => (
                self.pick(
                    "Two tasks: the option, then its test. Everything is in one file.",
                    "兩個任務：先是選項，再來是測試。全部都在一個檔案裡。",
                ),
                "proposal.md\ntasks.md",
            ),
            Stage::Arch => (
                self.pick(
                    "argparse's version action does it; no code of our own runs. Package metadata was rejected, there is no package.",
                    "argparse 的 version action 就能做到，不需要自己的程式碼。不採用套件中繼資料，因為沒有套件。",
                ),
                "design.md",
            ),
            Stage::Design => (
                self.pick("One line on stdout, and one line in the help.", "stdout 一行，說明一行。"),
                "ux.md",
            ),
            Stage::Dev => (
                self.pick(
                    "python3 -m unittest: 4 tests, OK. python3 greet.py --version: greet 1.0.0.",
                    "python3 -m unittest：4 個測試，OK。python3 greet.py --version：greet 1.0.0。",
                ),
                "greet.py\ntests/test_greet.py",
            ),
            Stage::Review => (
                self.pick(
                    "Nothing blocks. Checked: the option needs no name, the exit code is tested, the rest is untouched.",
                    "沒有阻擋的問題。已檢查：選項不需要名字，結束代碼有測試，其他部分沒有變動。",
                ),
                "greet.py\ntests/test_greet.py",
            ),
            Stage::Test => (
                self.pick(
                    "python3 -m unittest, 4 tests. The criteria are covered; the version is printed without a name.",
                    "python3 -m unittest，4 個測試。條件都有涵蓋；不需要名字就會印出版本。",
                ),
                "tests/test_greet.py",
            ),
            Stage::Qa => (
                self.pick("Both criteria are met on the running program. No defects.", "兩個條件在實際執行的程式上都符合。沒有缺陷。"),
                "qa-handoff.md",
            ),
            Stage::E2e => (
                self.pick(
                    "python3 -m unittest, exit 0, 5 tests: the program was started as a process and printed its version.",
                    "python3 -m unittest，結束代碼 0，5 個測試：程式以行程啟動並印出版本。",
                ),
                "tests/test_end_to_end.py",
            ),
            Stage::Retro => (
                self.pick("Nothing is worth another round.", "沒有值得再做一輪的事。"),
                "",
            ),
            Stage::Docs => (
                self.pick(
                    "README.md: readers learn the new option. The example was run.",
                    "README.md：讀者會知道新的選項。範例已執行過。",
                ),
                "README.md",
            ),
            _ => ("", ""),
        }
    }
}
