//! Single calls: the order of effects, and what each failure site reports (sections 7 and 14).

use super::script::{Body, Script, ScriptHost};
use crate::executor::{
    ApprovalForm, BatchOptions, Config, Ending, FlowVerdict, Idempotent, Permission, PermissionAnswer,
    PolicyVerdict, Producer, RecoveryHint, Repair, RetryConfig, Sanitised, ToolFacts, Wiring, run_call,
};
use crate::tool::{MemoryGuardTier, SideEffectClass, ToolErrorKind, TrustClass};
use std::rc::Rc;
use std::time::Duration;
use tokio::task::LocalSet;

fn all_wired() -> Wiring {
    Wiring {
        permission_hook: true,
        approval_gate: true,
        argument_policy: true,
        denies_name: true,
        repair: true,
        data_flow_guard: true,
        memory_guard: true,
        sandbox_resolver: true,
        idempotency_store: true,
    }
}

async fn run_with(script: Script, config: Config, batch: BatchOptions) -> (Ending, Vec<String>, ScriptHost) {
    let host = ScriptHost::new(vec![script]);
    let running = run_call(host.clone(), Rc::new(config), batch, 0, false);
    let ending = LocalSet::new().run_until(running).await;
    let log =
        host.taken_log().iter().map(|entry| entry.trim_start_matches("0:").trim_end().to_owned()).collect();
    (ending, log, host)
}

async fn run(script: Script) -> (Ending, Vec<String>) {
    let (ending, log, _) = run_with(script, Config::default(), BatchOptions::default()).await;
    (ending, log)
}

fn writer(name: &str) -> ToolFacts {
    ToolFacts { class: SideEffectClass::ExternalStateful, ..ToolFacts::reader(name) }
}

fn failure(ending: Ending) -> (ToolErrorKind, String) {
    match ending {
        Ending::Failed(failure) => (failure.kind, failure.message),
        other => panic!("expected a failure, got {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn appendix_a_plain_success() {
    let (ending, log) = run(Script::default()).await;
    assert_eq!(ending, Ending::Succeeded);
    assert_eq!(
        log,
        [
            "S open",
            "S sandbox.kind+sandbox.forced+sandbox.no_network+sandbox.no_filesystem",
            "S gen_ai.tool.type",
            "A tool:execute:start success sandboxKind=worker-threads,sideEffectClass=read-only,memoryGuardTier=unknown",
            "E start",
            "S sandbox.enforced",
            "S inline_timeout_ms",
            "execute",
            "S duration_ms",
            "S result.truncation.strategy+result.truncation.source+result.max_tokens",
            "S result.truncation.applied",
            "sanitise detect-and-flag first-party-user-defined",
            "S inbound.sanitization.scan_duration_us+inbound.sanitization.policy+inbound.sanitization.patterns_hit_count",
            "A tool:execute:end success durationMs=0",
            "E end",
            "S close",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn section_7_0_every_phase_in_its_order() {
    let facts = ToolFacts {
        approval: ApprovalForm::Predicate,
        idempotency_callback: true,
        has_idempotency_key: true,
        ..writer("t")
    };
    let script = Script { facts: Some(facts), ..Script::default() };
    let config = Config { wiring: all_wired(), ..Config::default() };
    let (ending, log, _) = run_with(script, config, BatchOptions::default()).await;
    assert_eq!(ending, Ending::Succeeded);
    let steps: Vec<&str> =
        log.iter().map(String::as_str).filter(|entry| !entry.starts_with(['S', 'A', 'E'])).collect();
    assert_eq!(
        steps,
        [
            "permission",
            "gate",
            "policy",
            "inspect",
            "snapshot",
            "execute",
            "verify",
            "sanitise detect-and-flag first-party-user-defined",
            "record first-party-user-defined",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn appendix_a_a_throwing_tool() {
    let (ending, log) = run(Script { bodies: vec![Body::Throw(5)], ..Script::default() }).await;
    assert_eq!(failure(ending), (ToolErrorKind::ExecutionFailed, "boom".to_owned()));
    let executed = log.iter().position(|entry| entry == "execute").expect("the tool was entered");
    assert_eq!(
        log[executed..],
        [
            "execute",
            "S duration_ms",
            "A tool:execute:error error kind=execution_failed",
            "E error execution_failed",
            "S status error boom",
            "S close",
        ]
    );
}

/// Section 7.17: kind, and what stands in the log beside spans and hooks.
#[tokio::test(start_paused = true)]
async fn section_7_17_failure_sites() {
    let answer = |decision, rewrites| PermissionAnswer { decision, rewrites };
    let reasoned = || Script { reason: Some("because".to_owned()), ..Script::default() };
    let approval = ToolFacts { approval: ApprovalForm::Always, ..ToolFacts::reader("t") };
    let row = |kind: &str| format!("A tool:execute:error error kind={kind}");
    let event = |kind: &str| format!("E error {kind}");
    let both = |kind: &str| vec![row(kind), event(kind)];
    let table: Vec<(Script, BatchOptions, &str, &str, Vec<String>)> = vec![
        (
            Script { facts: None, ..Script::default() },
            BatchOptions::default(),
            "unknown_tool",
            "Unknown tool: ghost",
            vec![row("unknown_tool")],
        ),
        (
            Script { traps: vec!["denied"], ..reasoned() },
            BatchOptions::default(),
            "capability_blocked",
            "Tool 't' is denied by name: because",
            vec![row("capability_blocked")],
        ),
        (
            Script { facts: Some(writer("t")), ..Script::default() },
            BatchOptions { read_only: true, ..BatchOptions::default() },
            "capability_blocked",
            "Tool 't' is external-stateful, but this run holds read-only capability (single-writer constraint).",
            vec![row("capability_blocked")],
        ),
        (
            Script { valid: false, repair: Repair::StillInvalid, ..Script::default() },
            BatchOptions::default(),
            "invalid_input",
            "does not fit",
            both("invalid_input"),
        ),
        (
            Script { permission: answer(Permission::Deny, false), ..reasoned() },
            BatchOptions { pre_approved: true, ..BatchOptions::default() },
            "capability_blocked",
            "Blocked by permission hook: because",
            both("capability_blocked"),
        ),
        (
            Script { permission: answer(Permission::Unknown, false), ..Script::default() },
            BatchOptions::default(),
            "capability_blocked",
            "Permission hook failed (fail-closed): it answered none of 'allow', 'deny', 'ask', 'defer'",
            both("capability_blocked"),
        ),
        (
            Script { permission: answer(Permission::Allow, true), echo: false, ..Script::default() },
            BatchOptions { pre_approved: true, ..BatchOptions::default() },
            "invalid_input",
            "Permission hook attempted to rewrite pre-approved args on a resume replay - the grant covered the \
             original payload, so the rewrite is refused.",
            both("invalid_input"),
        ),
        (
            Script { permission: answer(Permission::Ask, false), ..reasoned() },
            BatchOptions::default(),
            "approval_denied",
            "Permission hook returned 'ask' (because), but this execution surface cannot suspend for approval - \
             the call is refused (fail-closed). Re-issue the call; an approval-capable harness will request the \
             decision.",
            both("approval_denied"),
        ),
        (
            Script { permission: answer(Permission::Allow, true), echo: false, ..Script::default() },
            BatchOptions::default(),
            "invalid_input",
            "Permission hook rewrite failed schema re-validation: does not fit",
            both("invalid_input"),
        ),
        (
            Script { facts: Some(approval), granted: false, ..reasoned() },
            BatchOptions::default(),
            "approval_denied",
            "Tool execution denied: because.",
            vec![
                "A tool:approval:requested success".to_owned(),
                "A tool:approval:denied denied reason=because".to_owned(),
            ],
        ),
        (
            Script { policy: PolicyVerdict::Deny, ..reasoned() },
            BatchOptions { pre_approved: true, ..BatchOptions::default() },
            "capability_blocked",
            "Blocked by tool-argument policy: because",
            vec![row("capability_blocked")],
        ),
        (
            Script { policy: PolicyVerdict::Defer, ..reasoned() },
            BatchOptions::default(),
            "approval_denied",
            "Tool-argument policy returned 'defer' (because), but this execution surface cannot suspend for \
             approval - the call is refused (fail-closed). Re-issue the call; an approval-capable harness will \
             request the decision.",
            vec![row("approval_denied")],
        ),
        (
            Script { facts: Some(writer("t")), flow: FlowVerdict::Block, ..reasoned() },
            BatchOptions::default(),
            "dataflow_policy_blocked",
            "because",
            [
                vec![
                    "A tool:dataflow:blocked denied flow=untrusted-to-sink,reason=because,sourceKinds=<SourceKinds>,\
                     sideEffectClass=external-stateful,decision=block"
                        .to_owned(),
                ],
                both("dataflow_policy_blocked"),
            ]
            .concat(),
        ),
    ];
    for (script, batch, kind, message, reported) in table {
        let config = Config { wiring: all_wired(), ..Config::default() };
        let (ending, log, _) = run_with(script, config, batch).await;
        let (found_kind, found_message) = failure(ending);
        assert_eq!((found_kind.as_str(), found_message.as_str()), (kind, message));
        let rows: Vec<&String> = log.iter().filter(|entry| entry.starts_with(['A', 'E'])).collect();
        assert_eq!(rows, reported.iter().collect::<Vec<_>>(), "{message}");
        assert!(!log.contains(&"execute".to_owned()), "the tool must not run: {message}");
    }
}

#[tokio::test(start_paused = true)]
async fn section_7_15_a_block_leaves_no_error_row() {
    let sanitised = Sanitised { hits: 2, wrapped: false, stripped: false, blocked: true, scan_us: 1.0 };
    let (ending, log) = run(Script { sanitised, ..Script::default() }).await;
    let (kind, message) = failure(ending);
    assert_eq!(kind, ToolErrorKind::InboundSanitizationBlocked);
    assert_eq!(message, "Tool result blocked by inbound sanitization (patterns: one, two).");
    let tail: Vec<&str> =
        log.iter().map(String::as_str).filter(|entry| entry.starts_with("A tool:result")).collect();
    assert_eq!(
        tail,
        [
            "A tool:result:sanitization:hit success patterns=<Patterns>,trustClass=first-party-user-defined,policyAction=flagged",
            "A tool:result:sanitization:blocked denied trustClass=first-party-user-defined,patterns=<Patterns>",
        ]
    );
    assert!(!log.iter().any(|entry| entry.contains("execute:error") || entry == "E end"));
}

#[tokio::test(start_paused = true)]
async fn section_7_15_an_untrusted_producer_sets_policy_and_class() {
    let producer = Producer { trust: TrustClass::McpDerived, sensitivity: None, flagged: true };
    let script = Script { producer: Some(producer), ..Script::default() };
    let (ending, log, host) = run_with(script, Config::default(), BatchOptions::default()).await;
    assert_eq!(ending, Ending::Succeeded);
    assert!(log.contains(&"sanitise detect-and-strip-and-wrap mcp-derived".to_owned()));
    let counted =
        host.counter("tool.inbound.sanitization.cross-page-flag.total{toolName=t,trustClass=mcp-derived}");
    assert!((counted - 1.0).abs() < f64::EPSILON);
}

/// Section 7.12: a writer without a key is not invited to retry.
#[tokio::test(start_paused = true)]
async fn section_7_12_timeouts() {
    let keyed = ToolFacts { has_idempotency_key: true, ..writer("t") };
    let table = [
        (ToolFacts::reader("t"), (true, Some(RecoveryHint::RetryLater)), None),
        (keyed, (true, Some(RecoveryHint::RetryLater)), None),
        (
            writer("t"),
            (false, Some(RecoveryHint::ReportToUser)),
            Some("the first invocation may still have completed; do not retry blindly"),
        ),
    ];
    for (facts, recovery, hint) in table {
        let script = Script { facts: Some(facts), bodies: vec![Body::Hang], ..Script::default() };
        let config = Config { inline_timeout_ms: Some(20.0), ..Config::default() };
        let (ending, _, _) = run_with(script, config, BatchOptions::default()).await;
        let Ending::Failed(failure) = ending else { panic!("a hanging tool fails") };
        assert_eq!(
            (failure.kind, failure.message.as_str()),
            (ToolErrorKind::Timeout, "exceeded the 20ms limit")
        );
        assert_eq!((failure.stamped(), failure.hint.as_deref()), (recovery, hint));
    }
}

/// 0 and endless limits mean none; the default is that of the tier.
#[tokio::test(start_paused = true)]
async fn section_13_2_limits() {
    for none in [0.0, f64::INFINITY, f64::NAN, -1.0, 3e9] {
        let script = Script { bodies: vec![Body::Return(3_600_000)], ..Script::default() };
        let config = Config { inline_timeout_ms: Some(none), ..Config::default() };
        assert_eq!(run_with(script, config, BatchOptions::default()).await.0, Ending::Succeeded, "{none}");
    }
    let table = [
        (None, 5_000),
        (Some(crate::tool::SandboxPolicy::None), 60_000),
        (Some(crate::tool::SandboxPolicy::Docker), 30_000),
    ];
    for (sandbox, limit) in table {
        for (takes, survives) in [(limit - 1, true), (limit + 1, false)] {
            let facts = ToolFacts { sandbox, ..ToolFacts::reader("t") };
            let script =
                Script { facts: Some(facts), bodies: vec![Body::Return(takes)], ..Script::default() };
            let ending = run(script).await.0;
            assert_eq!(ending == Ending::Succeeded, survives, "{sandbox:?} {takes}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn section_13_1_the_grace_both_ways() {
    for (body, message) in [(Body::Hang, "aborted"), (Body::Throw(30), "boom"), (Body::Return(30), "aborted")]
    {
        let host = ScriptHost::new(vec![Script { bodies: vec![body], ..Script::default() }]);
        let local = LocalSet::new();
        let aborter = host.clone();
        local.spawn_local(async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            aborter.abort_run();
        });
        let ending = local
            .run_until(run_call(host.clone(), Rc::new(Config::default()), BatchOptions::default(), 0, false))
            .await;
        assert_eq!(failure(ending), (ToolErrorKind::Aborted, "Tool execution cancelled".to_owned()));
        assert_eq!(
            crate::executor::Host::text(&host, 0, crate::executor::Text::Thrown).as_deref(),
            Some(message)
        );
        let log = host.taken_log();
        assert!(
            log.contains(&"0:A tool:execute:error error kind=aborted,reason=cancelled".to_owned()),
            "{log:?}"
        );
        assert!(log.contains(&"0:S status cancelled Tool execution cancelled".to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn section_8_retry() {
    let limited = |times: usize| {
        let mut bodies = vec![Body::RateLimit(0, None); times];
        bodies.push(Body::Return(0));
        bodies
    };
    let keyed = ToolFacts { has_idempotency_key: true, ..writer("t") };
    let kinds = |kinds: &[ToolErrorKind]| RetryConfig { kinds: kinds.to_vec(), ..RetryConfig::default() };
    let table: Vec<(&str, ToolFacts, Vec<Body>, RetryConfig, usize, bool)> = vec![
        ("third time lucky", ToolFacts::reader("t"), limited(2), RetryConfig::default(), 3, true),
        ("gives up at the bound", ToolFacts::reader("t"), limited(9), RetryConfig::default(), 3, false),
        ("never a writer without a key", writer("t"), limited(1), RetryConfig::default(), 1, false),
        ("a writer with a key", keyed, limited(1), RetryConfig::default(), 2, true),
        ("an empty list", ToolFacts::reader("t"), limited(1), kinds(&[]), 1, false),
        (
            "another kind",
            ToolFacts::reader("t"),
            vec![Body::Throw(0), Body::Return(0)],
            kinds(&[ToolErrorKind::ExecutionFailed]),
            2,
            true,
        ),
        (
            "one attempt for NaN",
            ToolFacts::reader("t"),
            limited(1),
            RetryConfig { max_attempts: f64::NAN, ..RetryConfig::default() },
            1,
            false,
        ),
        (
            "one attempt for 0",
            ToolFacts::reader("t"),
            limited(1),
            RetryConfig { max_attempts: 0.0, ..RetryConfig::default() },
            1,
            false,
        ),
    ];
    for (name, facts, bodies, retry, attempts, succeeds) in table {
        let script = Script { facts: Some(facts), bodies, ..Script::default() };
        let config = Config { retry, ..Config::default() };
        let (ending, log, _) = run_with(script, config, BatchOptions::default()).await;
        assert_eq!(log.iter().filter(|entry| *entry == "execute").count(), attempts, "{name}");
        assert_eq!(ending == Ending::Succeeded, succeeds, "{name}");
        assert_eq!(
            log.iter().filter(|entry| *entry == "S open").count(),
            attempts,
            "a span an attempt: {name}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn section_8_the_pause_asked_for_wins() {
    let bodies = vec![Body::RateLimit(0, Some(1500.0)), Body::RateLimit(0, None), Body::Return(0)];
    let (_, log) = run(Script { bodies, ..Script::default() }).await;
    let pauses: Vec<&str> =
        log.iter().map(String::as_str).filter(|entry| entry.starts_with("pause")).collect();
    assert_eq!(pauses, ["pause 1500", "pause 500"]);
}

/// Before the tool runs a throwing callback ends the call; `callback` is named in a row.
#[tokio::test(start_paused = true)]
async fn section_14_what_escapes() {
    let traps = [
        "argumentPolicy.deniesName",
        "tracer.span",
        "inputSchema",
        "needsApproval",
        "approvalGate.request",
        "argumentPolicy.decide",
        "dataFlowGuard.inspect",
        "memoryGuardFactory",
        "emitAudit",
        "streamingSink.start",
        "sandboxResolver",
        "span.setAttributes",
        "idempotencyStore.get",
    ];
    for trap in traps {
        let facts =
            ToolFacts { approval: ApprovalForm::Predicate, idempotency_callback: true, ..writer("t") };
        let script = Script { facts: Some(facts), traps: vec![trap], ..Script::default() };
        let config = Config { wiring: all_wired(), ..Config::default() };
        let (ending, log, host) = run_with(script, config, BatchOptions::default()).await;
        assert_eq!(ending, Ending::Escaped, "{trap}");
        let told = host.0.escapes.borrow().clone();
        let message = "tool execution rejected outside the executor pipeline: ";
        assert!(told.len() == 1 && told[0].1.starts_with(message), "{trap}: {told:?}");
        assert!(!log.contains(&"execute".to_owned()), "{trap}");
        let key = format!("tool.executor.callback-failed.total{{callback={trap},toolName=t}}");
        assert!((host.counter(&key) - 1.0).abs() < f64::EPSILON, "{trap}");
        let told = log.iter().any(|entry| entry.contains(&format!("callback={trap}")));
        assert_eq!(told, trap != "emitAudit", "{trap}: {log:?}");
    }
}

/// After it has run nothing a callback does loses the result.
#[tokio::test(start_paused = true)]
async fn issue_4_a_finished_result_survives() {
    for trap in [
        "streamingSink.end",
        "dataFlowGuard.record",
        "tokenCounter.count",
        "memoryGuard.verify",
        "tracer.span.after",
    ] {
        let script = Script { traps: vec![trap], ..Script::default() };
        let config = Config { wiring: all_wired(), ..Config::default() };
        let (ending, log, host) = run_with(script, config, BatchOptions::default()).await;
        assert_eq!(ending, Ending::Succeeded, "{trap}");
        // Section 7.11: a throwing verify is swallowed; it is counted and has no row.
        let told = log.iter().any(|entry| entry.contains(&format!("callback={trap}")));
        assert_eq!(told, trap != "memoryGuard.verify", "{trap}: {log:?}");
        let key = format!("tool.executor.callback-failed.total{{callback={trap},toolName=t}}");
        assert!((host.counter(&key) - 1.0).abs() < f64::EPSILON, "{trap}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_throws_on_the_error_event_does_not_replace_the_error() {
    let script =
        Script { bodies: vec![Body::Throw(0)], traps: vec!["streamingSink.error"], ..Script::default() };
    let (ending, _) = run(script).await;
    assert_eq!(failure(ending).0, ToolErrorKind::ExecutionFailed);
}

#[tokio::test(start_paused = true)]
async fn a_throwing_output_schema_is_invalid_output() {
    let facts = ToolFacts { output_schema: true, ..ToolFacts::reader("t") };
    let script = Script { facts: Some(facts), traps: vec!["outputSchema"], ..Script::default() };
    let (kind, message) = failure(run(script).await.0);
    assert_eq!(
        (kind, message.as_str()),
        (ToolErrorKind::InvalidOutput, "The output schema threw: outputSchema broke")
    );
}

/// Section 22 no. 27: a strict guard that cannot look blocks; any other only stays silent.
#[tokio::test(start_paused = true)]
async fn a_failing_strict_snapshot_blocks() {
    for (tier, runs) in
        [(Some(MemoryGuardTier::Untrusted), false), (Some(MemoryGuardTier::Unknown), true), (None, true)]
    {
        let facts = ToolFacts { memory_tier: tier, ..ToolFacts::reader("t") };
        let script = Script { facts: Some(facts), traps: vec!["memoryGuard.snapshot"], ..Script::default() };
        let config = Config { wiring: all_wired(), ..Config::default() };
        let (ending, log, host) = run_with(script, config, BatchOptions::default()).await;
        assert_eq!(log.contains(&"execute".to_owned()), runs, "{tier:?}");
        // Section 7.10: where the call goes on, a failing snapshot leaves no error row.
        assert_eq!(
            log.iter().any(|entry| entry.contains("A tool:execute:error")),
            !runs,
            "{tier:?}: {log:?}"
        );
        let key = "tool.executor.callback-failed.total{callback=memoryGuard.snapshot,toolName=t}";
        assert!((host.counter(key) - 1.0).abs() < f64::EPSILON, "{tier:?}");
        assert!(!log.contains(&"verify".to_owned()), "{tier:?}");
        if !runs {
            let (kind, message) = failure(ending);
            assert_eq!(kind, ToolErrorKind::CapabilityBlocked);
            assert_eq!(
                message,
                "Memory guard could not take its snapshot (fail-closed): memoryGuard.snapshot broke"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn section_7_11_a_mismatch_is_counted_once_and_the_call_succeeds() {
    let script = Script { traps: vec!["drift"], ..Script::default() };
    let config = Config { wiring: all_wired(), ..Config::default() };
    let (ending, log, host) = run_with(script, config, BatchOptions::default()).await;
    assert_eq!(ending, Ending::Succeeded);
    let row = "A tool:execute:error error kind=memory-guard-mismatch,regions=<Regions>,tier=unknown";
    assert_eq!(log.iter().filter(|entry| *entry == row).count(), 1);
    let counted = host.counter("tool.executor.memory_guard.mismatch.total{tier=unknown,toolName=t}");
    assert!((counted - 1.0).abs() < f64::EPSILON);
}

#[tokio::test(start_paused = true)]
async fn idempotency_replays_and_conflicts() {
    let facts = ToolFacts { idempotency_callback: true, has_idempotency_key: true, ..writer("t") };
    for (answer, succeeds) in [(Idempotent::Replayed, true), (Idempotent::Conflict, false)] {
        let script = Script { facts: Some(facts.clone()), idempotent: answer, ..Script::default() };
        let config = Config { wiring: all_wired(), ..Config::default() };
        let (ending, log, _) = run_with(script, config, BatchOptions::default()).await;
        assert!(!log.contains(&"execute".to_owned()));
        if succeeds {
            assert_eq!(ending, Ending::Succeeded);
            assert!(
                log.contains(
                    &"A tool:execute:end success durationMs=0,idempotencyKey=<IdempotencyKey>,replayed=true"
                        .to_owned()
                )
            );
        } else {
            assert_eq!(failure(ending).0, ToolErrorKind::InvalidInput);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_joined_failure_is_reported_as_one() {
    let facts = ToolFacts { idempotency_callback: true, has_idempotency_key: true, ..writer("t") };
    let script = Script { facts: Some(facts), idempotent: Idempotent::Failed(true), ..Script::default() };
    let retry = RetryConfig { max_attempts: 1.0, ..RetryConfig::default() };
    let config = Config { wiring: all_wired(), retry, ..Config::default() };
    let (ending, log, _) = run_with(script, config, BatchOptions::default()).await;
    assert!(!log.contains(&"execute".to_owned()));
    assert!(log.contains(&"A tool:execute:error error kind=rate_limited".to_owned()), "{log:?}");
    let Ending::Failed(failure) = ending else { panic!("{ending:?}") };
    assert_eq!(
        (failure.kind, failure.message.as_str(), failure.with_cause),
        (ToolErrorKind::RateLimited, "busy", true)
    );
}
