//! Builds the front matter of agents and skills: `key: text` and `key: [a, b]`. It is read by
//! [`overtone_store::front_matter`].

use std::fmt;

use overtone_store::front_matter::Field;

/// The fields in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FrontMatterBuilder {
    fields: Vec<(String, Field)>,
}

impl FrontMatterBuilder {
    pub(crate) fn text(mut self, key: &str, value: &str) -> Self {
        self.fields.push((key.to_owned(), Field::Text(value.to_owned())));
        self
    }

    pub(crate) fn list<'a>(mut self, key: &str, items: impl IntoIterator<Item = &'a str>) -> Self {
        let items = items.into_iter().map(str::to_owned).collect();
        self.fields.push((key.to_owned(), Field::List(items)));
        self
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, field)| field)
    }
}

impl fmt::Display for FrontMatterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "---")?;
        for (key, field) in &self.fields {
            writeln!(f, "{key}: {field}")?;
        }
        writeln!(f, "---")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parser_reads_what_is_built() {
        let built = FrontMatterBuilder::default()
            .text("name", "tester")
            .text("description", "Use it so: \"now\" # really")
            .text("argument-hint", "[request]")
            .list("tools", ["Read", "Bash"])
            .list("none", []);
        let source = format!("{built}body\n");
        assert!(source.contains("tools: [Read, Bash]\n"), "{source}");
        assert!(source.contains("argument-hint: \"[request]\"\n"), "{source}");
        let found = overtone_store::front_matter::FrontMatter::parse(source.as_bytes()).unwrap();
        for key in ["name", "argument-hint", "tools", "none"] {
            assert_eq!(found.field(key).as_ref(), built.get(key), "{key}");
        }
        assert_eq!(found.get("description").unwrap(), r#"Use it so: \"now\" # really"#);
        assert_eq!(found.body(), b"body\n");
    }
}
