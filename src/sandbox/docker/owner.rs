//! Whose container is it: the labels, and the decision to sweep.
//!
//! Invariant: a container is swept only when its owner is provably gone, that is when it was made in
//! this very process namespace of this very boot by a process that no longer runs.

use std::collections::HashMap;

/// On every container of ours.
pub const LABEL: &str = "ferrule.sandbox";
/// Which machine, boot and process namespace made it.
pub const HOST_LABEL: &str = "ferrule.host";
/// Which process made it: its id and its start time.
pub const OWNER_LABEL: &str = "ferrule.owner";

/// A process, as containers name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    host: String,
    process: String,
}

impl Owner {
    /// This process.
    #[must_use]
    pub fn this_process() -> Self {
        let pid = std::process::id();
        Self { host: host_key(), process: format!("{pid}:{}", start_time(pid).unwrap_or_default()) }
    }

    /// The labels of a container.
    #[must_use]
    pub fn labels(&self) -> HashMap<String, String> {
        HashMap::from([
            (LABEL.to_owned(), "1".to_owned()),
            (HOST_LABEL.to_owned(), self.host.clone()),
            (OWNER_LABEL.to_owned(), self.process.clone()),
        ])
    }

    /// Whether a container with these labels was left behind by a process that is gone.
    #[must_use]
    pub fn is_orphan(&self, labels: &HashMap<String, String>) -> bool {
        let label = |name: &str| labels.get(name).map_or("", String::as_str);
        if label(LABEL) != "1" || self.host.is_empty() || label(HOST_LABEL) != self.host {
            return false;
        }
        let Some((pid, started)) = label(OWNER_LABEL).split_once(':') else { return false };
        let Ok(pid) = pid.parse::<u32>() else { return false };
        match start_time(pid) {
            Some(now) => now != started,
            None => !started.is_empty(),
        }
    }
}

/// Machine, boot and process namespace. Empty where that cannot be told: then nothing is swept.
fn host_key() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let boot = read("/proc/sys/kernel/random/boot_id");
    let namespace = std::fs::read_link("/proc/self/ns/pid").map(|link| link.to_string_lossy().into_owned());
    match namespace {
        Ok(namespace) if !boot.is_empty() => {
            format!("{}/{boot}/{namespace}", read("/proc/sys/kernel/hostname"))
        }
        _ => String::new(),
    }
}

/// When a process started, in the kernel's own count; none when it does not run.
fn start_time(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything; the fields begin after the last one.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn with(mut labels: HashMap<String, String>, name: &str, value: &str) -> HashMap<String, String> {
        labels.insert(name.to_owned(), value.to_owned());
        labels
    }

    #[test]
    fn only_the_dead_of_this_host_are_orphans() {
        let me = Owner::this_process();
        let mine = me.labels();
        assert!(!me.is_orphan(&mine), "its owner runs");
        assert!(
            me.is_orphan(&with(mine.clone(), OWNER_LABEL, &format!("{}:1", std::process::id()))),
            "the id was taken by another process"
        );
        assert!(me.is_orphan(&with(mine.clone(), OWNER_LABEL, "4194399:77")), "no such process");
        let dead = with(mine, OWNER_LABEL, "4194399:77");
        assert!(!me.is_orphan(&with(dead.clone(), HOST_LABEL, "elsewhere")));
        assert!(!me.is_orphan(&with(dead.clone(), LABEL, "")));
        assert!(!me.is_orphan(&with(dead, OWNER_LABEL, "nonsense")));
        assert!(!me.is_orphan(&HashMap::new()));
    }
}
