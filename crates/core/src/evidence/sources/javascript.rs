//! Tests that are calls: `it('…', () => …)` in JavaScript and TypeScript, and the same in PHP with Pest.

use super::SourceTests;

pub(super) fn count(code: &str) -> SourceTests {
    let mut scanner =
        Scanner { code, depth: 0, braces: 0, opening: None, blocks: Vec::new(), tests: Vec::new() };
    scanner.scan();
    scanner.result()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Test,
    Group,
}

/// A call that declares a test or a group.
#[derive(Debug, Clone, Copy)]
struct Call {
    kind: Kind,
    is_skipped: bool,
    is_only: bool,
    /// Where its last argument list begins.
    open: usize,
}

/// A call whose arguments contain the current position.
#[derive(Debug)]
struct Block {
    /// Depth of its parentheses.
    depth: usize,
    /// Braces around the call.
    braces: usize,
    is_skipped: bool,
    is_only: bool,
    test: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
struct DeclaredTest {
    is_skipped: bool,
    is_only: bool,
}

#[derive(Debug)]
struct Scanner<'a> {
    code: &'a str,
    depth: usize,
    braces: usize,
    /// A call whose parenthesis comes next.
    opening: Option<Call>,
    blocks: Vec<Block>,
    tests: Vec<DeclaredTest>,
}

impl Scanner<'_> {
    fn scan(&mut self) {
        let mut at = 0;
        while let Some(c) = self.code[at..].chars().next() {
            if is_word_char(c) {
                let word = word_at(self.code, at);
                self.read_word(word, at);
                at += word.len();
            } else {
                self.read_sign(c, at);
                at += c.len_utf8();
            }
        }
    }

    fn read_sign(&mut self, c: char, at: usize) {
        match c {
            '(' => {
                self.depth += 1;
                if let Some(call) = self.opening
                    && call.open == at
                {
                    self.opening = None;
                    self.open(call);
                }
            }
            ')' => {
                if let Some(block) = self.blocks.last()
                    && block.depth == self.depth
                {
                    self.close(at);
                }
                self.depth = self.depth.saturating_sub(1);
            }
            '{' => self.braces += 1,
            '}' => self.braces = self.braces.saturating_sub(1),
            _ => {}
        }
    }

    fn open(&mut self, call: Call) {
        let (mut is_skipped, mut is_only) = (call.is_skipped, call.is_only);
        if let Some(parent) = self.blocks.last() {
            is_skipped |= parent.is_skipped;
            is_only |= parent.is_only;
        }
        let test = match call.kind {
            Kind::Test => {
                self.tests.push(DeclaredTest { is_skipped, is_only });
                Some(self.tests.len() - 1)
            }
            Kind::Group => None,
        };
        self.blocks.push(Block { depth: self.depth, braces: self.braces, is_skipped, is_only, test });
    }

    /// Pest puts the modifiers behind the call: `it('…', fn)->skip();`
    fn close(&mut self, at: usize) {
        let Some(block) = self.blocks.pop() else { return };
        let Some(test) = block.test else { return };
        let after = &self.code[at + 1..];
        let modifiers = &after[..after.find([';', '{']).unwrap_or(after.len())];
        if modifiers.starts_with("->") || modifiers.trim_start().starts_with("->") {
            self.tests[test].is_skipped |= modifiers.contains("->skip(") || modifiers.contains("->todo(");
            self.tests[test].is_only |= modifiers.contains("->only(");
        }
    }

    fn read_word(&mut self, word: &str, at: usize) {
        let before = &self.code[..at];
        if word == "skip" {
            self.skip_current_test(before, &self.code[at + word.len()..]);
        }
        if !is_call_position(before) {
            return;
        }
        let Some(call) = declaration(self.code, word, at) else { return };
        let first_argument = self.code[call.open + 1..].trim_start();
        let is_named = first_argument.starts_with(['\'', '"', '`']);
        let is_in_test = self.blocks.iter().any(|block| block.test.is_some());
        // `test.skip()` in a test is a condition of Playwright for that test.
        if !is_named && (is_in_test || first_argument.starts_with(')')) {
            return;
        }
        self.opening = Some(call);
    }

    /// `this.skip()`, `t.skip()` or `test.skip()` directly in the body of a test.
    fn skip_current_test(&mut self, before: &str, after: &str) {
        let is_method = ["this.", "t.", "ctx.", "test."].iter().any(|object| before.ends_with(object));
        let arguments = after.trim_start();
        let is_unconditional = arguments.starts_with("()")
            || arguments.starts_with("(true")
            || before.ends_with("t.") && arguments.starts_with("('");
        let Some(block) = self.blocks.last() else { return };
        if let Some(test) = block.test
            && is_method
            && is_unconditional
            && self.braces == block.braces + 1
        {
            self.tests[test].is_skipped = true;
        }
    }

    fn result(&self) -> SourceTests {
        let has_only = self.tests.iter().any(|test| test.is_only);
        let mut found = SourceTests::default();
        for test in &self.tests {
            found.add(test.is_skipped || (has_only && !test.is_only));
        }
        found
    }
}

/// The declaration that begins with this word. `None` for a call of something else.
fn declaration(code: &str, word: &str, at: usize) -> Option<Call> {
    let (mut kind, mut is_skipped, mut is_only) = match word {
        "it" | "test" | "specify" => (Kind::Test, false, false),
        "xit" | "xtest" | "xspecify" | "todo" => (Kind::Test, true, false),
        "fit" => (Kind::Test, false, true),
        "describe" | "context" | "suite" => (Kind::Group, false, false),
        "xdescribe" | "xcontext" | "xsuite" => (Kind::Group, true, false),
        "fdescribe" => (Kind::Group, false, true),
        _ => return None,
    };
    let mut at = at + word.len();
    let mut takes_table = false;
    loop {
        at += blank_length(&code[at..]);
        match code[at..].chars().next()? {
            '.' => {
                at += 1 + blank_length(&code[at + 1..]);
                let modifier = word_at(code, at);
                at += modifier.len();
                match modifier {
                    "describe" => kind = Kind::Group,
                    "skip" | "todo" | "fixme" => is_skipped = true,
                    "only" => is_only = true,
                    "skipIf" | "runIf" | "todoIf" | "if" => {
                        is_skipped = true;
                        takes_table = true;
                    }
                    "each" | "for" => takes_table = true,
                    "concurrent" | "sequential" | "serial" | "parallel" | "shuffle" | "failing" | "fails"
                    | "fail" => {}
                    _ => return None,
                }
            }
            '(' if takes_table => {
                at += bracket_length(&code[at..]);
                takes_table = false;
            }
            '`' if takes_table => {
                at += 2 + code[at + 1..].find('`')?;
                takes_table = false;
            }
            '(' => return Some(Call { kind, is_skipped, is_only, open: at }),
            // Types: `it.each<Row>(…)`
            '<' => at += 1 + code[at..].find('>')?,
            _ => return None,
        }
    }
}

/// Whether a word after this code can be a call of a global function: neither a method nor a declaration.
fn is_call_position(before: &str) -> bool {
    if let Some(object) = before.strip_suffix('.') {
        return object.ends_with("Deno") || object.ends_with("QUnit");
    }
    let is_member = before.ends_with(['$', '@', '\\']) || before.ends_with("->") || before.ends_with("::");
    !is_member && !before.trim_end().ends_with("function")
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word_at(code: &str, at: usize) -> &str {
    let rest = &code[at..];
    &rest[..rest.find(|c| !is_word_char(c)).unwrap_or(rest.len())]
}

fn blank_length(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// The length up to the parenthesis that closes the first one.
fn bracket_length(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => {
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
