//! The times as a picture: one bar for each of our calls in a typical session, between the yardsticks and other people's
//! hooks.
//!
//! The scale is logarithmic: on a linear one a hook of ours beside one for Node would be no more than a line.

use std::fmt::Write as _;

use super::role::{Baseline, Role};
use super::rows::Row;
use super::scale::Scale;
use super::state::{Class, State};

const WIDTH: f64 = 860.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 70.0;
const TOP: f64 = 86.0;
const STEP: f64 = 22.0;
const BAR: f64 = 14.0;
const BOTTOM: f64 = 34.0;

/// Colours for a light page, and for a dark one.
const STYLE: &str = "\
<style>
  svg { --page: #ffffff; --ink: #1f2328; --pale: #59636e; --line: #d8dee4;
        --yardstick: #8c959f; --reading: #0d7d6c; --writing: #2f6fd0; --other: #c4591a; }
  @media (prefers-color-scheme: dark) {
    svg { --page: #0d1117; --ink: #e6edf3; --pale: #9198a1; --line: #2a313a;
          --yardstick: #848d97; --reading: #2fb59f; --writing: #6ea8fe; --other: #f0883e; }
  }
  text { font: 12px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: var(--ink); }
  .title { font-size: 15px; font-weight: 600; }
  .pale { fill: var(--pale); font-size: 11px; paint-order: stroke; stroke: var(--page); stroke-width: 4px; }
  .page { fill: var(--page); }
  .line { stroke: var(--line); }
  .mark { stroke: var(--pale); stroke-dasharray: 4 3; }
  .yardstick { fill: var(--yardstick); } .reading { fill: var(--reading); }
  .writing { fill: var(--writing); } .other { fill: var(--other); }
</style>
";

/// What a bar belongs to, by colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Yardstick,
    Reading,
    Writing,
    Other,
}

impl Group {
    const ALL: [Self; 4] = [Self::Yardstick, Self::Reading, Self::Writing, Self::Other];

    fn of(role: Role) -> Option<Self> {
        match (role, role.class()) {
            (Role::Baseline(_), _) => Some(Self::Yardstick),
            (Role::Rival(_), _) => Some(Self::Other),
            (Role::Case(_, State::Typical), Some(Class::Reading)) => Some(Self::Reading),
            (Role::Case(_, State::Typical), Some(Class::Writing)) => Some(Self::Writing),
            _ => None,
        }
    }

    const fn style(self) -> &'static str {
        match self {
            Self::Yardstick => "yardstick",
            Self::Reading => "reading",
            Self::Writing => "writing",
            Self::Other => "other",
        }
    }

    const fn legend(self) -> &'static str {
        match self {
            Self::Yardstick => "yardsticks",
            Self::Reading => "overtone, reading",
            Self::Writing => "overtone, writing",
            Self::Other => "hooks in other languages",
        }
    }
}

struct Bar {
    name: String,
    group: Group,
    milliseconds: f64,
}

/// The picture, or nothing when no times were measured.
pub(crate) fn render(rows: &[Row]) -> Option<String> {
    let bars = bars(rows);
    let scale = Scale::covering(bars.iter().map(|bar| bar.milliseconds), (LEFT, WIDTH - RIGHT))?;
    let height = TOP + STEP * to_float(bars.len()) + BOTTOM;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" aria-label=\"Time of one start in milliseconds\">\n{STYLE}\
         <rect class=\"page\" width=\"{WIDTH}\" height=\"{height}\" rx=\"6\"/>\n"
    );
    svg += &heading();
    svg += &grid(&scale, height - BOTTOM);
    svg += &mark(rows, &scale, height - BOTTOM);
    for (index, bar) in bars.iter().enumerate() {
        svg += &drawn(bar, &scale, TOP + STEP * to_float(index));
    }
    Some(svg + "</svg>\n")
}

/// From the fastest to the slowest within each group.
fn bars(rows: &[Row]) -> Vec<Bar> {
    let bar = |row: &Row| {
        let milliseconds = row.time?.measured.p10.as_secs_f64() * 1000.0;
        Some(Bar { name: row.role.name(), group: Group::of(row.role)?, milliseconds })
    };
    let mut bars: Vec<_> = rows.iter().filter_map(bar).collect();
    let place = |group: Group| Group::ALL.iter().position(|other| *other == group);
    bars.sort_by(|a, b| place(a.group).cmp(&place(b.group)).then(a.milliseconds.total_cmp(&b.milliseconds)));
    bars
}

fn heading() -> String {
    let mut text =
        "<text class=\"title\" x=\"20\" y=\"28\">One start, in milliseconds (10th percentile, logarithmic \
                    scale, typical session)</text>\n"
            .to_owned();
    let mut x = 20.0;
    for group in Group::ALL {
        // Writing to a string cannot fail; so below.
        let _ = writeln!(
            text,
            "<rect class=\"{}\" x=\"{x}\" y=\"41\" width=\"11\" height=\"11\" rx=\"2\"/><text class=\"pale\" x=\"{}\" \
             y=\"51\">{}</text>",
            group.style(),
            x + 17.0,
            group.legend()
        );
        x += 40.0 + 6.2 * to_float(group.legend().len());
    }
    text
}

fn grid(scale: &Scale, bottom: f64) -> String {
    let top = TOP - 6.0;
    let line = |tick: f64| {
        let x = scale.at(tick);
        format!(
            "<line class=\"line\" x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\"/><text class=\"pale\" \
             x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{tick}</text>\n",
            bottom + 16.0
        )
    };
    scale.ticks().map(line).collect()
}

fn drawn(bar: &Bar, scale: &Scale, y: f64) -> String {
    let (end, text) = (scale.at(bar.milliseconds), y + BAR - 3.0);
    format!(
        "<text x=\"{}\" y=\"{text}\" text-anchor=\"end\">{}</text><rect class=\"{}\" x=\"{LEFT}\" y=\"{y}\" \
         width=\"{:.1}\" height=\"{BAR}\" rx=\"2\"/><text class=\"pale\" x=\"{:.1}\" y=\"{text}\">{}</text>\n",
        LEFT - 8.0,
        bar.name,
        bar.group.style(),
        end - LEFT,
        end + 6.0,
        shown(bar.milliseconds)
    )
}

/// Where `/bin/true` is, behind all bars.
fn mark(rows: &[Row], scale: &Scale, bottom: f64) -> String {
    let time = rows.iter().find(|row| row.role.is(Baseline::True)).and_then(|row| row.time);
    let line = |milliseconds: f64| {
        let x = scale.at(milliseconds);
        format!(
            "<line class=\"mark\" x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{bottom}\"/><text class=\"pale\" \
             x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">/bin/true</text>\n",
            TOP - 6.0,
            TOP - 11.0
        )
    };
    time.map(|time| line(time.measured.p10.as_secs_f64() * 1000.0)).unwrap_or_default()
}

/// Three digits say enough.
fn shown(milliseconds: f64) -> String {
    if milliseconds < 10.0 { format!("{milliseconds:.2}") } else { format!("{milliseconds:.1}") }
}

fn to_float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::{example, without_times};
    use super::*;

    #[test]
    fn yardsticks_come_first_and_others_last() {
        let names: Vec<_> = bars(&example()).into_iter().map(|bar| bar.name).collect();
        assert_eq!(names, ["floor", "/bin/true", "pre-task (refused)", "Node hook"]);
    }

    #[test]
    fn a_bar_is_as_long_as_its_time_on_the_scale() {
        let svg = render(&example()).unwrap();
        let widths: Vec<f64> = svg
            .lines()
            .filter(|line| line.contains("text-anchor=\"end\""))
            .map(|line| line.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .collect();
        assert_eq!(widths.len(), 4);
        // 0.4, 1, 0.5 and 60 ms.
        assert!(widths[0] < widths[2] && widths[2] < widths[1] && widths[1] < widths[3], "{widths:?}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn without_times_there_is_no_picture() {
        let rows = without_times();
        assert!(render(&rows).is_none());
    }
}
