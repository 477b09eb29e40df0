//! Bounding the body, and whose body it is (spec 02 section 7.14).

use crate::executor::cx::Cx;
use crate::executor::host::{BoundPlan, Field, Host, Producer, Text, Unpacked};
use crate::executor::outcome::Stop;
use crate::tool::{TruncationStrategy, TrustClass};

/// Whose data the result is, after bounding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::executor) struct Owned {
    /// The untrusted producer of a stored result that was read back.
    pub producer: Option<Producer>,
    /// The class everything downstream goes by.
    pub trust: TrustClass,
}

pub(in crate::executor) async fn run<H: Host>(cx: &Cx<H>, unpacked: &Unpacked) -> Result<Owned, Stop> {
    for kind in cx.host.part_kinds(cx.call) {
        let name = format!("graphorin.tool.result.contentpart.kind.{kind}");
        cx.contain(cx.host.span_attributes(cx.call, &[(&name, Field::Bool(true))]))?;
    }
    let producer = unpacked.producer;
    let owned = Owned { producer, trust: producer.map_or(cx.tool.trust, |p| p.trust) };
    let sensitivity = producer.and_then(|p| p.sensitivity).or(cx.tool.sensitivity);
    let structured = !unpacked.text && !unpacked.undefined;
    let strategy = match cx.tool.truncation {
        TruncationStrategy::Middle if structured => TruncationStrategy::SpillToFile,
        declared => declared,
    };
    let max_tokens = cx.tool.max_result_tokens;
    let attributes = [
        ("graphorin.tool.result.truncation.strategy", Field::Str(strategy.as_str())),
        ("graphorin.tool.result.truncation.source", Field::Str("tool")),
        ("graphorin.tool.result.max_tokens", Field::Num(max_tokens)),
    ];
    cx.contain(cx.host.span_attributes(cx.call, &attributes))?;
    let plan = BoundPlan { strategy, max_tokens, sensitivity, trust: owned.trust };
    bound(cx, &plan).await?;
    Ok(owned)
}

async fn bound<H: Host>(cx: &Cx<H>, plan: &BoundPlan) -> Result<(), Stop> {
    let bounded = cx.host.bound(cx.call, plan).await?;
    if bounded.degraded {
        cx.callback_failed();
    }
    let applied = [("graphorin.tool.result.truncation.applied", Field::Bool(bounded.truncated))];
    cx.contain(cx.host.span_attributes(cx.call, &applied))?;
    cx.host.metrics().observe_known(&cx.tool.keys().size_tokens, bounded.original_tokens);
    let artifact = bounded.artifact_bytes.map(|bytes| (cx.text(Text::ArtifactPath), bytes));
    if bounded.truncated {
        let labels = [("strategy", bounded.strategy.as_str()), ("toolName", cx.tool.name.as_str())];
        cx.count("tool.result.truncation.applied.total", &labels, 1.0);
        cx.count("tool.result.truncation.bytes-dropped.total", &labels, bounded.units_dropped);
        let model = bounded.summarized.then(|| cx.text(Text::SummarizerModel));
        let mut metadata = vec![
            ("strategy", Field::Str(bounded.strategy.as_str())),
            ("originalTokens", Field::Num(bounded.original_tokens)),
            ("keptTokens", Field::Num(bounded.kept_tokens)),
            ("droppedTokens", Field::Num(bounded.dropped_tokens)),
        ];
        if let Some((path, _)) = &artifact {
            metadata.push(("artifactPath", Field::Str(path)));
        }
        if let Some(model) = &model {
            metadata.push(("summarizerModel", Field::Str(model)));
        }
        cx.row("tool:result:truncated", "success", &metadata)?;
    }
    if let Some((path, bytes)) = &artifact {
        let metadata = [("artifactPath", Field::Str(path)), ("byteCount", Field::Num(*bytes))];
        cx.row("tool:result:spill:written", "success", &metadata)?;
        cx.count_tool("tool.result.spill.written.total");
        cx.count("tool.result.spill.bytes.total", &[("toolName", &cx.tool.name)], *bytes);
    }
    Ok(())
}
