//! Converts finished spans and totals to OTLP messages.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Metric as MetricMessage, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum,
    metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use overtone_core::engine::state::Millis;

use crate::telemetry::ids::Ids;
use crate::telemetry::totals::{Metric, Series, Totals};
use crate::telemetry::tracker::{Attribute, FinishedSpan, SpanStatus};

/// The sender, as it is described in every message.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) machine: String,
    pub(crate) version: &'static str,
    /// Distinguishes several homes on one machine.
    pub(crate) instance: String,
}

impl Sender {
    /// `session` holds the attributes that apply to one session only.
    fn resource(&self, session: &[(&str, &str)]) -> Resource {
        let own = [
            ("service.name", "overtone"),
            ("service.version", self.version),
            ("service.instance.id", &*self.instance),
            ("host.name", &*self.machine),
        ];
        let attributes = own.iter().chain(session).map(|(key, value)| text_attribute(key, value)).collect();
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
        finished: &[FinishedSpan],
    ) -> ExportTraceServiceRequest {
        let mut attributes = vec![("overtone.session", session)];
        if let Some(project) = project {
            attributes.push(("overtone.project", project));
        }
        let spans = finished.iter().map(|finished| span(ids, finished)).collect();
        let scope_spans = vec![ScopeSpans { scope: Some(self.scope()), spans, ..ScopeSpans::default() }];
        let resource = Some(self.resource(&attributes));
        let resource_spans = ResourceSpans { resource, scope_spans, ..ResourceSpans::default() };
        ExportTraceServiceRequest { resource_spans: vec![resource_spans] }
    }

    pub(crate) fn metrics(&self, totals: &Totals, since: Millis, now: Millis) -> ExportMetricsServiceRequest {
        let metrics =
            Metric::ALL.into_iter().filter_map(|metric| metric_message(metric, totals, since, now)).collect();
        let scope_metrics =
            vec![ScopeMetrics { scope: Some(self.scope()), metrics, ..ScopeMetrics::default() }];
        let resource = Some(self.resource(&[]));
        let resource_metrics = ResourceMetrics { resource, scope_metrics, ..ResourceMetrics::default() };
        ExportMetricsServiceRequest { resource_metrics: vec![resource_metrics] }
    }
}

fn span(ids: &Ids, finished: &FinishedSpan) -> Span {
    Span {
        trace_id: ids.trace(finished.trace),
        span_id: ids.span(finished.offset),
        parent_span_id: finished.parent.map(|offset| ids.span(offset)).unwrap_or_default(),
        name: finished.name.clone(),
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: nanos(finished.start),
        end_time_unix_nano: nanos(finished.end),
        attributes: finished.attributes.iter().map(|(key, value)| attribute(key, value)).collect(),
        status: Some(status(finished.status)),
        ..Span::default()
    }
}

fn status(status: SpanStatus) -> Status {
    let (code, message) = match status {
        SpanStatus::Ok => (StatusCode::Ok, ""),
        SpanStatus::Unset => (StatusCode::Unset, ""),
        SpanStatus::Error(message) => (StatusCode::Error, message),
    };
    Status { code: code.into(), message: message.to_owned() }
}

/// Returns `None` for a metric without data points.
fn metric_message(metric: Metric, totals: &Totals, since: Millis, now: Millis) -> Option<MetricMessage> {
    let data_points: Vec<_> =
        totals.series(metric).map(|series| data_point(metric, &series, since, now)).collect();
    if data_points.is_empty() {
        return None;
    }
    let sum = Sum {
        data_points,
        aggregation_temporality: AggregationTemporality::Cumulative.into(),
        is_monotonic: true,
    };
    Some(MetricMessage {
        name: metric.name().to_owned(),
        unit: metric.unit().to_owned(),
        data: Some(metric::Data::Sum(sum)),
        ..MetricMessage::default()
    })
}

#[allow(clippy::cast_possible_truncation, reason = "sums of whole numbers, far below 2^52")]
fn data_point(metric: Metric, series: &Series, since: Millis, now: Millis) -> NumberDataPoint {
    let value = if metric.is_integer() {
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
        attributes: known.filter_map(|(key, value)| Some(text_attribute(key?, value))).collect(),
        start_time_unix_nano: nanos(since),
        time_unix_nano: nanos(now),
        value: Some(value),
        ..NumberDataPoint::default()
    }
}

fn attribute(key: &str, value: &Attribute) -> KeyValue {
    let value = match value {
        Attribute::Text(text) => Value::StringValue(text.clone()),
        Attribute::Integer(number) => Value::IntValue(*number),
        Attribute::Float(number) => Value::DoubleValue(*number),
        Attribute::Bool(flag) => Value::BoolValue(*flag),
    };
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn text_attribute(key: &str, value: &str) -> KeyValue {
    attribute(key, &Attribute::Text(value.to_owned()))
}

fn nanos(at: Millis) -> u64 {
    u64::try_from(at.0).unwrap_or_default().saturating_mul(1_000_000)
}
