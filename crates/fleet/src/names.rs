//! How things are called on the server: streams, buckets, subjects and keys. Everything begins with the team's prefix,
//! so that permissions can be given by it.

use std::fmt::Write as _;

/// The prefix where none is chosen.
pub const DEFAULT_PREFIX: &str = "overtone";

/// The names below one prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    prefix: String,
}

impl Names {
    /// `None` if it is no prefix: letters, digits, `-`, `_`, and dots between.
    pub fn new(prefix: &str) -> Option<Self> {
        let is_plain = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
        };
        let is_prefix = prefix.len() <= 64 && prefix.split('.').all(is_plain);
        is_prefix.then(|| Self { prefix: prefix.to_owned() })
    }

    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Streams and buckets have no dots.
    fn flat(&self, what: &str) -> String {
        format!("{}_{what}", self.prefix.replace('.', "_"))
    }

    pub fn events_stream(&self) -> String {
        self.flat("events")
    }

    pub fn orders_stream(&self) -> String {
        self.flat("orders")
    }

    /// Who is there now: entries live for seconds.
    pub fn pulse_bucket(&self) -> String {
        self.flat("pulse")
    }

    /// Machines that were ever there.
    pub fn machines_bucket(&self) -> String {
        self.flat("machines")
    }

    pub fn sessions_bucket(&self) -> String {
        self.flat("sessions")
    }

    /// Which machine a session or a feature belongs to.
    pub fn claims_bucket(&self) -> String {
        self.flat("claims")
    }

    pub fn handoffs_bucket(&self) -> String {
        self.flat("handoffs")
    }

    /// Who is part of the team.
    pub fn team_bucket(&self) -> String {
        self.flat("team")
    }

    /// Where answers of the server come to.
    pub fn inbox(&self) -> String {
        format!("_INBOX.{}", self.prefix.replace('.', "_"))
    }

    pub fn all_events(&self) -> String {
        format!("{}.events.*.*", self.prefix)
    }

    pub fn events_of(&self, machine: &str, session: &str) -> String {
        format!("{}.events.{}.{}", self.prefix, token(machine), token(session))
    }

    /// Machine and session of an events' subject.
    pub fn origin_of(&self, subject: &str) -> Option<(String, String)> {
        let rest = subject.strip_prefix(&self.prefix)?.strip_prefix(".events.")?;
        let (machine, session) = rest.split_once('.')?;
        Some((word(machine)?, word(session)?))
    }

    pub fn all_orders(&self) -> String {
        format!("{}.orders.*", self.prefix)
    }

    pub fn orders_for(&self, machine: &str) -> String {
        format!("{}.orders.{}", self.prefix, token(machine))
    }

    pub fn all_answers(&self) -> String {
        format!("{}.answers.*", self.prefix)
    }

    pub fn answer_to(&self, order: &str) -> String {
        format!("{}.answers.{}", self.prefix, token(order))
    }
}

/// The key of a session's state.
pub fn state_key(machine: &str, session: &str) -> String {
    format!("{}.{}", token(machine), token(session))
}

pub fn session_claim(session: &str) -> String {
    format!("session.{}", token(session))
}

pub fn feature_claim(repository: &str, feature: &str) -> String {
    format!("feature.{}.{}", token(repository), token(feature))
}

pub fn handoff_key(session: &str, file: &str) -> String {
    format!("{}.{}", token(session), token(file))
}

/// A word that may stand between the dots of subjects and keys. What may not is written as `=` and its hexadecimal
/// number, byte by byte.
pub fn token(word: &str) -> String {
    let mut token = String::with_capacity(word.len());
    for byte in word.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_".contains(&byte) {
            token.push(char::from(byte));
        } else {
            // Writing into a text cannot fail.
            let _ = write!(token, "={byte:02X}");
        }
    }
    token
}

/// The word that a token stands for; `None` for what [`token`] never makes.
pub fn word(token: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.as_bytes();
    while let [first, others @ ..] = rest {
        rest = if *first == b'=' {
            let digits = str::from_utf8(others.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            &others[2..]
        } else {
            bytes.push(*first);
            others
        };
    }
    String::from_utf8(bytes).ok().filter(|word| self::token(word) == token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_comes_back_from_its_token() {
        for text in ["a", "0f.e-d_9", "=2E", "功能 x", "", "a.b.c", "*>"] {
            let token = token(text);
            assert!(token.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=".contains(&b)), "{token}");
            assert_eq!(word(&token).as_deref(), Some(text));
        }
        for wrong in ["a.b", "=2", "=zz", "=2e", "=41", "=FF"] {
            assert_eq!(word(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn subjects_tell_where_events_come_from() {
        let names = Names::new("team.a").unwrap();
        let subject = names.events_of("m1", "s.1");
        assert_eq!(subject, "team.a.events.m1.s=2E1");
        assert_eq!(names.origin_of(&subject), Some(("m1".to_owned(), "s.1".to_owned())));
        for foreign in ["team.b.events.m1.s", "team.a.events.m1", "team.a.events.m.s.t", "team.a.orders.m1"] {
            assert_eq!(names.origin_of(foreign), None, "{foreign}");
        }
        assert_eq!(names.events_stream(), "team_a_events");
    }

    #[test]
    fn a_prefix_is_plain() {
        for wrong in ["", ".", "a.", ".a", "a..b", "a b", "a*", "a>", "功"] {
            assert_eq!(Names::new(wrong), None, "{wrong}");
        }
    }
}
