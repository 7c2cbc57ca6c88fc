//! Everything outside the requested change stays, byte for byte.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]

use std::path::Path;

use jsonc_edit::Document;
use serde_json::{Value, json};

fn doc(text: &str) -> Document {
    Document::parse(Path::new("settings.json"), text).unwrap()
}

/// The text after a change.
fn changed(text: &str, change: impl FnOnce(&mut Document)) -> String {
    let mut document = doc(text);
    change(&mut document);
    document.to_text()
}

fn set(text: &str, path: &[&str], value: impl Into<Value>) -> String {
    changed(text, |d| d.set(path, value).unwrap())
}

fn remove(text: &str, path: &[&str]) -> String {
    changed(text, |d| assert!(d.remove(path).unwrap()))
}

const RICH: &str = r#"// My settings
{
  "$schema": "https://json.schemastore.org/claude-code-settings.json", // keep

  /* the model
     I like */
  "model": /* here */ "opus" /* there */,
  "unknownKey": {"z": 1, "a": [1, 2,  3], "é字": "\u00e9\/"},
  "big": 12345678901234567890123, "float": 1.50, "exp": 1E+3, "neg": -0.0,
  "env": {
    // token
    "TOKEN": "x", // secret

    "URL": "y", // not secret
  },
}
// the end
"#;

#[test]
fn a_replaced_value_changes_only_its_bytes() {
    assert_eq!(set(RICH, &["model"], "sonnet"), RICH.replace("\"opus\"", "\"sonnet\""));
    assert_eq!(set(RICH, &["env", "TOKEN"], "t"), RICH.replace("\"x\"", "\"t\""));
    assert_eq!(set(RICH, &["float"], json!(2)), RICH.replace("1.50", "2"));
    assert_eq!(set(RICH, &["unknownKey", "a"], json!([1])), RICH.replace("[1, 2,  3]", "[1]"));
}

#[test]
fn an_equal_value_is_left_as_it_is_written() {
    let path: &[(&[&str], Value)] = &[
        (&["unknownKey", "é字"], json!("é/")),
        (&["exp"], json!(1000.0)),
        (&["unknownKey"], json!({"é字": "é/", "a": [1, 2, 3], "z": 1})),
    ];
    for (path, value) in path {
        assert_eq!(set(RICH, path, value.clone()), RICH);
    }
}

#[test]
fn a_new_key_is_appended_in_the_style_of_the_file() {
    assert_eq!(
        set(RICH, &["env", "NEW"], "n"),
        RICH.replace("// not secret\n", "// not secret\n    \"NEW\": \"n\",\n")
    );
    assert_eq!(
        set(RICH, &["statusLine"], json!({"type": "command", "padding": 0})),
        RICH.replace(
            "  },\n}",
            "  },\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"padding\": 0\n  },\n}"
        )
    );
    assert_eq!(set(RICH, &["unknownKey", "k"], true), RICH.replace("\\/\"}", "\\/\", \"k\": true}"));
}

#[test]
fn a_new_key_can_be_removed_without_a_trace() {
    let texts = [
        RICH,
        "{}",
        "{}\n",
        "{\n  \"a\": 1\n}\n",
        "{\n  \"a\": 1 // about a\n}\n",
        "{\n  \"a\": 1 /* c */  \n\n  // end\n}",
        "{\"a\":1}",
        "{ \"a\": 1, }",
        "{\r\n\t\"a\": {},\r\n}\r\n",
    ];
    for text in texts {
        let there_and_back = changed(text, |d| {
            d.set(&["hooks", "Stop"], json!([{"hooks": [{"type": "command"}]}])).unwrap();
            d.array_push(&["hooks", "Stop"], json!({"x": 1})).unwrap();
            assert!(d.remove_pruning(&["hooks", "Stop"]).unwrap());
        });
        assert_eq!(there_and_back, text);
    }
}

#[test]
fn removal_takes_the_entry_a_comma_and_its_line() {
    assert_eq!(remove("{\n  \"a\": 1,\n  \"b\": 2\n}", &["a"]), "{\n  \"b\": 2\n}");
    assert_eq!(remove("{\n  \"a\": 1,\n  \"b\": 2\n}", &["b"]), "{\n  \"a\": 1\n}");
    assert_eq!(remove("{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": 2,\n}", &["a"]), "{\n  \"b\": 2,\n}");
    assert_eq!(remove("{\n  \"a\": 1,\n  \"b\": 2,\n}", &["b"]), "{\n  \"a\": 1,\n}");
    assert_eq!(remove("{\"a\": 1, \"b\": 2, \"c\": 3}", &["b"]), "{\"a\": 1, \"c\": 3}");
    assert_eq!(remove("{ \"a\": 1, \"b\": 2 }", &["a"]), "{ \"b\": 2 }");
    assert_eq!(remove("{ \"a\": 1, \"b\": 2 }", &["b"]), "{ \"a\": 1 }");
    assert_eq!(remove("{\n  \"a\": 1\n}\n", &["a"]), "{}\n");
    assert_eq!(remove("{\n    \"a\": 1\n  , \"b\": 2\n}", &["b"]), "{\n    \"a\": 1\n}");
    assert_eq!(remove("{\n    \"a\": 1\n  , \"b\": 2\n}", &["a"]), "{\n  \"b\": 2\n}");
    assert_eq!(remove("{ \"a\": 1, // x\n  \"b\": 2 }", &["b"]), "{ \"a\": 1 // x\n  }");
}

#[test]
fn removal_deletes_no_comment_beside_the_entry() {
    let text =
        "{\n  // above\n  \"a\": /* in */ 1, // after\n\n  /* b */ \"b\": 2 /* b2 */, // b3\n  // last\n}";
    assert_eq!(
        remove(text, &["a"]),
        "{\n  // above\n  // after\n\n  /* b */ \"b\": 2 /* b2 */, // b3\n  // last\n}"
    );
    let rest = remove(text, &["b"]);
    for comment in ["// above", "/* in */", "// after", "/* b */", "/* b2 */", "// b3", "// last"] {
        assert!(rest.contains(comment), "{rest}");
    }
    assert_eq!(doc(&rest).get(&[]), Some(json!({"a": 1})));
    assert_eq!(remove("{ /* c */ \"a\": 1 }", &["a"]), "{ /* c */ }");
}

#[test]
fn empty_parents_are_removed_only_on_request() {
    let text = "{\n  \"a\": {\n    \"b\": {\n      \"c\": 1\n    }\n  },\n  \"d\": 2\n}";
    assert_eq!(remove(text, &["a", "b", "c"]), "{\n  \"a\": {\n    \"b\": {}\n  },\n  \"d\": 2\n}");
    let pruned = changed(text, |d| assert!(d.remove_pruning(&["a", "b", "c"]).unwrap()));
    assert_eq!(pruned, "{\n  \"d\": 2\n}");
    let commented = "{\"a\": {\"b\": {\"c\": 1 /* mine */}}}";
    let pruned = changed(commented, |d| assert!(d.remove_pruning(&["a", "b", "c"]).unwrap()));
    assert_eq!(pruned, "{\"a\": {\"b\": { /* mine */}}}");
    assert!(!doc(text).remove(&["a", "x", "c"]).unwrap());
    assert!(!doc(text).remove(&[]).unwrap());
}

#[test]
fn of_equal_keys_the_last_is_edited_and_both_are_kept() {
    let text = "{\"a\": {\"x\": 1}, \"b\": 0, \"a\": {\"x\": 2}}";
    assert_eq!(doc(text).get(&["a", "x"]), Some(json!(2)));
    assert_eq!(set(text, &["a", "x"], 3), "{\"a\": {\"x\": 1}, \"b\": 0, \"a\": {\"x\": 3}}");
    assert_eq!(remove(text, &["a"]), "{\"b\": 0}", "no earlier value comes into effect");
    let pruned = changed(text, |d| assert!(d.remove_pruning(&["a", "x"]).unwrap()));
    assert_eq!(pruned, "{\"a\": {\"x\": 1}, \"b\": 0, \"a\": {}}");
}

#[test]
fn empty_texts_become_an_object() {
    for text in ["", "\n", "  \n\n"] {
        assert_eq!(doc(text).get(&[]), Some(json!({})));
        assert_eq!(set(text, &["a", "b"], 1), "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n", "{text:?}");
    }
    assert_eq!(set("// mine\r\n", &["a"], 1), "// mine\r\n{\r\n  \"a\": 1\r\n}\r\n");
    assert_eq!(set("\u{feff}", &["a"], 1), "\u{feff}{\n  \"a\": 1\n}\n");
}

#[test]
fn a_file_with_only_white_space_is_empty() {
    for text in ["", " \n", "{}", "{\n}\n", "\u{feff}{ }"] {
        assert!(doc(text).is_empty(), "{text:?}");
    }
    for text in ["// c", "{ /* c */ }", "{\"a\": 1}", "{} // c"] {
        assert!(!doc(text).is_empty(), "{text:?}");
    }
}

#[test]
fn one_line_stays_one_line() {
    assert_eq!(set("{\"a\":1}", &["b", "c"], json!([1, {"d": 2}])), "{\"a\":1,\"b\":{\"c\":[1,{\"d\":2}]}}");
    assert_eq!(set("{ \"a\": 1 }\n", &["b"], json!({"c": 2})), "{ \"a\": 1, \"b\": {\"c\": 2} }\n");
    assert_eq!(set("{\"a\": {}}", &["a", "b"], 1), "{\"a\": {\"b\": 1}}");
    assert_eq!(set("{\"a\": { }}", &["a", "b"], 1), "{\"a\": { \"b\": 1 }}");
    assert_eq!(set("{\"a\": {/* c */ }}", &["a", "b"], 1), "{\"a\": {/* c */ \"b\": 1 }}");
    assert_eq!(set("{}", &["a"], 1), "{\n  \"a\": 1\n}");
}

#[test]
fn empty_brackets_are_filled_around_comments() {
    assert_eq!(set("{\n  // nothing\n}", &["a"], 1), "{\n  // nothing\n  \"a\": 1\n}");
    assert_eq!(set("{\n\n}", &["a"], 1), "{\n  \"a\": 1\n\n}");
    assert_eq!(set("{ /* c */ }", &["a"], 1), "{ /* c */\n  \"a\": 1\n}");
    assert_eq!(
        set("{\n    \"a\": {},\n    \"b\": 1\n}", &["a", "x"], json!([])),
        "{\n    \"a\": {\n        \"x\": []\n    },\n    \"b\": 1\n}"
    );
}

#[test]
fn tabs_carriage_returns_and_the_byte_order_mark_stay() {
    let text = "\u{feff}{\r\n\t\"a\": {\r\n\t\t\"b\": 1\r\n\t}\r\n}\r\n";
    assert_eq!(
        set(text, &["a", "c", "d"], 2),
        "\u{feff}{\r\n\t\"a\": {\r\n\t\t\"b\": 1,\r\n\t\t\"c\": {\r\n\t\t\t\"d\": 2\r\n\t\t}\r\n\t}\r\n}\r\n"
    );
    assert_eq!(remove(text, &["a", "b"]), "\u{feff}{\r\n\t\"a\": {}\r\n}\r\n");
    assert_eq!(set("{\r  \"a\": 1\r}", &["b"], 2), "{\r  \"a\": 1,\r  \"b\": 2\r}");
}

#[test]
fn the_end_of_the_file_stays() {
    for end in ["", "\n", "\n\n", "\n// bye", " \n"] {
        let text = |value| format!("{{\n  \"a\": {value}\n}}{end}");
        assert_eq!(set(&text("1"), &["a"], 2), text("2"));
    }
}

#[test]
fn strings_are_escaped() {
    let nasty = "quote \" slash \\ line\nbreak \u{1} é字😀 </script>";
    let text = set("{\"k\": 0}", &["k", "never"][..1], nasty);
    assert_eq!(doc(&text).get(&["k"]), Some(json!(nasty)));
    let text = set("{}", &[nasty], 1);
    assert_eq!(doc(&text).get(&[nasty]), Some(json!(1)));
    assert_eq!(doc(r#"{"k": "\ud83d\ude00"}"#).get(&["k"]), Some(json!("😀")));
}

#[test]
fn lists_grow_and_shrink_in_place() {
    let text = "{\n  \"hooks\": {\n    \"Stop\": [\n      // mine\n      {\"id\": 1},\n      {\"id\": 2} // yours\n    ]\n  }\n}";
    let path = ["hooks", "Stop"];
    let grown = changed(text, |d| d.array_push(&path, json!({"id": 3})).unwrap());
    let added = "{\"id\": 2}, // yours\n      {\n        \"id\": 3\n      }\n";
    assert_eq!(grown, text.replace("{\"id\": 2} // yours\n", added));
    let back = changed(&grown, |d| assert_eq!(d.array_retain(&path, |v| v["id"] != 3).unwrap(), 1));
    assert_eq!(back, text);
    let none = changed(text, |d| assert_eq!(d.array_retain(&path, |_| false).unwrap(), 2));
    assert!(
        none.contains("// mine") && none.contains("// yours") && doc(&none).array_items(&path).is_empty()
    );
    let one_line = changed("{\"a\": [1, 2]}", |d| d.array_push(&["a"], 3).unwrap());
    assert_eq!(one_line, "{\"a\": [1, 2, 3]}");
    assert_eq!(changed("{}", |d| d.array_push(&["a", "b"], 3).unwrap()), {
        "{\n  \"a\": {\n    \"b\": [\n      3\n    ]\n  }\n}"
    });
    assert_eq!(doc(text).array_items(&["hooks"]), Vec::<Value>::new());
    assert_eq!(doc(text).array_items(&path).len(), 2);
}

#[test]
fn line_numbers_are_those_of_the_keys() {
    let document = doc(RICH);
    assert_eq!(document.line_of(&["$schema"]), Some(3));
    assert_eq!(document.line_of(&["model"]), Some(7));
    assert_eq!(document.line_of(&["env", "URL"]), Some(14));
    assert_eq!(document.line_of(&["env", "NONE"]), None);
    assert_eq!(doc("{\"a\": 1,\r\n\r\"a\": 2}").line_of(&["a"]), Some(3));
}

#[test]
fn debug_output_shows_no_content() {
    assert!(!format!("{:?}", doc("{\"env\": {\"TOKEN\": \"sk-secret\"}}")).contains("sk-"));
}
