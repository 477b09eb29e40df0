//! Random batches against a small model: which calls run, how each ends, and that nothing hangs.

use super::batches::batch;
use super::script::{Body, Script};
use crate::executor::{ApprovalForm, Ending, ToolFacts};
use crate::tool::ToolErrorKind;
use proptest::prelude::*;

#[derive(Debug, Clone)]
struct Plan {
    known: bool,
    valid: bool,
    /// `None` without approval, else whether the gate grants.
    approval: Option<bool>,
    gate_ms: u64,
    body: Body,
    rate_limited_first: bool,
}

fn plan() -> impl Strategy<Value = Plan> {
    let body = prop_oneof![
        4 => (0_u64..60).prop_map(Body::Return),
        2 => (0_u64..60).prop_map(Body::Throw),
        1 => Just(Body::Hang),
    ];
    (
        prop::bool::weighted(0.9),
        prop::bool::weighted(0.85),
        prop::option::weighted(0.3, any::<bool>()),
        0_u64..30,
        body,
        any::<bool>(),
    )
        .prop_map(|(known, valid, approval, gate_ms, body, rate_limited_first)| Plan {
            known,
            valid,
            approval,
            gate_ms,
            body,
            rate_limited_first,
        })
}

impl Plan {
    fn script(&self) -> Script {
        let approval = if self.approval.is_some() { ApprovalForm::Always } else { ApprovalForm::Never };
        let facts = ToolFacts { approval, ..ToolFacts::reader("t") };
        let mut bodies = vec![self.body];
        if self.rate_limited_first {
            bodies.insert(0, Body::RateLimit(1, Some(3.0)));
        }
        Script {
            facts: self.known.then_some(facts),
            bodies,
            valid: self.valid,
            granted: false,
            gate_ms: self.gate_ms,
            ..Script::default()
        }
    }

    /// How the call ends on a run that is not aborted; without a gate every approval is denied.
    fn expected(&self) -> Result<(), ToolErrorKind> {
        if !self.known {
            return Err(ToolErrorKind::UnknownTool);
        }
        if !self.valid {
            return Err(ToolErrorKind::InvalidInput);
        }
        if self.approval.is_some() {
            return Err(ToolErrorKind::ApprovalDenied);
        }
        match self.body {
            Body::Return(_) => Ok(()),
            Body::Hang => Err(ToolErrorKind::Timeout),
            _ => Err(ToolErrorKind::ExecutionFailed),
        }
    }
}

fn found(ending: &Ending) -> Result<(), ToolErrorKind> {
    match ending {
        Ending::Succeeded => Ok(()),
        Ending::Failed(failure) => Err(failure.kind),
        other => panic!("no script escapes: {other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn every_call_of_a_random_batch_ends_as_the_model_says(
        plans in prop::collection::vec((plan(), any::<bool>()), 0..20),
        bound in 1_usize..6,
        abort_at in prop::option::weighted(0.3, 0_u64..80),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let indexes = |wanted: bool| -> Vec<u32> {
            (0_u32..).zip(&plans).filter(|(_, (_, sequential))| *sequential == wanted).map(|(at, _)| at).collect()
        };
        let scripts = plans.iter().map(|(plan, _)| plan.script()).collect();
        let host = runtime.block_on(batch(scripts, indexes(true), indexes(false), bound, abort_at));

        prop_assert_eq!(host.0.endings.borrow().len(), plans.len(), "each call ends exactly once");
        prop_assert_eq!(host.0.running.get(), 0, "every dispatch was closed");
        prop_assert!(host.0.peak.get() as usize <= bound.max(1));
        for (at, (plan, _)) in (0_u32..).zip(&plans) {
            let ending = found(&host.ending(at));
            let allowed = ending == plan.expected()
                || (abort_at.is_some()
                    && matches!(ending, Err(ToolErrorKind::Aborted | ToolErrorKind::RateLimited)));
            prop_assert!(allowed, "call {} {:?} ended {:?}", at, plan, ending);
        }
    }
}
