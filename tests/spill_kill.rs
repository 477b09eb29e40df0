//! A writer killed at random points leaves nothing, or a complete and correctly tainted artifact
//! (issue 5; spec 03 section 1.4).
//!
//! The test starts itself as the child: it writes tainted artifacts under the same few names as fast
//! as it can until it is killed. 200 children, three milliseconds each on average.
#![cfg(unix)]

use ferrule::result::content::Content;
use ferrule::result::spill::{self, Artifact};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const CHILD_ROOT: &str = "FERRULE_KILL_TEST_ROOT";
const KILLS: u64 = 200;
const NAMES: u64 = 3;

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

/// Body and sidecar that belong together: both carry the round's number.
fn round(n: u64) -> (String, String) {
    let line = format!("round {n}\n");
    (line.repeat(1 + usize::try_from(n % 7).unwrap_or(0) * 3000) + "end", format!("{{\"round\":{n}}}"))
}

fn child(root: &Path) -> ! {
    for n in u64::from(std::process::id()) * 1000.. {
        let (body, sidecar) = round(n);
        let artifact = Artifact {
            run_id: &units("run"),
            call_id: &units(&format!("c{}", n % NAMES)),
            extension: "txt",
            content: Content::Bytes(body.as_bytes()),
        };
        let _ = spill::write(root, &artifact, || Some(sidecar.as_bytes()));
    }
    unreachable!("the counter outlives the child")
}

fn check(root: &Path) -> usize {
    let mut artifacts = 0;
    for name in 0..NAMES {
        let path: PathBuf = root.join(format!("run/c{name}.txt"));
        let Ok(body) = std::fs::read_to_string(&path) else { continue };
        artifacts += 1;
        let first = body.lines().next().expect("a first line");
        let n: u64 = first.strip_prefix("round ").and_then(|n| n.parse().ok()).expect("a round");
        let (whole, sidecar) = round(n);
        assert!(body == whole, "the artifact of round {n} is cut short");
        let taint = std::fs::read_to_string(root.join(format!("run/c{name}.txt.meta.json")));
        assert_eq!(taint.ok().as_deref(), Some(&*sidecar), "the taint of round {n}");
    }
    artifacts
}

#[test]
fn a_killed_writer_leaves_nothing_or_everything() {
    if let Some(root) = std::env::var_os(CHILD_ROOT) {
        child(Path::new(&root));
    }
    let dir = tempfile::tempdir().expect("temp");
    let program = std::env::current_exe().expect("this test");
    let mut seen = 0;
    for kill in 0..KILLS {
        let mut process = Command::new(&program)
            .args(["a_killed_writer_leaves_nothing_or_everything", "--exact", "--nocapture"])
            .env(CHILD_ROOT, dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        // Spread over start-up, first write and steady state.
        std::thread::sleep(Duration::from_micros(1000 + (kill * 7919) % 15_000));
        process.kill().expect("killed");
        process.wait().expect("gone");
        seen += check(dir.path());
        if kill % 20 == 19 {
            std::fs::remove_dir_all(dir.path().join("run")).expect("cleared");
        }
    }
    assert!(seen > 20, "only {seen} artifacts were ever there to check");
}
