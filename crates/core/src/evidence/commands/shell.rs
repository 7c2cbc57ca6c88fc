//! Splits a command line into simple commands.

/// A command without operators: words whose quotes are removed, and where its output goes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    pub(super) words: Vec<String>,
    /// The files that output is redirected to.
    pub(super) written_files: Vec<String>,
}

/// Commands in commands are read up to this depth. What is deeper is an unknown program.
const MAX_DEPTH: usize = 8;

/// All simple commands, those in subshells and substitutions included. A command substitution in a word becomes `$`.
pub(super) fn split(command: &str) -> Vec<SimpleCommand> {
    let mut commands = Vec::new();
    split_into(command, 0, &mut commands);
    commands
}

fn split_into(text: &str, depth: usize, commands: &mut Vec<SimpleCommand>) {
    if depth > MAX_DEPTH {
        commands.push(SimpleCommand { words: vec!["$".to_owned()], written_files: Vec::new() });
        return;
    }
    let mut splitter = Splitter {
        rest: text,
        depth,
        commands,
        current: SimpleCommand::default(),
        word: None,
        redirection: None,
        here_documents: Vec::new(),
    };
    splitter.run();
}

/// What the next word is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Redirection {
    Output,
    Input,
    HereDocument,
}

#[derive(Debug)]
struct HereDocument {
    delimiter: String,
    /// Whether a shell executes it.
    is_script: bool,
}

#[derive(Debug)]
struct Splitter<'a, 'b> {
    rest: &'a str,
    depth: usize,
    commands: &'b mut Vec<SimpleCommand>,
    current: SimpleCommand,
    word: Option<String>,
    redirection: Option<Redirection>,
    /// Begun on this line; their texts follow on the next ones.
    here_documents: Vec<HereDocument>,
}

impl Splitter<'_, '_> {
    fn run(&mut self) {
        while let Some(c) = self.rest.chars().next() {
            self.rest = &self.rest[c.len_utf8()..];
            self.read(c);
        }
        self.end_command();
    }

    fn read(&mut self, c: char) {
        match c {
            '\\' => self.read_escaped(),
            '\'' => self.read_single_quoted(),
            '"' => self.read_double_quoted(),
            '$' => self.read_dollar(),
            '`' => self.read_backticks(),
            '#' if self.word.is_none() => {
                self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..];
            }
            ' ' | '\t' | '\r' => self.end_word(),
            '\n' => {
                self.end_command();
                self.skip_here_documents();
            }
            // In `[[ … ]]` the operators compare.
            '<' | '>' | '&' | '|' | '(' | ')' if self.is_in_condition() => self.push(c),
            '&' if self.rest.starts_with('>') => {
                self.end_word();
                self.rest = &self.rest[1..];
                self.read_output();
            }
            '(' if self.word.is_none() && self.current.words.is_empty() && self.rest.starts_with('(') => {
                self.skip_arithmetic();
            }
            ';' | '&' | '|' | '(' | ')' => self.end_command(),
            '>' => {
                self.drop_descriptor();
                self.read_output();
            }
            '<' => {
                self.drop_descriptor();
                self.read_input();
            }
            _ => self.push(c),
        }
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn push_text(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn is_in_condition(&self) -> bool {
        let words = &self.current.words;
        words.first().map(String::as_str) == Some("[[") && words.last().map(String::as_str) != Some("]]")
    }

    fn read_escaped(&mut self) {
        let Some(c) = self.rest.chars().next() else { return };
        self.rest = &self.rest[c.len_utf8()..];
        // A line that ends with a backslash goes on in the next one.
        if c != '\n' {
            self.push(c);
        }
    }

    fn read_single_quoted(&mut self) {
        let end = self.rest.find('\'').unwrap_or(self.rest.len());
        let text = &self.rest[..end];
        self.push_text(text);
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
    }

    fn read_double_quoted(&mut self) {
        self.push_text("");
        while let Some(c) = self.rest.chars().next() {
            self.rest = &self.rest[c.len_utf8()..];
            match c {
                '"' => return,
                '\\' => self.read_escaped(),
                '$' => self.read_dollar(),
                '`' => self.read_backticks(),
                _ => self.push(c),
            }
        }
    }

    /// A variable stays as it is; a command substitution is split by itself.
    fn read_dollar(&mut self) {
        self.push('$');
        if self.rest.starts_with("((") {
            self.rest = &self.rest[1..];
            self.skip_arithmetic();
        } else if self.rest.starts_with('(') {
            self.rest = &self.rest[1..];
            self.read_nested();
        }
    }

    fn read_backticks(&mut self) {
        self.push('$');
        let end = self.rest.find('`').unwrap_or(self.rest.len());
        split_into(&self.rest[..end], self.depth + 1, self.commands);
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
    }

    /// A command up to the parenthesis that closes it.
    fn read_nested(&mut self) {
        let end = closing_parenthesis(self.rest);
        split_into(&self.rest[..end], self.depth + 1, self.commands);
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
    }

    /// The second parenthesis of `((` is next.
    fn skip_arithmetic(&mut self) {
        let end = match self.rest.find("))") {
            Some(at) => at + 2,
            None => self.rest.len(),
        };
        self.rest = &self.rest[end..];
    }

    /// Drops the number in `2>file`.
    fn drop_descriptor(&mut self) {
        match &self.word {
            Some(word) if word.bytes().all(|byte| byte.is_ascii_digit()) => self.word = None,
            _ => self.end_word(),
        }
    }

    /// What follows the first `>`.
    fn read_output(&mut self) {
        self.rest = self.rest.trim_start_matches(['>', '|']);
        if let Some(nested) = self.rest.strip_prefix('(') {
            self.rest = nested;
            self.read_nested();
            return;
        }
        if let Some(target) = self.rest.strip_prefix('&') {
            self.rest = target;
            // `>&2` and `2>&-` concern open files.
            if target.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                self.rest = target.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
                return;
            }
        }
        self.redirection = Some(Redirection::Output);
    }

    /// What follows the first `<`.
    fn read_input(&mut self) {
        if let Some(nested) = self.rest.strip_prefix('(') {
            self.rest = nested;
            self.push('$');
            self.read_nested();
        } else if let Some(rest) = self.rest.strip_prefix("<<") {
            self.rest = rest;
            self.redirection = Some(Redirection::Input);
        } else if let Some(rest) = self.rest.strip_prefix('<') {
            self.rest = rest.strip_prefix('-').unwrap_or(rest);
            self.redirection = Some(Redirection::HereDocument);
        } else if let Some(rest) = self.rest.strip_prefix('>') {
            self.rest = rest;
            self.redirection = Some(Redirection::Output);
        } else {
            self.rest = self.rest.strip_prefix('&').unwrap_or(self.rest);
            self.redirection = Some(Redirection::Input);
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.redirection.take() {
            Some(Redirection::Output) if is_device(&word) => {}
            Some(Redirection::Output) => self.current.written_files.push(word),
            Some(Redirection::Input) => {}
            Some(Redirection::HereDocument) => {
                let is_script = self.current.words.iter().any(|word| is_shell(word));
                self.here_documents.push(HereDocument { delimiter: word, is_script });
            }
            None => self.current.words.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirection = None;
        let command = std::mem::take(&mut self.current);
        if !command.words.is_empty() || !command.written_files.is_empty() {
            self.commands.push(command);
        }
    }

    fn skip_here_documents(&mut self) {
        for document in std::mem::take(&mut self.here_documents) {
            let mut end = 0;
            let mut after = self.rest.len();
            for line in self.rest.split_inclusive('\n') {
                if line.trim_end_matches(['\n', '\r']).trim_start_matches('\t') == document.delimiter {
                    after = end + line.len();
                    break;
                }
                end += line.len();
            }
            if document.is_script {
                split_into(&self.rest[..end], self.depth + 1, self.commands);
            }
            self.rest = &self.rest[after..];
        }
    }
}

/// Whether writing to it changes no file.
fn is_device(target: &str) -> bool {
    matches!(target, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "NUL")
        || target.starts_with("/dev/fd/")
}

/// Whether a program executes the text that it is given.
pub(super) fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash")
}

/// Where the parenthesis closes that was opened before this text. Without one, the text ends there.
fn closing_parenthesis(text: &str) -> usize {
    let mut depth = 1;
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None | Some('"'), '\\') => is_escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(command: &str) -> Vec<String> {
        let show = |command: SimpleCommand| {
            let files = command.written_files.iter().map(|file| format!(" >{file}"));
            command.words.join("|") + &files.collect::<Vec<_>>().concat()
        };
        split(command).into_iter().map(show).collect()
    }

    #[test]
    fn commands_are_split_outside_of_quotes() {
        for (command, parts) in [
            ("a b; c && d || e | f & g\nh", vec!["a|b", "c", "d", "e", "f", "g", "h"]),
            ("a 'b; c' \"d && e\" f\\;g", vec!["a|b; c|d && e|f;g"]),
            ("a'b'\"c\" ''", vec!["abc|"]),
            ("(a; b) && { c; }", vec!["a", "b", "{|c", "}"]),
            ("a # b; c\nd", vec!["a", "d"]),
            ("a#b", vec!["a#b"]),
            ("a \\\n  b", vec!["a|b"]),
            ("a $(b 'c)' \"$(d)\") e", vec!["d", "b|c)|$", "a|$|e"]),
            ("a \"$(b)\" `c d` $((1 > 2))", vec!["b", "c|d", "a|$|$|$"]),
            ("a <(b) >(c)", vec!["b", "c", "a|$"]),
            ("", vec![]),
        ] {
            assert_eq!(shown(command), parts, "{command}");
        }
    }

    #[test]
    fn redirections_to_files_are_found() {
        for (command, parts) in [
            ("a > b", vec!["a >b"]),
            ("a >>b c", vec!["a|c >b"]),
            ("a 2>err", vec!["a >err"]),
            ("a &> b", vec!["a >b"]),
            ("a >| b", vec!["a >b"]),
            ("> b", vec![" >b"]),
            ("a 2>&1 >/dev/null 2> /dev/null >&2 2>&-", vec!["a"]),
            ("a &>/dev/null & b", vec!["a", "b"]),
            ("a 'b > c' \"> d\"", vec!["a|b > c|> d"]),
            ("a < b <<< 'c > d'", vec!["a"]),
            ("[[ a > b && c < d ]] && e", vec!["[[|a|>|b|&&|c|<|d|]]", "e"]),
            ("(( a > b )) && c", vec!["c"]),
            ("a1 2 > b", vec!["a1|2 >b"]),
        ] {
            assert_eq!(shown(command), parts, "{command}");
        }
    }

    #[test]
    fn here_documents_are_text() {
        assert_eq!(shown("cat <<'EOF' > a\nrm b > c\nEOF\nd"), ["cat >a", "d"]);
        assert_eq!(shown("cat <<-EOF | b\n\trm c\n\tEOF\nd"), ["cat", "b", "d"]);
        assert_eq!(shown("bash <<EOF\nrm c\nEOF"), ["bash", "rm|c"]);
        assert_eq!(shown("cat <<EOF\nno end"), ["cat"]);
    }

    #[test]
    fn deep_nesting_ends() {
        let deep = "$(".repeat(10_000);
        assert_eq!(split(&deep).last().unwrap().words, ["$"]);
        split(&"`".repeat(1_001));
        split(&"(".repeat(10_000));
    }
}
