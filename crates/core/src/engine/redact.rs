//! Removes keys and tokens from everything that is recorded.

/// Words of at least this length that mix letters and digits are treated as secrets.
const SECRET_LENGTH: usize = 24;

const SECRET_NAMES: [&str; 6] = ["token", "secret", "password", "passwd", "api_key", "apikey"];
const SECRET_PREFIXES: [&str; 7] = ["sk-", "ghp_", "gho_", "github_pat_", "xoxb-", "AKIA", "eyJ"];

/// The first line of `text` with secrets replaced, at most `max` characters.
pub(crate) fn first_line(text: &str, max: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    redact(&line.chars().take(max).collect::<String>())
}

/// Every line of a text with secrets replaced.
pub fn redact_lines(text: &str) -> String {
    text.lines().map(redact).collect::<Vec<_>>().join("\n")
}

/// Replaces whatever looks like a secret by `***`.
pub(crate) fn redact(text: &str) -> String {
    let mut after_bearer = false;
    let words = text.split(' ').map(|word| {
        let secret = after_bearer || looks_secret(word);
        after_bearer = word.to_ascii_lowercase().ends_with("bearer");
        match (secret, word.split_once(['=', ':'])) {
            (true, Some((name, _))) if names_a_secret(name) => format!("{name}=***"),
            (true, _) => "***".to_owned(),
            _ => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn looks_secret(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if SECRET_PREFIXES.iter().any(|prefix| bare.starts_with(prefix) && bare.len() > prefix.len() + 4) {
        return true;
    }
    if let Some((name, value)) = word.split_once(['=', ':'])
        && names_a_secret(name)
        && !value.is_empty()
    {
        return true;
    }
    let token =
        bare.len() >= SECRET_LENGTH && bare.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    token && bare.bytes().any(|b| b.is_ascii_digit()) && bare.bytes().any(|b| b.is_ascii_alphabetic())
}

fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|secret| name.ends_with(secret))
}

/// The program and its subcommand, without paths, options or values: `npm test`, `cargo build`.
pub(crate) fn command_name(command: &str) -> String {
    let is_plain =
        |word: &&str| !word.starts_with('-') && !word.contains(['=', '/', '"', '\'', '$', '.', '@']);
    let mut words = command.split_whitespace().skip_while(|word| word.contains('='));
    let Some(program) = words.next() else {
        return String::new();
    };
    let program = program.rsplit('/').next().unwrap_or(program);
    let subcommand = words.next().filter(is_plain).filter(|word| word.len() <= 20 && !looks_secret(word));
    let name = match subcommand {
        Some(subcommand) => format!("{program} {subcommand}"),
        None => program.to_owned(),
    };
    name.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced() {
        for secret in [
            "sk-ant-api03-abcdefgh",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "API_TOKEN=abc",
            "Authorization: Bearer abc123",
            "a1b2c3d4e5f6a7b8c9d0e1f2a3b4",
        ] {
            let clean = redact(&format!("failed with {secret} here"));
            assert!(clean.contains("***"), "{clean}");
            assert!(
                !clean.contains("abc123") && !clean.contains("=abc") && !clean.contains("a1b2"),
                "{clean}"
            );
        }
        assert_eq!(redact("error in src/main.rs: missing field"), "error in src/main.rs: missing field");
    }

    #[test]
    fn commands_lose_their_arguments() {
        assert_eq!(command_name("npm test -- --grep x"), "npm test");
        assert_eq!(command_name("API_KEY=sk-123 /usr/bin/curl -H 'x: y' http://h"), "curl");
        assert_eq!(command_name("cargo build --release"), "cargo build");
        assert_eq!(command_name("   "), "");
    }
}
