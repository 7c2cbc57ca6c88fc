//! The languages.

/// A language that every message exists in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lang {
    #[default]
    ZhTw,
    ZhCn,
    En,
}

impl Lang {
    pub const ALL: [Self; 3] = [Self::ZhTw, Self::ZhCn, Self::En];

    /// The name used in `config.json` and `OVERTONE_LANG`.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::ZhTw => "zh-TW",
            Self::ZhCn => "zh-CN",
            Self::En => "en",
        }
    }

    /// Reads a tag as people write it: `zh-tw`, `zh_TW.UTF-8`, `en_US`.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let tag = tag.split('.').next().unwrap_or_default().replace('_', "-").to_ascii_lowercase();
        match tag.as_str() {
            "zh" | "zh-tw" | "zh-hant" | "zh-hk" | "zh-mo" => Some(Self::ZhTw),
            "zh-cn" | "zh-hans" | "zh-sg" => Some(Self::ZhCn),
            "en" => Some(Self::En),
            other => other.starts_with("en-").then_some(Self::En),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_round_trip_and_locales_are_understood() {
        for lang in Lang::ALL {
            assert_eq!(Lang::from_tag(lang.tag()), Some(lang));
        }
        assert_eq!(Lang::from_tag("zh_TW.UTF-8"), Some(Lang::ZhTw));
        assert_eq!(Lang::from_tag("en_US.UTF-8"), Some(Lang::En));
        assert_eq!(Lang::from_tag("klingon"), None);
    }
}
