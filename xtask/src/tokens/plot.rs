//! The plot of the page: the input of each session in one language, by its origin.

use std::fmt::Write as _;

use super::page::SHOWN;
use super::results::{Bill, ORIGINS, Results, Session};

/// Lengths in pixels.
const WIDTH: u64 = 860;
const LEFT: u64 = 190;
const BAR_WIDTH: u64 = 590;
const BAR_HEIGHT: u64 = 16;
const LINE: u64 = 24;
const TOP: u64 = 64;

/// A colour for each origin, in the order of [`ORIGINS`]. They can be told apart on light and on dark pages.
const STYLE: &str = "<style>
  text { font: 12px system-ui, sans-serif; fill: #1f2328; } rect.page { fill: #fff; }
  .client { fill: #8c959f; } .always-on { fill: #8250df; } .pages { fill: #2f6fd0; }
  .agents { fill: #0d9488; } .injected { fill: #d97706; } .work { fill: #4d8b31; }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } rect.page { fill: #0d1117; } }
</style>";

pub(super) fn render(results: &Results) -> String {
    let shown: Vec<_> = results.bills().filter(|(session, _)| session.language == SHOWN).collect();
    let most = shown.iter().map(|(_, bill)| bill.tokens()).max().unwrap_or(1).max(1);
    let (mut bars, mut y) = (String::new(), TOP);
    for (session, bill) in shown {
        bars += &bar(session, bill, most, y);
        y += LINE;
    }
    let title = "Input tokens of each session by their origin";
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" width=\"{WIDTH}\" height=\"{y}\" \
         viewBox=\"0 0 {WIDTH} {y}\">\n<title>{title}</title>\n{STYLE}\n<rect class=\"page\" width=\"{WIDTH}\" \
         height=\"{y}\"/>\n<text x=\"20\" y=\"24\">{title}</text>\n{}{bars}</svg>\n",
        legend(),
    )
}

fn legend() -> String {
    let (mut text, mut x) = (String::new(), LEFT);
    for (origin, _) in ORIGINS {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "<rect class=\"{origin}\" x=\"{x}\" y=\"36\" width=\"12\" height=\"12\"/><text x=\"{}\" y=\"46\">{origin}</text>",
            x + 17
        );
        x += 98;
    }
    text
}

/// One session: its name, a stacked bar, and the sum.
fn bar(session: &Session, bill: &Bill, most: u64, y: u64) -> String {
    let name = match session.profile.as_str() {
        "default" => session.run.clone(),
        profile => format!("{} {profile}", session.run),
    };
    let baseline = y + 12;
    let mut text = format!("<text x=\"{}\" y=\"{baseline}\" text-anchor=\"end\">{name}</text>", LEFT - 8);
    let (mut x, mut sum) = (LEFT, 0);
    for (origin, _) in ORIGINS {
        sum += bill.origin(origin).tokens;
        // From the sum, so that the widths of small parts do not lose what is rounded.
        let end = LEFT + sum * BAR_WIDTH / most;
        if end > x {
            let _ = write!(
                text,
                "<rect class=\"{origin}\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{BAR_HEIGHT}\"/>",
                end - x
            );
        }
        x = end;
    }
    let _ = writeln!(text, "<text x=\"{}\" y=\"{baseline}\">{}k</text>", x + 6, (sum + 500) / 1000);
    text
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::results;
    use super::*;

    #[test]
    fn the_longest_bar_has_the_full_width_and_the_others_their_share() {
        let plot = render(&results());
        assert!(plot.contains("<rect class=\"client\" x=\"190\" y=\"112\" width=\"505\""), "{plot}");
        assert!(plot.contains("<rect class=\"pages\" x=\"695\" y=\"112\" width=\"85\""), "{plot}");
        assert!(
            plot.contains(">plain</text><rect class=\"client\" x=\"190\" y=\"64\" width=\"168\""),
            "{plot}"
        );
        assert!(!plot.contains("lean"));
    }
}
