//! What has ended and what was counted, as the messages of OTLP.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Metric as Measured, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum, metric,
    number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use overtone_engine::state::Millis;

use crate::ids::Ids;
use crate::totals::{Metric, Series, Totals};
use crate::trail::{Attribute, Finished, Judgement};

/// Who sends.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) machine: String,
    pub(crate) version: &'static str,
    /// Tells homes on one machine apart.
    pub(crate) instance: String,
}

impl Origin {
    /// `more`: what is only true of one session.
    fn resource(&self, more: &[(&str, &str)]) -> Resource {
        let own = [
            ("service.name", "overtone"),
            ("service.version", self.version),
            ("service.instance.id", &*self.instance),
            ("host.name", &*self.machine),
        ];
        let attributes = own.iter().chain(more).map(|(key, value)| text(key, value)).collect();
        Resource { attributes, ..Resource::default() }
    }

    fn scope(&self) -> InstrumentationScope {
        InstrumentationScope {
            name: "overtone".to_owned(),
            version: self.version.to_owned(),
            ..InstrumentationScope::default()
        }
    }

    pub(crate) fn traces(
        &self,
        session: &str,
        project: Option<&str>,
        ids: &Ids,
        finished: &[Finished],
    ) -> ExportTraceServiceRequest {
        let mut more = vec![("overtone.session", session)];
        more.extend(project.map(|project| ("overtone.project", project)));
        let spans = finished.iter().map(|one| span(ids, one)).collect();
        let scope_spans = vec![ScopeSpans { scope: Some(self.scope()), spans, ..ScopeSpans::default() }];
        let resource = Some(self.resource(&more));
        let all = ResourceSpans { resource, scope_spans, ..ResourceSpans::default() };
        ExportTraceServiceRequest { resource_spans: vec![all] }
    }

    pub(crate) fn metrics(&self, totals: &Totals, since: Millis, now: Millis) -> ExportMetricsServiceRequest {
        let measured = |metric: Metric| measured(metric, totals, since, now);
        let metrics = Metric::ALL.into_iter().filter_map(measured).collect();
        let scope_metrics =
            vec![ScopeMetrics { scope: Some(self.scope()), metrics, ..ScopeMetrics::default() }];
        let resource = Some(self.resource(&[]));
        let all = ResourceMetrics { resource, scope_metrics, ..ResourceMetrics::default() };
        ExportMetricsServiceRequest { resource_metrics: vec![all] }
    }
}

fn span(ids: &Ids, one: &Finished) -> Span {
    Span {
        trace_id: ids.trace(one.trace),
        span_id: ids.span(one.place),
        parent_span_id: one.parent.map(|place| ids.span(place)).unwrap_or_default(),
        name: one.name.clone(),
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: nanos(one.start),
        end_time_unix_nano: nanos(one.end),
        attributes: one.attributes.iter().map(|(key, value)| attribute(key, value)).collect(),
        status: Some(status(one.judgement)),
        ..Span::default()
    }
}

fn status(judgement: Judgement) -> Status {
    let (code, message) = match judgement {
        Judgement::Good => (StatusCode::Ok, ""),
        Judgement::Unknown => (StatusCode::Unset, ""),
        Judgement::Bad(message) => (StatusCode::Error, message),
    };
    Status { code: code.into(), message: message.to_owned() }
}

/// A metric without any sum is left out.
fn measured(metric: Metric, totals: &Totals, since: Millis, now: Millis) -> Option<Measured> {
    let data_points: Vec<_> = totals.of(metric).map(|series| point(metric, &series, since, now)).collect();
    let sum = Sum {
        data_points,
        aggregation_temporality: AggregationTemporality::Cumulative.into(),
        is_monotonic: true,
    };
    (!sum.data_points.is_empty()).then(|| Measured {
        name: metric.name().to_owned(),
        unit: metric.unit().to_owned(),
        data: Some(metric::Data::Sum(sum)),
        ..Measured::default()
    })
}

#[allow(clippy::cast_possible_truncation, reason = "sums of whole numbers, far below 2^52")]
fn point(metric: Metric, series: &Series, since: Millis, now: Millis) -> NumberDataPoint {
    let value = if metric.is_whole() {
        number_data_point::Value::AsInt(series.value as i64)
    } else {
        number_data_point::Value::AsDouble(series.value)
    };
    let all = [
        (Some("overtone.workflow"), series.workflow),
        (Some("overtone.stage"), series.stage),
        (metric.detail(), series.detail),
    ];
    let known = all.into_iter().filter(|(_, value)| !value.is_empty());
    NumberDataPoint {
        attributes: known.filter_map(|(key, value)| Some(text(key?, value))).collect(),
        start_time_unix_nano: nanos(since),
        time_unix_nano: nanos(now),
        value: Some(value),
        ..NumberDataPoint::default()
    }
}

fn attribute(key: &str, value: &Attribute) -> KeyValue {
    let value = match value {
        Attribute::Text(text) => Value::StringValue(text.clone()),
        Attribute::Whole(number) => Value::IntValue(*number),
        Attribute::Number(number) => Value::DoubleValue(*number),
        Attribute::Flag(flag) => Value::BoolValue(*flag),
    };
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, &Attribute::Text(value.to_owned()))
}

fn nanos(at: Millis) -> u64 {
    u64::try_from(at.0).unwrap_or_default().saturating_mul(1_000_000)
}
