//! Languages in which a test is a function: Rust, Go, Java, Kotlin, C# and PHP. It has an attribute or a certain name.

use super::SourceTests;
use super::code::Language;

pub(super) fn count(language: Language, code: &str) -> SourceTests {
    let mut scanner = Scanner::new(language, code);
    scanner.scan();
    scanner.found
}

/// What was declared since the last block or statement.
#[derive(Debug, Clone, Copy, Default)]
struct Declaration {
    is_test: bool,
    is_skipped: bool,
    is_class: bool,
}

#[derive(Debug)]
struct Scanner<'a> {
    language: Language,
    code: &'a str,
    at: usize,
    depth: usize,
    declaration: Declaration,
    /// Depths of the classes around the current position that are disabled.
    skipped_classes: Vec<usize>,
    /// Depth of the body of the current test, as long as nothing in it has skipped the test.
    test_body: Option<usize>,
    found: SourceTests,
}

impl<'a> Scanner<'a> {
    fn new(language: Language, code: &'a str) -> Self {
        Self {
            language,
            code,
            at: 0,
            depth: 0,
            declaration: Declaration::default(),
            skipped_classes: Vec::new(),
            test_body: None,
            found: SourceTests::default(),
        }
    }

    fn scan(&mut self) {
        while let Some(c) = self.code[self.at..].chars().next() {
            if let Some(len) = self.attribute_length() {
                self.read_attributes(self.at, self.at + len);
                self.at += len;
            } else if is_word_char(c) {
                let word = word_at(self.code, self.at);
                self.read_word(word);
                self.at += word.len();
            } else {
                self.read_sign(c);
                self.at += c.len_utf8();
            }
        }
    }

    fn read_sign(&mut self, c: char) {
        match c {
            '{' => {
                self.depth += 1;
                self.end_declaration(true);
            }
            '}' => {
                if self.skipped_classes.last() == Some(&self.depth) {
                    self.skipped_classes.pop();
                }
                if self.test_body == Some(self.depth) {
                    self.test_body = None;
                }
                self.depth = self.depth.saturating_sub(1);
            }
            // `=` is for functions that consist of one expression.
            ';' | '=' => self.end_declaration(false),
            _ => {}
        }
    }

    fn end_declaration(&mut self, has_body: bool) {
        let declaration = std::mem::take(&mut self.declaration);
        if declaration.is_class {
            if declaration.is_skipped && has_body {
                self.skipped_classes.push(self.depth);
            }
        } else if declaration.is_test {
            let is_skipped = declaration.is_skipped || !self.skipped_classes.is_empty();
            self.found.add(is_skipped);
            self.test_body = if has_body && !is_skipped { Some(self.depth) } else { None };
        }
    }

    fn read_word(&mut self, word: &str) {
        let before = self.code[..self.at].trim_end();
        match (self.language, word) {
            (
                Language::Java | Language::CSharp | Language::Php,
                "class" | "interface" | "record" | "object",
            ) if !before.ends_with([':', '.']) => {
                self.declaration.is_class = true;
            }
            (Language::Go, "func") => {
                self.declaration.is_test = is_go_test(function_name(&self.code[self.at + word.len()..]));
            }
            (Language::Php, "function") => {
                let name = function_name(&self.code[self.at + word.len()..]);
                self.declaration.is_test |= name.starts_with("test") && !self.declaration.is_class;
            }
            _ if self.test_body == Some(self.depth) && self.skips_test(word, before) => {
                self.found.skipped += 1;
                self.test_body = None;
            }
            _ => {}
        }
    }

    /// Whether a call directly in the body of a test skips it whatever happens.
    fn skips_test(&self, word: &str, before: &str) -> bool {
        let is_call = self.code[self.at + word.len()..].starts_with('(');
        is_call
            && match self.language {
                Language::Go => before.ends_with('.') && matches!(word, "Skip" | "Skipf" | "SkipNow"),
                Language::Php => matches!(word, "markTestSkipped" | "markTestIncomplete"),
                Language::CSharp => before.ends_with("Assert.") && matches!(word, "Ignore" | "Inconclusive"),
                _ => false,
            }
    }

    /// The length of the attributes that begin here.
    fn attribute_length(&self) -> Option<usize> {
        let rest = &self.code[self.at..];
        match self.language {
            Language::Rust | Language::Php if rest.starts_with("#[") => Some(1 + bracket_length(&rest[1..])),
            Language::CSharp if rest.starts_with('[') && is_statement_start(&self.code[..self.at]) => {
                Some(bracket_length(rest))
            }
            Language::Java if rest.starts_with('@') && !rest.starts_with("@interface") => {
                let name = 1 + path_length(&rest[1..]);
                let is_call = rest[name..].starts_with('(');
                Some(if is_call { name + bracket_length(&rest[name..]) } else { name })
            }
            _ => None,
        }
    }

    fn read_attributes(&mut self, start: usize, end: usize) {
        let text = &self.code[start..end];
        let list = match self.language {
            Language::Java => &text[1..],
            _ => text.trim_start_matches('#').trim_start_matches('[').trim_end_matches(']'),
        };
        for attribute in top_level_pieces(list) {
            let attribute = attribute.trim();
            let path = &attribute[..path_length(attribute)];
            let name = path.rsplit([':', '.', '\\']).next().unwrap_or(path);
            let arguments = &attribute[path.len()..];
            self.declaration.is_test |= is_test_attribute(self.language, name);
            self.declaration.is_skipped |= is_skip_attribute(self.language, name, arguments);
        }
    }
}

fn is_test_attribute(language: Language, name: &str) -> bool {
    match language {
        Language::Rust => {
            matches!(name, "test" | "rstest" | "test_case" | "wasm_bindgen_test" | "quickcheck" | "proptest")
        }
        Language::Java => matches!(
            name,
            "Test" | "ParameterizedTest" | "RepeatedTest" | "TestFactory" | "TestTemplate" | "Property"
        ),
        Language::CSharp => matches!(
            name,
            "Fact"
                | "Theory"
                | "SkippableFact"
                | "SkippableTheory"
                | "Test"
                | "TestCase"
                | "TestCaseSource"
                | "TestMethod"
                | "DataTestMethod"
        ),
        Language::Php => name == "Test",
        _ => false,
    }
}

fn is_skip_attribute(language: Language, name: &str, arguments: &str) -> bool {
    match language {
        Language::Rust => name == "ignore",
        // `@DisabledOnOs` and its like are conditions.
        Language::Java => {
            name.starts_with("Disabled")
                || name == "Ignore"
                || (name == "Test" && has_argument(arguments, "enabled", "=false"))
        }
        Language::CSharp => matches!(name, "Ignore" | "Explicit") || has_argument(arguments, "Skip", "="),
        _ => false,
    }
}

/// Whether an argument has this name and a value that begins so, blanks aside.
fn has_argument(arguments: &str, name: &str, value: &str) -> bool {
    let mut places = arguments.match_indices(name);
    places.any(|(at, _)| {
        let is_whole = !arguments[..at].ends_with(is_word_char);
        let rest: String =
            arguments[at + name.len()..].chars().filter(|c| !c.is_whitespace()).take(8).collect();
        is_whole && rest.starts_with(value)
    })
}

/// The name after `func` or `function`, and after the receiver of a method in Go.
fn function_name(rest: &str) -> &str {
    let rest = rest.trim_start();
    let rest = if rest.starts_with('(') { rest[bracket_length(rest)..].trim_start() } else { rest };
    word_at(rest, 0)
}

/// `TestX`, `FuzzX` and `ExampleX`, but neither `Testify` nor `TestMain`.
fn is_go_test(name: &str) -> bool {
    let is_test = ["Test", "Fuzz", "Example"].iter().any(|prefix| match name.strip_prefix(prefix) {
        Some(rest) => !rest.starts_with(|c: char| c.is_lowercase()),
        None => false,
    });
    is_test && name != "TestMain"
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word_at(code: &str, at: usize) -> &str {
    let rest = &code[at..];
    &rest[..rest.find(|c| !is_word_char(c)).unwrap_or(rest.len())]
}

/// The length of a name with its qualifiers: `tokio::test`, `org.junit.Test`.
fn path_length(text: &str) -> usize {
    text.find(|c: char| !is_word_char(c) && !matches!(c, ':' | '.' | '\\')).unwrap_or(text.len())
}

/// The length up to the bracket that closes the first one.
fn bracket_length(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// The parts between the commas that are in no bracket.
fn top_level_pieces(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    list.split(move |c| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// Whether a bracket after this code begins attributes. After a value it is an index.
fn is_statement_start(before: &str) -> bool {
    let before = before.trim_end();
    before.is_empty() || before.ends_with(['{', '}', ';', ']'])
}
