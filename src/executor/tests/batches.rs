//! Batches: order, bounds, aborts (section 9).

use super::script::{Body, Script, ScriptHost};
use crate::executor::{BatchOptions, Config, Ending, run_batch};
use crate::tool::ToolErrorKind;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::LocalSet;

/// Runs a batch of sequential and parallel calls; `abort_at` cancels the run.
pub async fn batch(
    scripts: Vec<Script>,
    sequential: Vec<u32>,
    parallel: Vec<u32>,
    max_parallel: usize,
    abort_at: Option<u64>,
) -> ScriptHost {
    let host = ScriptHost::new(scripts);
    let local = LocalSet::new();
    let (inner, count) = (host.clone(), sequential.len() + parallel.len());
    local
        .run_until(async move {
            let config = Rc::new(Config { max_parallel, ..Config::default() });
            run_batch(&inner, &config, BatchOptions::default(), sequential, parallel.into());
            let start = tokio::time::Instant::now();
            let mut aborted = false;
            while inner.0.endings.borrow().len() < count {
                if !aborted && abort_at.is_some_and(|at| start.elapsed() >= Duration::from_millis(at)) {
                    aborted = true;
                    inner.abort_run();
                }
                assert!(start.elapsed() < Duration::from_secs(3600), "the batch hangs");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
        .await;
    host
}

fn takes(ms: u64) -> Script {
    Script { bodies: vec![Body::Return(ms)], ..Script::default() }
}

fn entered(host: &ScriptHost) -> Vec<u32> {
    let log = host.0.log.borrow();
    log.iter().filter_map(|entry| entry.strip_suffix(":execute")?.parse().ok()).collect()
}

#[tokio::test(start_paused = true)]
async fn section_9_3_the_peak_is_the_bound() {
    for (bound, peak) in [(1, 1), (3, 3), (8, 8), (100, 30)] {
        let host = batch(vec![takes(10); 30], vec![], (0..30).collect(), bound, None).await;
        assert_eq!(host.0.peak.get(), peak, "bound {bound}");
        assert_eq!(entered(&host), (0..30).collect::<Vec<_>>(), "first in, first out");
    }
}

#[tokio::test(start_paused = true)]
async fn section_9_3_a_rolling_window() {
    let scripts = vec![takes(100), takes(10), takes(10), takes(10)];
    let host = batch(scripts, vec![], (0..4).collect(), 2, None).await;
    let order: Vec<u32> = host.0.endings.borrow().iter().map(|(call, _)| *call).collect();
    assert_eq!(order, [1, 2, 3, 0]);
}

#[tokio::test(start_paused = true)]
async fn section_9_2_sequential_first_and_one_at_a_time() {
    let mut scripts = vec![takes(10); 6];
    scripts[1].bodies = vec![Body::Throw(10)];
    let host = batch(scripts, vec![1, 4], vec![0, 2, 3, 5], 8, None).await;
    assert_eq!(entered(&host), [1, 4, 0, 2, 3, 5]);
    assert_eq!(host.0.peak.get(), 4);
    assert!(matches!(host.ending(1), Ending::Failed(_)), "a failing call does not stop later ones");
}

/// Section 9.8, the better way: what has not started is not started.
#[tokio::test(start_paused = true)]
async fn section_9_8_an_abort_stops_the_queue() {
    let host = batch(vec![takes(20); 10], vec![], (0..10).collect(), 2, Some(30)).await;
    assert_eq!(entered(&host), [0, 1, 2, 3]);
    for call in 0..2 {
        assert_eq!(host.ending(call), Ending::Succeeded, "finished before the abort");
    }
    for call in 2..10 {
        let Ending::Failed(failure) = host.ending(call) else { panic!("call {call} was aborted") };
        assert_eq!(failure.kind, ToolErrorKind::Aborted, "call {call}");
    }
    let rows = host.taken_log();
    assert!(rows.contains(&"9:A tool:execute:error error kind=aborted,reason=cancelled".to_owned()));
}

/// Section 9.8: parallel calls behind sequential ones were queued, the first of each lane too.
#[tokio::test(start_paused = true)]
async fn section_9_8_an_abort_stops_what_waits_behind_sequential_calls() {
    let host = batch(vec![takes(20); 5], vec![0], vec![1, 2, 3, 4], 8, Some(10)).await;
    assert_eq!(entered(&host), [0]);
    for call in 1..5 {
        assert!(
            matches!(host.ending(call), Ending::Failed(failure) if failure.kind == ToolErrorKind::Aborted)
        );
    }
}

/// Section 9.6: one call's escape is that call's alone, in both modes.
#[tokio::test(start_paused = true)]
async fn section_9_6_rejection_isolation() {
    let mut scripts = vec![takes(5); 4];
    scripts[0].traps = vec!["tracer.span"];
    scripts[2].traps = vec!["tracer.span"];
    let host = batch(scripts, vec![0, 1], vec![2, 3], 8, None).await;
    let endings: Vec<Ending> = (0..4).map(|call| host.ending(call)).collect();
    assert_eq!(endings, [Ending::Escaped, Ending::Succeeded, Ending::Escaped, Ending::Succeeded]);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_tool_in_a_batch_of_good_ones() {
    let mut scripts = vec![takes(5); 3];
    scripts[1].facts = None;
    let host = batch(scripts, vec![], vec![0, 1, 2], 8, None).await;
    assert!(matches!(host.ending(1), Ending::Failed(failure) if failure.kind == ToolErrorKind::UnknownTool));
    assert_eq!(host.ending(2), Ending::Succeeded);
}

/// A defect of ours ends one call; its lane goes on.
#[tokio::test(start_paused = true)]
async fn a_panic_is_the_ending_of_its_call_alone() {
    let mut scripts = vec![takes(5); 3];
    scripts[0].traps = vec!["panic"];
    let host = batch(scripts, vec![], vec![0, 1, 2], 1, None).await;
    let endings: Vec<Ending> = (0..3).map(|call| host.ending(call)).collect();
    assert_eq!(endings, [Ending::Panicked, Ending::Succeeded, Ending::Succeeded]);
}
