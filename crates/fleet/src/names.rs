//! The names of streams, buckets, subjects and keys on the server. Streams, buckets and subjects begin with the team's
//! prefix, so that permissions can be granted by it.

use std::fmt::Write as _;

/// The prefix that is used unless another one is configured.
pub const DEFAULT_PREFIX: &str = "overtone";

/// The names below one prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    prefix: String,
}

impl Names {
    /// `None` if the prefix is invalid. It consists of letters, digits, `-`, `_`, and dots between them.
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

    /// Names of streams and buckets cannot contain dots.
    fn flat_name(&self, what: &str) -> String {
        format!("{}_{what}", self.prefix.replace('.', "_"))
    }

    pub fn events_stream(&self) -> String {
        self.flat_name("events")
    }

    pub fn orders_stream(&self) -> String {
        self.flat_name("orders")
    }

    /// Heartbeats of the machines that are online. Entries expire within seconds.
    pub fn heartbeat_bucket(&self) -> String {
        self.flat_name("pulse")
    }

    /// Machines that were ever online.
    pub fn machines_bucket(&self) -> String {
        self.flat_name("machines")
    }

    pub fn sessions_bucket(&self) -> String {
        self.flat_name("sessions")
    }

    /// Which machine a session or a feature belongs to.
    pub fn claims_bucket(&self) -> String {
        self.flat_name("claims")
    }

    pub fn handoffs_bucket(&self) -> String {
        self.flat_name("handoffs")
    }

    /// The signed lists of the team's machines.
    pub fn team_bucket(&self) -> String {
        self.flat_name("team")
    }

    /// The prefix of the subjects on which the server replies to requests.
    pub fn inbox(&self) -> String {
        format!("_INBOX.{}", self.prefix.replace('.', "_"))
    }

    pub fn all_events(&self) -> String {
        format!("{}.events.*.*", self.prefix)
    }

    pub fn events_subject(&self, machine: &str, session: &str) -> String {
        format!("{}.events.{}.{}", self.prefix, encode_token(machine), encode_token(session))
    }

    /// The machine and the session of a subject that [`events_subject`](Self::events_subject) made.
    pub fn parse_events_subject(&self, subject: &str) -> Option<(String, String)> {
        let rest = subject.strip_prefix(&self.prefix)?.strip_prefix(".events.")?;
        let (machine, session) = rest.split_once('.')?;
        Some((decode_token(machine)?, decode_token(session)?))
    }

    pub fn all_orders(&self) -> String {
        format!("{}.orders.*", self.prefix)
    }

    pub fn orders_subject(&self, machine: &str) -> String {
        format!("{}.orders.{}", self.prefix, encode_token(machine))
    }

    pub fn all_answers(&self) -> String {
        format!("{}.answers.*", self.prefix)
    }

    pub fn answer_subject(&self, order: &str) -> String {
        format!("{}.answers.{}", self.prefix, encode_token(order))
    }
}

/// The key of a session's state.
pub fn state_key(machine: &str, session: &str) -> String {
    format!("{}.{}", encode_token(machine), encode_token(session))
}

pub fn session_claim_key(session: &str) -> String {
    format!("session.{}", encode_token(session))
}

pub fn feature_claim_key(repository: &str, feature: &str) -> String {
    format!("feature.{}.{}", encode_token(repository), encode_token(feature))
}

pub fn handoff_key(session: &str, file: &str) -> String {
    format!("{}.{}", encode_token(session), encode_token(file))
}

/// Encodes a text as one token of a subject or a key. Bytes other than ASCII letters, digits, `-` and `_` become `=`
/// and two hexadecimal digits.
pub fn encode_token(text: &str) -> String {
    let mut token = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_".contains(&byte) {
            token.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(token, "={byte:02X}");
        }
    }
    token
}

/// The text of a token; `None` for anything that [`encode_token`] never returns.
pub fn decode_token(token: &str) -> Option<String> {
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
    String::from_utf8(bytes).ok().filter(|word| self::encode_token(word) == token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_decoded_from_its_token() {
        for text in ["a", "0f.e-d_9", "=2E", "功能 x", "", "a.b.c", "*>"] {
            let token = encode_token(text);
            assert!(token.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=".contains(&b)), "{token}");
            assert_eq!(decode_token(&token).as_deref(), Some(text));
        }
        for wrong in ["a.b", "=2", "=zz", "=2e", "=41", "=FF"] {
            assert_eq!(decode_token(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_subject_names_the_machine_and_the_session() {
        let names = Names::new("team.a").unwrap();
        let subject = names.events_subject("m1", "s.1");
        assert_eq!(subject, "team.a.events.m1.s=2E1");
        assert_eq!(names.parse_events_subject(&subject), Some(("m1".to_owned(), "s.1".to_owned())));
        for foreign in ["team.b.events.m1.s", "team.a.events.m1", "team.a.events.m.s.t", "team.a.orders.m1"] {
            assert_eq!(names.parse_events_subject(foreign), None, "{foreign}");
        }
        assert_eq!(names.events_stream(), "team_a_events");
    }

    #[test]
    fn invalid_prefixes_are_rejected() {
        for wrong in ["", ".", "a.", ".a", "a..b", "a b", "a*", "a>", "功"] {
            assert_eq!(Names::new(wrong), None, "{wrong}");
        }
    }
}
