//! The mock over plain HTTP: what a client would read from it.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use overtone_testkit::{Actor, Gate, Mock, Script, Turn, error, report, text, tool, tools};
use serde_json::{Value, json};

/// What the requests here carry.
const KEY: &str = "sk-0123";

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The events of a stream; each frame must name the type that its data has.
    fn events(&self) -> Vec<Value> {
        let frames: Vec<_> = self.body.split("\n\n").collect();
        let (end, frames) = frames.split_last().unwrap();
        assert_eq!(*end, "", "the last frame is complete");
        frames.iter().map(|frame| event(frame)).collect()
    }
}

fn event(frame: &str) -> Value {
    let (name, data) = frame.split_once('\n').unwrap();
    let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(name.strip_prefix("event: "), data["type"].as_str());
    data
}

fn ask(mock: &Mock, line: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(mock.address()).unwrap();
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\nhost: mock\r\nconnection: close\r\ncontent-length: {length}\r\nx-api-key: {KEY}\r\nx-app: cli\r\n\r\n"
    );
    stream.write_all((head + body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

fn message(mock: &Mock, streams: bool) -> Answer {
    let body = json!({
        "model": "m", "stream": streams, "tools": [{"name": "Bash"}],
        "messages": [{"role": "user", "content": "hello"}],
    });
    ask(mock, "POST /v1/messages?beta=true", &body.to_string())
}

/// A request of a client in auto mode.
fn checked_message(mock: &Mock, streams: bool) -> Answer {
    let body = json!({
        "model": "m", "stream": streams, "tools": [{"name": "SubagentHandback"}],
        "safeguards": [{"type": "dangerous_tool_use", "classifier_context": {}}],
        "messages": [{"role": "user", "content": "hello"}],
    });
    ask(mock, "POST /v1/messages?beta=true", &body.to_string())
}

fn start(turns: impl IntoIterator<Item = Turn>) -> Mock {
    Mock::start(Script::default().main(turns))
}

/// Puts a streamed message together as a client does.
fn assemble(events: &[Value]) -> Value {
    let mut message = events[0]["message"].clone();
    let mut partial = String::new();
    for event in events {
        let index = usize::try_from(event["index"].as_u64().unwrap_or_default()).unwrap();
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                message["content"].as_array_mut().unwrap().push(event["content_block"].clone());
                partial.clear();
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                partial += delta["text"].as_str().or(delta["partial_json"].as_str()).unwrap();
            }
            "content_block_stop" => {
                let block = &mut message["content"][index];
                match block["type"].as_str().unwrap() {
                    "text" => block["text"] = json!(partial),
                    _ => block["input"] = serde_json::from_str(&partial).unwrap(),
                }
            }
            "message_delta" => message["stop_reason"] = event["delta"]["stop_reason"].clone(),
            _ => {}
        }
    }
    message
}

/// Without the ids, which are never the same twice.
fn comparable(mut message: Value) -> Value {
    message["id"] = Value::Null;
    for block in message["content"].as_array_mut().unwrap() {
        block["id"] = Value::Null;
    }
    message
}

#[test]
fn a_stream_and_a_plain_answer_say_the_same() {
    let turn = || {
        let call = tool("Bash", json!({"command": "echo \"ü\"\n\n"}));
        tools([text("line\n\nline"), call.clone(), call]).usage(195_000)
    };
    let mock = start([turn(), turn()]);
    let (streamed, plain) = (message(&mock, true), message(&mock, false));
    assert!(streamed.head.contains("content-type: text/event-stream"), "{}", streamed.head);
    assert!(plain.head.contains("content-type: application/json"), "{}", plain.head);
    let events = streamed.events();
    assert_eq!((&events[0]["type"], &events[0]["message"]["content"]), (&json!("message_start"), &json!([])));
    assert_eq!(events.last().unwrap()["type"], "message_stop");
    let (streamed, plain) = (assemble(&events), plain.json());
    assert_eq!(plain["usage"]["input_tokens"], 195_000);
    assert_eq!((&plain["stop_reason"], &plain["model"]), (&json!("tool_use"), &json!("m")));
    assert_eq!(comparable(streamed), comparable(plain));
}

#[test]
fn ids_are_never_the_same_twice() {
    let ids = |mock: &Mock| {
        let answer = message(mock, false).json();
        [answer["id"].clone(), answer["content"][0]["id"].clone()]
    };
    let call = || tool("Bash", json!({}));
    let (first, second) = (start([call(), call()]), start([call()]));
    let mut all = [ids(&first), ids(&first), ids(&second)].concat();
    all.sort_by_key(Value::to_string);
    all.dedup();
    assert_eq!(all.len(), 6);
}

#[test]
fn turns_are_taken_in_order_then_the_responder_then_ok() {
    let says = |mock: &Mock| message(mock, false).json()["content"][0]["text"].as_str().unwrap().to_owned();
    let mock = start([text("one"), text("two").delay(10)]);
    assert_eq!([says(&mock), says(&mock), says(&mock)], ["one", "two", "ok"]);

    let echo = |request: &overtone_testkit::Request| {
        text(format!("{} {}", request.order(), request.user_texts()[0]))
    };
    let mock = Mock::start(Script::default().main([text("one")]).main_with(echo));
    assert_eq!([says(&mock), says(&mock), says(&mock)], ["one", "1 hello", "2 hello"]);
}

#[test]
fn actors_without_a_part_are_answered_by_one_function() {
    let says = |mock: &Mock| message(mock, false).json()["content"][0]["text"].as_str().unwrap().to_owned();
    let everyone = |request: &overtone_testkit::Request| text(format!("{:?}", request.actor()));
    let mock = Mock::start(Script::default().sub("tester", [text("own")]).others_with(everyone));
    assert_eq!(says(&mock), "Main");
    let mock = Mock::start(Script::default().main([text("own")]).others_with(everyone));
    assert_eq!([says(&mock), says(&mock)], ["own", "ok"], "an actor with a part is not among the others");
}

#[test]
fn requests_are_recorded_without_secrets() {
    let mock = start([]);
    message(&mock, true);
    let side = json!({"messages": [{"role": "user", "content": "title?"}]});
    assert_eq!(ask(&mock, "POST /v1/messages", &side.to_string()).status, 200);
    let requests = mock.finish();
    let actors: Vec<_> = requests.iter().map(|r| (r.order(), r.actor())).collect();
    assert_eq!(actors, [(0, Actor::Main), (1, Actor::Side)]);
    assert_eq!(requests[0].tools(), ["Bash"]);
    assert_eq!((requests[0].header("x-app"), requests[0].header("x-api-key")), (Some("cli"), None));
    assert!(!format!("{requests:?}").contains(KEY));
}

#[test]
fn errors_have_the_form_of_the_api() {
    let failure = || error(500, "api_error", "boom");
    let mock = start([failure(), failure().retryable()]);
    let (last, again) = (message(&mock, true), message(&mock, true));
    assert_eq!((last.status, again.status), (500, 500));
    assert_eq!(last.json(), json!({"type": "error", "error": {"type": "api_error", "message": "boom"}}));
    assert!(last.head.contains("x-should-retry: false") && !again.head.contains("x-should-retry"));
}

#[test]
fn everything_else_is_answered_too() {
    let mock = start([]);
    let big = json!({"messages": "x".repeat(3_000_000)}).to_string();
    assert!(ask(&mock, "POST /v1/messages/count_tokens", &big).json()["input_tokens"].as_u64() > Some(0));
    assert_eq!(ask(&mock, "POST /v1/messages", &big).status, 200);
    assert_eq!(ask(&mock, "HEAD /", "").status, 200);
    assert_eq!(ask(&mock, "GET /api/hello", "").json()["error"]["type"], "not_found_error");
    assert_eq!(ask(&mock, "POST /v1/messages", "not json").status, 400);
}

#[test]
#[should_panic(expected = "the responder of Main panicked: unexpected hello")]
fn a_responder_that_panics_fails_the_test() {
    let mock = Mock::start(Script::default().main_with(|r| panic!("unexpected {}", r.user_texts()[0])));
    assert_eq!(message(&mock, true).status, 400);
    mock.finish();
}

#[test]
fn a_key_can_be_compared() {
    let mock = start([]);
    message(&mock, false);
    let requests = mock.take();
    assert!(requests[0].has_key(KEY) && !requests[0].has_key("sk-") && !requests[0].has_token(KEY));
    assert!(mock.take().is_empty(), "they were taken");
}

#[test]
fn an_answer_can_be_cut_off() {
    let mock = start([text("a long answer that never comes to its end").cut(), text("whole")]);
    let whole = message(&mock, true).body;
    assert!(whole.contains("message_start") && !whole.contains("message_stop"), "{whole}");
    assert!(message(&mock, true).body.contains("message_stop"));
}

#[test]
fn the_safety_check_passes_calls_that_the_script_does_not_flag() {
    let call = || tool("Bash", json!({}));
    let mock = start([call(), call().flagged("too risky"), call(), text("no call")]);
    let verdict = |answer: &Value| {
        let check = answer["safeguard_results"][0].clone();
        assert_eq!(
            (&check["type"], &check["status"]["type"]),
            (&json!("dangerous_tool_use"), &json!("available"))
        );
        check["status"]["tool_uses"][answer["content"][0]["id"].as_str().unwrap()].clone()
    };
    let passed = json!({"type": "evaluated", "outcome": "not_flagged"});
    assert_eq!(verdict(&checked_message(&mock, false).json()), passed);
    let flagged = verdict(&checked_message(&mock, false).json());
    assert_eq!((&flagged["outcome"], &flagged["explanation"]), (&json!("flagged"), &json!("too risky")));

    let events = checked_message(&mock, true).events();
    assert!(events[0]["message"].get("safeguard_results").is_none());
    let mut streamed = assemble(&events);
    let delta = events.iter().find(|event| event["type"] == "message_delta").unwrap();
    streamed["safeguard_results"] = delta["delta"]["safeguard_results"].clone();
    assert_eq!(verdict(&streamed), passed);
    assert!(message(&mock, false).json().get("safeguard_results").is_none(), "it was not asked for");
}

#[test]
fn a_report_is_handed_back_where_the_client_has_the_tool_for_it() {
    let mock = start([report("done"), report("done")]);
    let plain = message(&mock, false).json();
    assert_eq!(
        (&plain["content"][0]["type"], &plain["content"][0]["text"]),
        (&json!("text"), &json!("done"))
    );
    let call = checked_message(&mock, false).json()["content"][0].clone();
    assert_eq!((&call["name"], &call["input"]), (&json!("SubagentHandback"), &json!({"message": "done"})));
}

#[test]
fn a_turn_behind_a_gate_waits_until_it_is_opened() {
    let gate = Gate::closed();
    let mock = start([text("at last").behind(&gate), text("at once").behind(&gate)]);
    std::thread::scope(|scope| {
        let held = scope.spawn(|| message(&mock, false).json());
        while mock.take().is_empty() {
            std::thread::yield_now();
        }
        assert!(!held.is_finished());
        gate.open();
        assert_eq!(held.join().unwrap()["content"][0]["text"], "at last");
    });
    assert_eq!(message(&mock, false).json()["content"][0]["text"], "at once");
}
