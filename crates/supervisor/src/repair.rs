//! Makes JSON of what models write instead: single quotes, trailing commas, Python's words, raw line breaks.
//!
//! A text that ends before its object does is not repaired: what is missing could be anything.

/// The object that `text` begins with, as JSON; `None` if it does not end.
pub(crate) fn repaired(text: &str) -> Option<String> {
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
            _ => repair.take(next),
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
    fn take(&mut self, c: char) {
        self.skip(c);
        self.json.push(c);
    }

    fn skip(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
    }

    fn open(&mut self, c: char) {
        self.depth += 1;
        self.take(c);
    }

    /// Closes a bracket, without the comma before it.
    fn close(&mut self, c: char) {
        self.depth = self.depth.saturating_sub(1);
        let end = self.json.trim_end().len();
        if self.json[..end].ends_with(',') {
            self.json.truncate(end - 1);
        }
        self.take(c);
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
        // JSON knows no escape for it.
        if c != '\'' {
            self.json.push('\\');
        }
        self.json.push(c);
        Some(())
    }
}

/// Whether a quote before `rest` can be the end of a string, and not one inside of it.
fn ends_a_string(rest: &str) -> bool {
    rest.trim_start().chars().next().is_none_or(|c| matches!(c, ',' | ':' | '}' | ']'))
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
            assert_eq!(repaired(near).as_deref(), Some(json), "{near}");
        }
    }

    #[test]
    fn what_does_not_end_is_left_alone() {
        for text in ["{", "{'a", "{'a': 'b'", "{\"a\\", "{[}"] {
            assert_eq!(repaired(text), None, "{text}");
        }
    }
}
