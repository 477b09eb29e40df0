//! Sanitising what the model will read (spec 02 section 7.15).

use super::bound::Owned;
use crate::executor::cx::{Cx, Report};
use crate::executor::host::{Field, Held, Host, Text};
use crate::executor::outcome::{Failure, Stop};
use crate::tool::ToolErrorKind;

pub(in crate::executor) async fn run<H: Host>(cx: &Cx<H>, owned: Owned) -> Result<(), Stop> {
    let own = cx.tool.trust.as_str();
    if let Some(producer) = owned.producer.filter(|producer| producer.flagged) {
        let labels = [("toolName", cx.tool.name.as_str()), ("trustClass", producer.trust.as_str())];
        cx.count("tool.inbound.sanitization.cross-page-flag.total", &labels, 1.0);
    }
    let policy = owned.producer.map_or(cx.tool.inbound, |producer| producer.trust.default_inbound());
    let found = cx.host.sanitise(cx.call, policy, owned.trust, cx.tool.fail_closed).await?;
    if found.hits > 0 {
        for pattern in cx.text(Text::Patterns).split(", ") {
            let labels = [("pattern", pattern), ("toolName", &cx.tool.name), ("trustClass", own)];
            cx.count("tool.inbound.sanitization.hit.total", &labels, 1.0);
        }
        let action = match (found.wrapped, found.stripped) {
            (true, _) => "wrapped",
            (false, true) => "stripped",
            (false, false) => "flagged",
        };
        let metadata = [
            ("patterns", Field::Held(Held::Patterns)),
            ("trustClass", Field::Str(own)),
            ("policyAction", Field::Str(action)),
        ];
        cx.row("tool:result:sanitization:hit", "success", &metadata)?;
    }
    if found.blocked {
        cx.count("tool.inbound.sanitization.blocked.total", &[("trustClass", own)], 1.0);
        let metadata = [("trustClass", Field::Str(own)), ("patterns", Field::Held(Held::Patterns))];
        cx.row("tool:result:sanitization:blocked", "denied", &metadata)?;
        let why = match cx.text(Text::Patterns).as_str() {
            "" => "the scan did not finish within its time".to_owned(),
            patterns => format!("patterns: {patterns}"),
        };
        let message = format!("Tool result blocked by inbound sanitization ({why}).");
        let failure = Failure::new(ToolErrorKind::InboundSanitizationBlocked, message);
        return Err(cx.fail(failure, Report::Silent));
    }
    cx.host.metrics().increment_known(&cx.tool.keys().scan_us, found.scan_us);
    let attributes = [
        ("graphorin.tool.inbound.sanitization.scan_duration_us", Field::Num(found.scan_us)),
        ("graphorin.tool.inbound.sanitization.policy", Field::Str(cx.tool.inbound.as_str())),
        ("graphorin.tool.inbound.sanitization.patterns_hit_count", Field::Num(f64::from(found.hits))),
    ];
    cx.contain(cx.host.span_attributes(cx.call, &attributes))
}
