//! The sandbox tier the tool runs in (spec 02 section 7.10). Signal, channel and context are opened by
//! the host for the first callback that needs them.

use crate::executor::cx::Cx;
use crate::executor::host::{Field, Host};
use crate::executor::outcome::Stop;
use crate::executor::tier::Tier;

pub(in crate::executor) fn resolve<H: Host>(cx: &Cx<H>) -> Result<Tier, Stop> {
    let tier = cx.tool.tier(cx.batch);
    cx.host.span_attributes(
        cx.call,
        &[
            ("graphorin.tool.sandbox.kind", Field::Str(tier.kind.as_str())),
            ("graphorin.tool.sandbox.forced", Field::Bool(tier.forced)),
            ("graphorin.tool.sandbox.no_network", Field::Bool(tier.no_network)),
            ("graphorin.tool.sandbox.no_filesystem", Field::Bool(tier.no_filesystem)),
        ],
    )?;
    // OpenTelemetry's name for what every tool of ours is; apart from the attributes section 17 lists.
    cx.host.span_attributes(cx.call, &[("gen_ai.tool.type", Field::Str("function"))])?;
    Ok(tier)
}
