//! One answer of the scripted model.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;

/// What the model says in one turn: text, tool calls or an error of the API.
#[derive(Debug, Clone)]
pub struct Turn {
    pub(crate) content: Content,
    pub(crate) delay: Duration,
    pub(crate) usage: Usage,
    pub(crate) is_cut: bool,
    pub(crate) flagged: Option<String>,
    pub(crate) gate: Option<watch::Receiver<bool>>,
}

/// The tokens that an answer claims.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// Holds turns back until the test lets them go: see [`Turn::behind`].
#[derive(Debug)]
pub struct Gate(watch::Sender<bool>);

impl Gate {
    /// A gate that is closed.
    pub fn closed() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Lets every turn behind it go, now and later.
    pub fn open(&self) {
        self.0.send_replace(true);
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Content {
    Blocks(Vec<Block>),
    /// How it is sent depends on the tools of the request: see [`report`].
    Report(String),
    Error {
        status: u16,
        kind: String,
        message: String,
        retryable: bool,
    },
}

#[derive(Debug, Clone)]
pub(crate) enum Block {
    Text(String),
    Tool { name: String, input: Value },
}

/// A turn of plain text.
pub fn text(text: impl Into<String>) -> Turn {
    Turn::new(vec![Block::Text(text.into())])
}

/// A turn that calls one tool.
pub fn tool(name: &str, input: Value) -> Turn {
    Turn::new(vec![Block::Tool { name: name.to_owned(), input }])
}

/// The tool by which sub-agents report where the client wants it, which is in its auto mode.
const HANDBACK: &str = "SubagentHandback";

/// The last turn of a sub-agent: a call of `SubagentHandback` where the client offers that tool, else plain text.
pub fn report(text: impl Into<String>) -> Turn {
    Turn { content: Content::Report(text.into()), ..Turn::new(Vec::new()) }
}

/// Several tool calls, or texts and tool calls, in one turn. The delays and figures of the parts are dropped.
pub fn tools(parts: impl IntoIterator<Item = Turn>) -> Turn {
    let blocks = parts.into_iter().flat_map(|part| match part.content {
        Content::Blocks(blocks) => blocks,
        Content::Report(_) | Content::Error { .. } => {
            panic!("a report or an error cannot be a part of a turn")
        }
    });
    Turn::new(blocks.collect())
}

/// An error of the API. The client is asked not to try again (see [`Turn::retryable`]). It complies for
/// `error(500, "api_error", "…")`, but 2.1.325 still repeats a 400 once, and 2.1.197 a 529.
pub fn error(status: u16, kind: &str, message: &str) -> Turn {
    let (kind, message) = (kind.to_owned(), message.to_owned());
    Turn { content: Content::Error { status, kind, message, retryable: false }, ..Turn::new(Vec::new()) }
}

impl Turn {
    fn new(blocks: Vec<Block>) -> Self {
        Self {
            content: Content::Blocks(blocks),
            delay: Duration::ZERO,
            usage: Usage { input: 100, output: 10, cache_read: 0, cache_write: 0 },
            is_cut: false,
            flagged: None,
            gate: None,
        }
    }

    /// The same turn for an agent with these tools: a report becomes a tool call or a text.
    pub(crate) fn for_tools(mut self, tools: &[&str]) -> Self {
        if let Content::Report(text) = self.content {
            let block = if tools.contains(&HANDBACK) {
                Block::Tool { name: HANDBACK.to_owned(), input: json!({"message": text}) }
            } else {
                Block::Text(text)
            };
            self.content = Content::Blocks(vec![block]);
        }
        self
    }

    /// Answers only after this many milliseconds.
    #[must_use]
    pub fn delay(mut self, milliseconds: u64) -> Self {
        self.delay = Duration::from_millis(milliseconds);
        self
    }

    /// Answers only once the gate is open, or has been dropped.
    #[must_use]
    pub fn behind(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.0.subscribe());
        self
    }

    /// How many input tokens the answer claims: a large number makes the client compact.
    #[must_use]
    pub fn usage(mut self, input_tokens: u64) -> Self {
        self.usage.input = input_tokens;
        self
    }

    /// How many tokens of each kind the answer claims.
    #[must_use]
    pub fn tokens(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Auto mode's safety check objects to the turn's tool calls, for this reason. It passes all others.
    #[must_use]
    pub fn flagged(mut self, reason: &str) -> Self {
        self.flagged = Some(reason.to_owned());
        self
    }

    /// Breaks the connection in the middle of the answer. A client may try again, and take the next turn.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.is_cut = true;
        self
    }

    /// Leaves it to the client whether it repeats a request that failed; each repetition takes the next turn.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        if let Content::Error { retryable, .. } = &mut self.content {
            *retryable = true;
        }
        self
    }
}
