//! Tables and numbers of the pages that measurements write.

/// A Markdown table whose columns are aligned for a terminal, without columns that are empty in all lines. The first
/// `texts` columns are left-aligned.
pub(crate) fn table<const N: usize>(
    heads: [&str; N],
    texts: usize,
    lines: impl Iterator<Item = [String; N]>,
) -> String {
    let lines: Vec<_> = lines.collect();
    let mut text = [String::new(), String::new()];
    let mut body = vec![String::new(); lines.len()];
    for (column, head) in heads.into_iter().enumerate() {
        let longest = lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        if longest == 0 {
            continue;
        }
        let (width, is_text) = (longest.max(head.chars().count()), column < texts);
        let pad = |cell: &str| {
            if is_text { format!("| {cell:<width$} ") } else { format!("| {cell:>width$} ") }
        };
        text[0] += &pad(head);
        text[1].push('|');
        text[1] += &"-".repeat(width + 1);
        text[1].push(if is_text { '-' } else { ':' });
        for (row, line) in body.iter_mut().zip(&lines) {
            *row += &pad(&line[column]);
        }
    }
    text.into_iter().chain(body).map(|line| line + "|\n").collect()
}

/// Whole and large numbers without decimals, in groups of three digits.
pub(crate) fn number(value: f64) -> String {
    if value < 1000.0 {
        return if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") };
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_columns_aligned() {
        assert_eq!([7.0, 1.234, 40.0, 123_456.0].map(number), ["7", "1.23", "40", "123,456"]);
        let line = ["x", "", "10"].map(str::to_owned);
        let text = table(["a", "empty", "b"], 1, [line].into_iter());
        assert_eq!(text, "| a |  b |\n|---|---:|\n| x | 10 |\n");
    }
}
