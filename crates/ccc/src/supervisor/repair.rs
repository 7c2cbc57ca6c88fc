//! Repairs near-JSON that models write: single quotes, trailing commas, Python literals, raw line breaks.
//!
//! An object without an end is not repaired, since the missing part is unknown.

/// The object at the start of `text` as JSON; `None` if it does not end.
pub(crate) fn repair_json(text: &str) -> Option<String> {
    let mut repair = Repair { rest: text, json: String::with_capacity(text.len()), depth: 0 };
    while let Some(next) = repair.rest.chars().next() {
        match next {
            '"' | '\'' => repair.string(next)?,
            '{' | '[' => repair.open(next),
            '}' | ']' => {
                repair.close(next);
                if repair.depth == 0 {
                    return Some(repair.json);
                }
            }
            _ if next.is_alphabetic() => repair.word(),
            _ => repair.copy(next),
        }
    }
    None
}

struct Repair<'a> {
    rest: &'a str,
    json: String,
    depth: usize,
}

impl Repair<'_> {
    fn copy(&mut self, c: char) {
        self.skip(c);
        self.json.push(c);
    }

    fn skip(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
    }

    fn open(&mut self, c: char) {
        self.depth += 1;
        self.copy(c);
    }

    /// Copies a closing bracket and removes a comma before it.
    fn close(&mut self, c: char) {
        self.depth = self.depth.saturating_sub(1);
        let end = self.json.trim_end().len();
        if self.json[..end].ends_with(',') {
            self.json.truncate(end - 1);
        }
        self.copy(c);
    }

    fn word(&mut self) {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "True" => self.json.push_str("true"),
            "False" => self.json.push_str("false"),
            "None" => self.json.push_str("null"),
            // A key without quotes.
            _ if rest.trim_start().starts_with(':') => {
                self.json.push('"');
                self.json.push_str(word);
                self.json.push('"');
            }
            _ => self.json.push_str(word),
        }
    }

    fn string(&mut self, quote: char) -> Option<()> {
        self.skip(quote);
        self.json.push('"');
        loop {
            let c = self.rest.chars().next()?;
            self.skip(c);
            match c {
                '\\' => self.escape()?,
                _ if c == quote && ends_a_string(self.rest) => break,
                '"' => self.json.push_str("\\\""),
                '\n' => self.json.push_str("\\n"),
                '\t' => self.json.push_str("\\t"),
                _ if c.is_control() => {}
                _ => self.json.push(c),
            }
        }
        self.json.push('"');
        Some(())
    }

    fn escape(&mut self) -> Option<()> {
        let c = self.rest.chars().next()?;
        self.skip(c);
        // JSON has no escape sequence for a single quote.
        if c != '\'' {
            self.json.push('\\');
        }
        self.json.push(c);
        Some(())
    }
}

/// Whether a quote before `rest` ends a string, as opposed to a quote inside it.
fn ends_a_string(rest: &str) -> bool {
    matches!(rest.trim_start().chars().next(), None | Some(',' | ':' | '}' | ']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_json_becomes_json() {
        for (near, json) in [
            ("{'a': 'b',}", r#"{"a": "b"}"#),
            ("{a: True, b: [1, None, ], } tail", r#"{"a": true, "b": [1, null]}"#),
            (r#"{"a": "say "hi" now"}"#, r#"{"a": "say \"hi\" now"}"#),
            ("{\"a\": \"x\ny\"}", r#"{"a": "x\ny"}"#),
            ("{'测': '试'}", r#"{"测": "试"}"#),
        ] {
            assert_eq!(repair_json(near).as_deref(), Some(json), "{near}");
        }
    }

    #[test]
    fn an_object_without_an_end_is_not_repaired() {
        for text in ["{", "{'a", "{'a': 'b'", "{\"a\\", "{[}"] {
            assert_eq!(repair_json(text), None, "{text}");
        }
    }
}
