//! A turn as the Messages API puts it on the wire: a JSON message, its stream of events, or an error.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};

use crate::turn::{Block, Usage};

/// The message that holds `blocks`, as a request without `stream` gets it.
pub(crate) fn message(blocks: &[Block], model: &Value, usage: Usage) -> Value {
    let calls_tools = blocks.iter().any(|block| matches!(block, Block::Tool { .. }));
    json!({
        "id": unique("msg"), "type": "message", "role": "assistant", "model": model,
        "content": blocks.iter().map(content_block).collect::<Vec<_>>(),
        "stop_reason": if calls_tools { "tool_use" } else { "end_turn" },
        "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input, "output_tokens": usage.output,
            "cache_creation_input_tokens": usage.cache_write, "cache_read_input_tokens": usage.cache_read,
        },
    })
}

/// Adds the verdicts of auto mode's safety check: every tool call passes, unless there is a reason to flag them.
pub(crate) fn add_safety_check(message: &mut Value, flagged: Option<&str>) {
    let verdict = match flagged {
        Some(reason) => json!({"type": "evaluated", "outcome": "flagged", "explanation": reason}),
        None => json!({"type": "evaluated", "outcome": "not_flagged"}),
    };
    let calls = message["content"].as_array().into_iter().flatten();
    let ids = calls.filter(|block| block["type"] == "tool_use").filter_map(|block| block["id"].as_str());
    let verdicts: Map<String, Value> = ids.map(|id| (id.to_owned(), verdict.clone())).collect();
    message[SAFETY_CHECK] =
        json!([{"type": "dangerous_tool_use", "status": {"type": "available", "tool_uses": verdicts}}]);
}

/// The field of an answer that has the verdicts of the safety check.
const SAFETY_CHECK: &str = "safeguard_results";

/// The same message as server-sent events.
pub(crate) fn stream(message: &Value) -> String {
    let mut events = vec![message_start(message)];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        events.extend(block_events(index, block));
    }
    let mut delta = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    if let Some(verdicts) = message.get(SAFETY_CHECK) {
        delta[SAFETY_CHECK] = verdicts.clone();
    }
    events.push(json!({"type": "message_delta", "delta": delta, "usage": message["usage"]}));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(frame).collect()
}

/// The body of an error.
pub(crate) fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

fn content_block(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Tool { name, input } => {
            json!({"type": "tool_use", "id": unique("toolu"), "name": name, "input": input})
        }
    }
}

fn message_start(message: &Value) -> Value {
    let mut empty = message.clone();
    empty["content"] = json!([]);
    empty["stop_reason"] = Value::Null;
    if let Some(fields) = empty.as_object_mut() {
        fields.remove(SAFETY_CHECK);
    }
    json!({"type": "message_start", "message": empty})
}

/// A block begins empty, gets its content in one piece and ends.
fn block_events(index: usize, block: &Value) -> [Value; 3] {
    let mut empty = block.clone();
    let delta = if block["type"] == "text" {
        empty["text"] = json!("");
        json!({"type": "text_delta", "text": block["text"]})
    } else {
        empty["input"] = json!({});
        json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
    };
    [
        json!({"type": "content_block_start", "index": index, "content_block": empty}),
        json!({"type": "content_block_delta", "index": index, "delta": delta}),
        json!({"type": "content_block_stop", "index": index}),
    ]
}

fn frame(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

/// Unique in the whole process: a resumed session meets the ids of earlier runs in its history, and the client
/// takes equal ids for the same message.
fn unique(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{prefix}_{:08}", NEXT.fetch_add(1, Ordering::Relaxed))
}
