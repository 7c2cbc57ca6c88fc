//! The processes of Claude Code that a session runs in, as they are recorded to tell their hook calls from those of others.

use serde_json::{Value, json};

/// How many processes are recorded for a session. More than a handful of terminals do not share one.
const MAX_CLIENTS: usize = 8;

/// A process of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientProcess {
    pub pid: u32,
    /// The start time in the kernel's clock ticks since the machine was booted. A later process may have the same id, but
    /// not the same start.
    pub started: u64,
}

impl ClientProcess {
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let pid = u32::try_from(value.get("pid")?.as_u64()?).ok()?;
        Some(Self { pid, started: value.get("started")?.as_u64()? })
    }

    pub(crate) fn to_json(self) -> Value {
        json!({ "pid": self.pid, "started": self.started })
    }
}

/// Adds a process to a list, from which the oldest ones are dropped. Returns whether it is new.
pub(crate) fn add_client(clients: &mut Vec<ClientProcess>, client: ClientProcess) -> bool {
    if clients.contains(&client) {
        return false;
    }
    clients.retain(|other| other.pid != client.pid);
    clients.push(client);
    let excess = clients.len().saturating_sub(MAX_CLIENTS);
    clients.drain(..excess);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_processes_are_kept_and_a_reused_id_is_one_process() {
        let mut clients = Vec::new();
        for pid in 1..=10 {
            assert!(add_client(&mut clients, ClientProcess { pid, started: 1 }));
        }
        assert!(!add_client(&mut clients, ClientProcess { pid: 10, started: 1 }));
        assert!(add_client(&mut clients, ClientProcess { pid: 9, started: 2 }));
        let kept: Vec<_> = clients.iter().map(|client| (client.pid, client.started)).collect();
        assert_eq!(kept, [(3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1), (10, 1), (9, 2)]);
    }

    #[test]
    fn only_complete_records_are_read() {
        let client = ClientProcess { pid: 7, started: 9 };
        assert_eq!(ClientProcess::from_json(&client.to_json()), Some(client));
        for bad in
            [json!(7), json!({"pid": 7}), json!({"pid": -1, "started": 1}), json!({"pid": "7", "started": 1})]
        {
            assert_eq!(ClientProcess::from_json(&bad), None, "{bad}");
        }
    }
}
