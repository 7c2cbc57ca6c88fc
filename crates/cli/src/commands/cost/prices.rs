//! `overtone cost --prices`: the prices in force.

use overtone_core::economy::{PRICES_DATE, Price, PriceTable};
use overtone_core::messages::cli as words;
use overtone_hook::ansi::Text;
use overtone_store::config::Config;
use serde::Serialize;

use crate::context::Context;
use crate::ui::error::{CommandResult, warn};
use crate::ui::out;
use crate::ui::table::{Cell, Table};

/// What a user adds to `config.json`.
const EXAMPLE: &str =
    r#""prices": {"date": "2026-12-01", "models": {"glm-4.6": {"input": 0.6, "output": 2.2}}}"#;

/// The output of `overtone cost --prices --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PricesJson {
    date: &'static str,
    own_date: Option<String>,
    own: Vec<PriceJson>,
    built_in: Vec<PriceJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PriceJson {
    model: String,
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
    #[serde(rename = "cacheWrite1h")]
    cache_write_1h: f64,
}

impl From<&Price> for PriceJson {
    fn from(price: &Price) -> Self {
        Self {
            model: price.model.to_string(),
            input: price.input,
            output: price.output,
            cache_read: price.cache_read,
            cache_write: price.cache_write,
            cache_write_1h: price.cache_write_1h,
        }
    }
}

pub(super) fn run(context: &Context, json: bool) -> CommandResult {
    let home = context.home()?;
    let config = Config::load_or_default(home);
    for model in config.bad_prices() {
        warn(&words::bad_price(context.lang, &model));
    }
    let prices = config.prices();
    let built_in: Vec<_> = PriceTable::built_in().collect();
    if json {
        return out::json(&PricesJson {
            date: PRICES_DATE,
            own_date: prices.own_date().map(str::to_owned),
            own: prices.own().iter().map(PriceJson::from).collect(),
            built_in: built_in.iter().map(PriceJson::from).collect(),
        });
    }
    let lang = context.lang;
    let mut parts = Vec::new();
    if !prices.own().is_empty() {
        let title = words::own_prices(lang, prices.own_date().unwrap_or("–"));
        parts.push(titled(title, table(context, prices.own())));
    }
    parts.push(titled(words::prices_of(lang, PRICES_DATE), table(context, &built_in)));
    let path = home.config_file().display().to_string();
    parts.push(Text::from(words::prices_hint(lang, &path, EXAMPLE) + "\n"));
    out::print(&Text::join(parts, "\n"))
}

fn titled(title: String, table: Text) -> Text {
    Text::join([title.into(), table], "\n")
}

fn table(context: &Context, prices: &[Price]) -> Text {
    let lang = context.lang;
    let mut table = Table::with_head([
        words::head_model(lang),
        words::head_tokens_in(lang),
        words::head_tokens_out(lang),
        words::head_cache_read(lang),
        words::head_cache_write(lang),
        words::head_cache_write_1h(lang),
    ]);
    for price in prices {
        let number = |usd: f64| Cell::new(format!("{usd}")).right();
        table.row([
            Cell::new(&*price.model),
            number(price.input),
            number(price.output),
            number(price.cache_read),
            number(price.cache_write),
            number(price.cache_write_1h),
        ]);
    }
    table.render(context.palette)
}
