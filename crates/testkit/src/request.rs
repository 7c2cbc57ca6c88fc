//! What the client sent: one request, and the requests of one actor in their order.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Actor;
use crate::flatten::text_of;
use crate::secrets::Secrets;

/// A recorded `POST /v1/messages`.
#[derive(Debug, Clone)]
pub struct Request {
    actor: Actor,
    order: usize,
    body: Value,
    headers: BTreeMap<String, String>,
    secrets: Secrets,
    /// How many of its first blocks an earlier request of the same actor had already.
    known: usize,
}

impl Request {
    pub(crate) fn new(actor: Actor, body: Value, headers: BTreeMap<String, String>, log: &[Self]) -> Self {
        let earlier = log.iter().filter(|request| request.actor == actor);
        let known = earlier.map(|request| common_start(&request.body, &body)).max();
        let (order, known) = (log.len(), known.unwrap_or(0));
        Self { actor, order, body, headers, secrets: Secrets::default(), known }
    }

    pub(crate) fn with(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    pub fn actor(&self) -> Actor {
        self.actor
    }

    /// Its place among all requests of the run, from 0.
    pub fn order(&self) -> usize {
        self.order
    }

    pub fn body(&self) -> &Value {
        &self.body
    }

    /// Whether it carries this token (`ANTHROPIC_AUTH_TOKEN`) and no other secret.
    pub fn has_token(&self, token: &str) -> bool {
        self.secrets.is_bearer(token)
    }

    /// Whether it carries this key (`ANTHROPIC_API_KEY`) and no other secret.
    pub fn has_key(&self, key: &str) -> bool {
        self.secrets.is_key(key)
    }

    /// A header by its lowercase name. Those that carry secrets are not among them.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The session that it belongs to; a fork has its own.
    pub fn session(&self) -> &str {
        self.header("x-claude-code-session-id").unwrap_or_default()
    }

    /// All text: system prompt, messages and tool results. What tools were called with is not part of it.
    pub fn text(&self) -> String {
        let blocks = blocks(&self.body).into_iter().map(|block| block.text);
        std::iter::once(self.system_text()).chain(blocks).collect::<Vec<_>>().join("\n")
    }

    pub fn system_text(&self) -> String {
        text_of(&self.body["system"])
    }

    /// What the model receives in this request and has not received in an earlier one of the same actor, without its
    /// own words.
    pub fn new_text(&self) -> String {
        let new = blocks(&self.body).into_iter().skip(self.known).filter(|block| block.role != "assistant");
        new.map(|block| block.text).collect::<Vec<_>>().join("\n")
    }

    /// What the model receives after its own last words: in a resumed session, everything but the history.
    pub fn text_since_answer(&self) -> String {
        let blocks = blocks(&self.body);
        let after = match blocks.iter().rposition(|block| block.role == "assistant") {
            Some(last_answer) => last_answer + 1,
            None => 0,
        };
        blocks.into_iter().skip(after).map(|block| block.text).collect::<Vec<_>>().join("\n")
    }

    /// Each text with the role of the user: prompts, tool results and what the client adds to them.
    pub fn user_texts(&self) -> Vec<String> {
        let user = blocks(&self.body).into_iter().filter(|block| block.role == "user");
        user.map(|block| block.text).collect()
    }

    /// Each text that is not the model's own: prompts, tool results, and what the client and its hooks add, which newer
    /// clients give the role of the system.
    pub fn received_texts(&self) -> Vec<String> {
        let received = blocks(&self.body).into_iter().filter(|block| block.role != "assistant");
        received.map(|block| block.text).collect()
    }

    /// The tool calls of the conversation that failed or were refused: the id of the call, and what the model was told.
    pub fn failed_calls(&self) -> Vec<(&str, String)> {
        let mut failed = Vec::new();
        for message in self.body["messages"].as_array().into_iter().flatten() {
            for block in message["content"].as_array().into_iter().flatten() {
                if block["type"] == "tool_result" && block["is_error"] == true {
                    failed.push((
                        block["tool_use_id"].as_str().unwrap_or_default(),
                        text_of(&block["content"]),
                    ));
                }
            }
        }
        failed
    }

    /// Whether it begins a conversation: the model has said nothing yet.
    pub fn is_first(&self) -> bool {
        let messages = self.body["messages"].as_array().into_iter().flatten();
        messages.into_iter().all(|message| message["role"] != "assistant")
    }

    /// The names of the tools that the model may call at once. Newer clients keep some back until it asks.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        tools.filter_map(|tool| tool["name"].as_str()).collect()
    }
}

/// One piece of a conversation.
#[derive(Debug, PartialEq, Eq)]
struct Block<'a> {
    role: &'a str,
    text: String,
}

/// All blocks of all messages. Blocks and not messages, because the client joins messages of the same role.
fn blocks(body: &Value) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or_default();
        let mut add = |content| found.push(Block { role, text: text_of(content) });
        match &message["content"] {
            Value::Array(contents) => contents.iter().for_each(add),
            content => add(content),
        }
    }
    found
}

/// Compares by role and text: cache marks and trailing line breaks come and go.
fn common_start(left: &Value, right: &Value) -> usize {
    let same = |(a, b): &(Block<'_>, Block<'_>)| a.role == b.role && a.text.trim_end() == b.text.trim_end();
    blocks(left).into_iter().zip(blocks(right)).take_while(same).count()
}

/// The requests of one actor, oldest first.
#[derive(Debug)]
pub struct Requests<'a> {
    found: Vec<&'a Request>,
    actor: Actor,
    all: &'a [Request],
}

impl<'a> Requests<'a> {
    #[track_caller]
    pub(crate) fn by(actor: Actor, all: &'a [Request]) -> Self {
        let actor = actor.checked();
        Self { found: all.iter().filter(|request| request.actor == actor).collect(), actor, all }
    }

    /// The first request. Panics when there is none, as all of these do.
    #[track_caller]
    pub fn first(&self) -> &'a Request {
        self.nth(0)
    }

    #[track_caller]
    pub fn last(&self) -> &'a Request {
        self.nth(self.len().saturating_sub(1))
    }

    #[track_caller]
    pub fn nth(&self, index: usize) -> &'a Request {
        let (actor, count) = (self.actor, self.len());
        self.found.get(index).unwrap_or_else(|| {
            let who: Vec<_> = self.all.iter().map(Request::actor).collect();
            panic!("{actor:?} made {count} requests, so there is no number {index}; requests by: {who:?}")
        })
    }

    pub fn len(&self) -> usize {
        self.found.len()
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub fn iter(&self) -> std::iter::Copied<std::slice::Iter<'_, &'a Request>> {
        self.found.iter().copied()
    }

    /// The new text of all requests: everything that the actor received in the run.
    pub fn new_text(&self) -> String {
        self.iter().map(Request::new_text).collect::<Vec<_>>().join("\n")
    }

    /// How often these words were new in the actor's requests of the whole run.
    pub fn times_received(&self, words: &str) -> usize {
        self.new_text().matches(words).count()
    }
}

impl<'a> IntoIterator for Requests<'a> {
    type Item = &'a Request;
    type IntoIter = std::vec::IntoIter<&'a Request>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.into_iter()
    }
}

impl<'a> IntoIterator for &Requests<'a> {
    type Item = &'a Request;
    type IntoIter = std::vec::IntoIter<&'a Request>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.clone().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn user(text: &str) -> Value {
        json!({"role": "user", "content": [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]})
    }

    fn record(log: &mut Vec<Request>, actor: Actor, messages: &[Value]) {
        let body = json!({"system": "sys", "messages": messages});
        let request = Request::new(actor, body, BTreeMap::new(), log);
        log.push(request);
    }

    #[test]
    fn new_text_is_what_this_actor_has_not_received_before() {
        let mut log = Vec::new();
        let answer = json!({"role": "assistant", "content": "own words"});
        record(&mut log, Actor::Main, &[user("a")]);
        record(&mut log, Actor::Sub("tester"), &[user("a")]);
        record(&mut log, Actor::Main, &[json!({"role": "user", "content": "a"}), answer, user("b")]);
        let joined = json!([{"type": "text", "text": "summary\n"}, {"type": "text", "text": "c"}]);
        record(&mut log, Actor::Main, &[user("summary")]);
        record(&mut log, Actor::Main, &[json!({"role": "user", "content": joined})]);
        let new: Vec<_> = log.iter().map(Request::new_text).collect();
        assert_eq!(new, ["a", "a", "b", "summary", "c"]);
        assert_eq!(log[2].text(), "sys\na\nown words\nb");
        assert_eq!((log[2].text_since_answer(), log[0].text_since_answer()), ("b".into(), "a".into()));
        assert_eq!(Requests::by(Actor::Main, &log).new_text(), "a\nb\nsummary\nc");
        assert_eq!(Requests::by(Actor::Main, &log).times_received("m"), 2);
    }

    #[test]
    fn failed_calls_and_texts_of_the_system_are_found() {
        let call =
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash"}]});
        let result = json!({"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "no"});
        let fine = json!({"type": "tool_result", "tool_use_id": "t2", "content": "yes"});
        let results = json!({"role": "user", "content": [result, fine]});
        let hook = json!({"role": "system", "content": "by a hook"});
        let mut log = Vec::new();
        record(&mut log, Actor::Main, &[user("a")]);
        record(&mut log, Actor::Main, &[user("a"), call, results, hook]);
        assert_eq!((log[0].is_first(), log[1].is_first()), (true, false));
        assert_eq!(log[1].failed_calls(), [("t1", "no".to_owned())]);
        assert_eq!(log[1].received_texts(), ["a", "no", "yes", "by a hook"]);
    }

    #[test]
    #[should_panic(expected = "Compaction made 0 requests, so there is no number 0; requests by: [Main]")]
    fn a_missing_request_lists_the_actors_that_asked() {
        let mut log = Vec::new();
        record(&mut log, Actor::Main, &[user("a")]);
        Requests::by(Actor::Compaction, &log).first();
    }
}
