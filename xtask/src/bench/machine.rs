//! What the measurements were made on, in general terms: nothing that tells which machine it was.

use std::fmt;
use std::fs;
use std::thread;

/// The kind of machine.
#[derive(Debug)]
pub(crate) struct Machine {
    cores: usize,
    memory_gib: Option<u64>,
    kernel: Option<String>,
    architecture: &'static str,
    is_virtual: bool,
}

impl Machine {
    pub(crate) fn this() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self {
            cores: thread::available_parallelism().map_or(1, Into::into),
            memory_gib: memory_gib(&read("/proc/meminfo")),
            kernel: kernel(&read("/proc/sys/kernel/osrelease")),
            architecture: std::env::consts::ARCH,
            is_virtual: is_virtual(&read("/proc/cpuinfo")),
        }
    }
}

/// `Linux 6.1 on x86_64, 2 cores, 24 GiB, virtual`
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernel = self.kernel.as_deref().unwrap_or("of unknown version");
        write!(f, "Linux {kernel} on {}, {} cores", self.architecture, self.cores)?;
        if let Some(gib) = self.memory_gib {
            write!(f, ", {gib} GiB")?;
        }
        f.write_str(if self.is_virtual { ", virtual" } else { "" })
    }
}

/// `6.1` of `6.1.0-18-cloud-amd64`: what follows is a vendor's.
fn kernel(release: &str) -> Option<String> {
    let (major, rest) = release.trim().split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some(format!("{major}.{minor}"))
}

fn memory_gib(meminfo: &str) -> Option<u64> {
    let kib: u64 = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()?;
    Some((kib + 512 * 1024) / (1024 * 1024))
}

fn is_virtual(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    flags.split_whitespace().any(|flag| flag == "hypervisor")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_general_terms_are_told() {
        assert_eq!(kernel("6.1.0-18-cloud-amd64\n").as_deref(), Some("6.1"));
        assert_eq!(memory_gib("MemTotal:       24681472 kB\nMemFree: 1 kB\n"), Some(24));
        assert!(is_virtual("flags\t\t: fpu hypervisor\n") && !is_virtual("flags\t\t: fpu\n"));
    }
}
