//! Removes comments and the contents of strings from a source, so that neither looks like a test.

/// A language, or a family that is read in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Python,
    /// TypeScript as well.
    JavaScript,
    Go,
    /// Kotlin as well.
    Java,
    CSharp,
    Ruby,
    Php,
    Elixir,
}

impl Language {
    pub(super) fn from_path(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit_once('.')?;
        match extension {
            "rs" => Some(Self::Rust),
            "py" => Some(Self::Python),
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => Some(Self::JavaScript),
            "go" => Some(Self::Go),
            "java" | "kt" | "kts" => Some(Self::Java),
            "cs" => Some(Self::CSharp),
            "rb" => Some(Self::Ruby),
            "php" => Some(Self::Php),
            "ex" | "exs" => Some(Self::Elixir),
            _ => None,
        }
    }

    /// Whether a test has an attribute or an annotation, so that nothing else can look like one.
    pub(super) fn marks_tests(self) -> bool {
        matches!(self, Self::Rust | Self::Java | Self::CSharp)
    }

    /// Whether `//` and `/*` begin comments.
    fn has_slash_comments(self) -> bool {
        !matches!(self, Self::Python | Self::Ruby | Self::Elixir)
    }

    fn has_hash_comments(self) -> bool {
        matches!(self, Self::Python | Self::Ruby | Self::Elixir | Self::Php)
    }

    /// Whether three quotes begin a string of several lines.
    fn has_triple_quotes(self) -> bool {
        matches!(self, Self::Python | Self::Java | Self::CSharp | Self::Elixir)
    }
}

/// The source with blanks instead of comments and of what is between quotes. Line breaks stay.
///
/// A string that no quote ends on its line ends there, except where the language has strings of several lines. So a quote that
/// is not one, for example in a regular expression, hides at most the rest of its line.
pub(super) fn code_only(language: Language, text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '#', '"', '\'', '`', '=']) {
        code.push_str(&rest[..at]);
        rest = &rest[at..];
        let piece = Piece::at_start(language, rest, &code);
        piece.write(language, rest, &mut code);
        rest = &rest[piece.len()..];
    }
    code.push_str(rest);
    code
}

/// The beginning of the remaining text, in bytes.
#[derive(Debug, Clone, Copy)]
enum Piece {
    Code(usize),
    Comment(usize),
    /// A string or a regular expression with its delimiters.
    Literal(usize),
}

impl Piece {
    /// `rest` begins with a character that may begin a comment or a literal; `before` is the code in front of it.
    fn at_start(language: Language, rest: &str, before: &str) -> Self {
        let first = rest.as_bytes()[0];
        match first {
            b'/' if language.has_slash_comments() => slash(language, rest, before),
            // `#[` begins an attribute in PHP.
            b'#' if language == Language::Php && rest.starts_with("#[") => Self::Code(1),
            b'#' if language.has_hash_comments() => Self::Comment(line_length(rest)),
            b'=' if language == Language::Ruby && rest.starts_with("=begin") && is_line_start(before) => {
                Self::Comment(length_until(rest, "\n=end"))
            }
            b'"' | b'\'' | b'`' => quote(language, rest, before),
            _ => Self::Code(1),
        }
    }

    fn len(self) -> usize {
        match self {
            Self::Code(len) | Self::Comment(len) | Self::Literal(len) => len,
        }
    }

    fn write(self, language: Language, rest: &str, code: &mut String) {
        let text = &rest[..self.len()];
        match self {
            Self::Code(_) => code.push_str(text),
            Self::Comment(_) if language == Language::Php && is_php_test_comment(text) => {
                code.push_str("#[Test]");
            }
            Self::Comment(_) => push_blanks(text, code),
            Self::Literal(_) => {
                let delimiter = &text[..1];
                code.push_str(delimiter);
                push_blanks(&text[1..], code);
                code.push_str(delimiter);
            }
        }
    }
}

/// Keeps the line breaks only.
fn push_blanks(text: &str, code: &mut String) {
    code.push(' ');
    code.extend(text.chars().filter(|c| *c == '\n'));
}

/// Whether a comment marks the function below it as a test for `PHPUnit`.
fn is_php_test_comment(comment: &str) -> bool {
    comment.starts_with("/**") && comment.split_whitespace().any(|word| word == "@test")
}

fn is_line_start(before: &str) -> bool {
    before.is_empty() || before.ends_with('\n')
}

fn line_length(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

fn length_until(rest: &str, end: &str) -> usize {
    match rest.find(end) {
        Some(at) => at + end.len(),
        None => rest.len(),
    }
}

fn slash(language: Language, rest: &str, before: &str) -> Piece {
    if rest.starts_with("//") {
        Piece::Comment(line_length(rest))
    } else if rest.starts_with("/*") && language == Language::Rust {
        Piece::Comment(nested_comment(rest))
    } else if let Some(comment) = rest.strip_prefix("/*") {
        Piece::Comment(2 + length_until(comment, "*/"))
    } else if language == Language::JavaScript && is_regex_position(before) {
        match regex_length(rest) {
            Some(len) => Piece::Literal(len),
            None => Piece::Code(1),
        }
    } else {
        Piece::Code(1)
    }
}

fn nested_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while let Some(next) = rest[at..].find(['/', '*']) {
        at += next;
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// Whether a slash after this code begins a regular expression. After a value it divides.
fn is_regex_position(before: &str) -> bool {
    let before = before.trim_end();
    before.is_empty()
        || before.ends_with("return")
        || before.ends_with(['(', ',', '=', ':', '[', '!', '&', '|', '?', '{', '}', ';'])
}

fn regex_length(rest: &str) -> Option<usize> {
    let line = &rest[..line_length(rest)];
    let (mut is_escaped, mut is_in_class) = (false, false);
    for (at, c) in line.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            '/' if !is_in_class => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn quote(language: Language, rest: &str, before: &str) -> Piece {
    let delimiter = &rest[..1];
    let triple = ["\"\"\"", "'''"].into_iter().find(|quotes| rest.starts_with(quotes));
    if let Some(triple) = triple
        && language.has_triple_quotes()
    {
        return Piece::Literal(3 + length_until(&rest[3..], triple));
    }
    match (language, delimiter) {
        // A character such as `?"`.
        (Language::Ruby | Language::Elixir, _) if before.ends_with('?') => Piece::Code(1),
        (Language::Rust, "\"") => Piece::Literal(rust_string(rest, before)),
        (Language::Rust, "'") => rust_char(rest),
        (Language::JavaScript | Language::Go, "`") => Piece::Literal(string_length(rest, true)),
        (Language::Java, "`") => Piece::Code(1),
        _ => Piece::Literal(string_length(rest, false)),
    }
}

/// A string up to the same quote. Without `is_multi_line`, it ends at the latest before the line break.
fn string_length(rest: &str, is_multi_line: bool) -> usize {
    let delimiter = rest.as_bytes()[0];
    let mut is_escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            b'\n' if !is_multi_line => return at,
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            _ if byte == delimiter => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// A string of Rust, which is raw after `r`, `r#` and so on.
fn rust_string(rest: &str, before: &str) -> usize {
    let without_hashes = before.trim_end_matches('#');
    if !without_hashes.ends_with('r') {
        return string_length(rest, true);
    }
    let hashes = &before[without_hashes.len()..];
    let mut at = 1;
    while let Some(next) = rest[at..].find('"') {
        at += next + 1;
        if rest[at..].starts_with(hashes) {
            return at;
        }
    }
    rest.len()
}

/// A character of Rust, or a lifetime.
fn rust_char(rest: &str) -> Piece {
    let mut chars = rest[1..].chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), Some(escaped)) => {
            let begun = 2 + escaped.len_utf8();
            match rest[begun..].find('\'') {
                Some(end) => Piece::Literal(begun + end + 1),
                None => Piece::Code(1),
            }
        }
        (Some(c), Some('\'')) => Piece::Literal(1 + c.len_utf8() + 1),
        _ => Piece::Code(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that are left of a source.
    fn words(language: Language, text: &str) -> String {
        let code = code_only(language, text);
        let words: Vec<_> =
            code.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        words.join(" ")
    }

    #[test]
    fn comments_and_strings_are_removed() {
        for (language, text, left) in [
            (Language::Rust, "a // b\nc /* d /* e */ f */ g", "a c g"),
            (Language::Rust, "a r#\"b \" c\"# d \"e \\\" f\" g", "a r d g"),
            (Language::Rust, "a '\"' b '\\'' c 'd e &'static f", "a b c d e static f"),
            (Language::Rust, "a \"b\n c\" d", "a d"),
            (Language::Python, "a # b\n'''c\nd''' e \"f # g\" h", "a e h"),
            (Language::JavaScript, "a(/['\"`]/, 'b') // c\n`d\n${e}` f", "a f"),
            (Language::JavaScript, "a / b / c", "a b c"),
            (Language::JavaScript, "a = \"it's\"; b", "a b"),
            (Language::Go, "a `b\n\"c` d", "a d"),
            (Language::Java, "a \"\"\"\nb \" c\n\"\"\" d /* e */ f", "a d f"),
            (Language::CSharp, "a \"b\" /// c\nd", "a d"),
            (Language::Ruby, "a # b\n=begin\nc\n=end\nd", "a d"),
            (Language::Ruby, "a ?\" b", "a b"),
            (Language::Php, "a # b\n#[C]\n// d\n'e' /* f */ g", "a C g"),
            (Language::Php, "/** @test */ a /** @tests */ b", "Test a b"),
            (Language::Elixir, "a \"\"\"\nb\n\"\"\" # c\nd", "a d"),
        ] {
            assert_eq!(words(language, text), left, "{language:?} {text:?}");
        }
    }

    #[test]
    fn unfinished_sources_are_read_to_their_end() {
        for text in [
            "\"", "'", "`", "/*", "//", "/", "#", "=begin", "'\\", "r#\"", "\"\"\"", "'''", "/[", "\"\\",
            "'é", "\"é",
        ] {
            for language in [
                Language::Rust,
                Language::Python,
                Language::JavaScript,
                Language::Go,
                Language::Java,
                Language::CSharp,
                Language::Ruby,
                Language::Php,
                Language::Elixir,
            ] {
                code_only(language, text);
                code_only(language, &format!("x {text}é\nd"));
            }
        }
    }
}
