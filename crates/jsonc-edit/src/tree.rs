//! The values of a text with their byte ranges. Nothing here changes a text.

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Number, Value};

use crate::SettingsErrorKind;
use crate::trivia::{self, TextError};

/// A value and the bytes it is written in.
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar(Value),
}

/// A key of an object and its value. If a key occurs more than once, the last one is used.
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
}

/// The value of a text; `None` if there is only white space and comments.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, TextError> {
    trivia::check(text)?;
    let parsed = parse_to_ast(text, &CollectOptions::default(), &json_with_comments()).map_err(|error| {
        TextError { offset: error.range().start, kind: SettingsErrorKind::Syntax(describe(error.kind())) }
    })?;
    let root = parsed.value.as_ref().map(Node::from);
    match root {
        Some(Node { span, kind: Kind::Array(_) | Kind::Scalar(_) }) => {
            Err(TextError { offset: span.start, kind: SettingsErrorKind::TopLevel })
        }
        root => Ok(root),
    }
}

/// JSON with comments and trailing commas, without the other extensions that the parser supports.
fn json_with_comments() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// The parser's message, except where it would quote the file.
fn describe(kind: &ParseErrorKind) -> String {
    match kind {
        ParseErrorKind::String(_) => "invalid escape in a string".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

impl From<&ast::Value<'_>> for Node {
    fn from(value: &ast::Value<'_>) -> Self {
        let kind = match value {
            ast::Value::Object(object) => Kind::Object(object.properties.iter().map(Member::from).collect()),
            ast::Value::Array(array) => Kind::Array(array.elements.iter().map(Self::from).collect()),
            ast::Value::StringLit(text) => Kind::Scalar(Value::from(text.value.as_ref())),
            ast::Value::NumberLit(number) => Kind::Scalar(number_value(number.value)),
            ast::Value::BooleanLit(flag) => Kind::Scalar(Value::Bool(flag.value)),
            ast::Value::NullKeyword(_) => Kind::Scalar(Value::Null),
        };
        Self { span: value.start()..value.end(), kind }
    }
}

impl From<&ast::ObjectProp<'_>> for Member {
    fn from(property: &ast::ObjectProp<'_>) -> Self {
        let name = &property.name;
        Self {
            key: name.as_str().to_owned(),
            key_span: name.start()..name.end(),
            value: Node::from(&property.value),
        }
    }
}

/// A number that this program cannot represent reads as null. The file keeps it as it is written.
fn number_value(digits: &str) -> Value {
    match digits.parse::<Number>() {
        Ok(number) => Value::Number(number),
        Err(_) => Value::Null,
    }
}

impl Member {
    pub(crate) fn span(&self) -> Range<usize> {
        self.key_span.start..self.value.span.end
    }
}

impl Node {
    /// The member with this key that is in effect.
    pub(crate) fn member(&self, key: &str) -> Option<&Member> {
        self.members().iter().rfind(|member| member.key == key)
    }

    pub(crate) fn members(&self) -> &[Member] {
        if let Kind::Object(members) = &self.kind { members } else { &[] }
    }

    pub(crate) fn elements(&self) -> Option<&[Node]> {
        if let Kind::Array(elements) = &self.kind { Some(elements) } else { None }
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.kind, Kind::Object(_))
    }

    /// The byte ranges of the members or elements.
    pub(crate) fn entries(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => members.iter().map(Member::span).collect(),
            Kind::Array(elements) => elements.iter().map(|element| element.span.clone()).collect(),
            Kind::Scalar(_) => Vec::new(),
        }
    }

    /// The byte range between the brackets of an object or array.
    pub(crate) fn inner(&self) -> Range<usize> {
        self.span.start + 1..self.span.end - 1
    }

    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => Value::Object(
                members.iter().map(|m| (m.key.clone(), m.value.to_value())).collect::<Map<_, _>>(),
            ),
            Kind::Array(elements) => elements.iter().map(Self::to_value).collect(),
            Kind::Scalar(value) => value.clone(),
        }
    }
}
