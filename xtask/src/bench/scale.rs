//! A logarithmic axis.

/// From a value to a place in the picture.
#[derive(Debug)]
pub(crate) struct Scale {
    first: f64,
    last: f64,
    from: f64,
    to: f64,
}

/// The round numbers of each power of ten.
const ROUND: [f64; 3] = [1.0, 2.0, 5.0];

impl Scale {
    /// An axis with room for all values; none when there are none to speak of.
    pub(crate) fn covering(values: impl Iterator<Item = f64>, (from, to): (f64, f64)) -> Option<Self> {
        let (least, most) = values
            .filter(|value| value.is_normal() && *value > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
        // The shortest bar is to be seen, too.
        (least <= most).then(|| Self { first: round_below(least / 2.0), last: most, from, to })
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let part = (value / self.first).ln() / (self.last / self.first).ln();
        self.from + part * (self.to - self.from)
    }

    pub(crate) fn ticks(&self) -> impl Iterator<Item = f64> {
        let decades = (-4..7).map(|power| 10_f64.powi(power));
        let all = decades.flat_map(|decade| ROUND.map(|round| tidy(round * decade)));
        all.filter(|tick| *tick >= self.first * 0.999 && *tick <= self.last)
    }
}

fn round_below(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let round = ROUND.into_iter().rev().find(|round| round * decade <= value * 1.000_001);
    tidy(round.unwrap_or(1.0) * decade)
}

/// Without the noise of a float's last digits.
fn tidy(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ratios_are_equal_distances() {
        let scale = Scale::covering([2.0, 100.0].into_iter(), (0.0, 200.0)).unwrap();
        assert!((scale.at(1.0) - 0.0).abs() < 1e-9 && (scale.at(10.0) - 100.0).abs() < 1e-9);
        assert!((scale.at(100.0) - 200.0).abs() < 1e-9);
        assert!(scale.ticks().eq([1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]));
    }

    #[test]
    fn small_values_have_an_axis_too_and_none_have_none() {
        let scale = Scale::covering([0.45, 3.0].into_iter(), (0.0, 1.0)).unwrap();
        assert!(scale.ticks().eq([0.2, 0.5, 1.0, 2.0]));
        assert!(Scale::covering([0.0].into_iter(), (0.0, 1.0)).is_none());
    }
}
