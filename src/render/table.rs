//! Plain text tables: columns as wide as their widest cell, two blanks between them.

use super::{fit, WIDTH};

/// How a column is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A table under construction.
#[derive(Clone, Debug)]
pub struct Table {
    indent: usize,
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new(indent: usize, columns: &[(&str, Align)]) -> Self {
        Self { indent, columns: columns.iter().map(|(n, a)| ((*n).to_string(), *a)).collect(), rows: Vec::new() }
    }

    /// Adds a row; missing cells are empty.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// The table as text. Where it is wider than a page its first column is cut.
    pub fn print(&self) -> String {
        let wide = |s: &str| s.chars().count();
        let mut width: Vec<usize> = self.columns.iter().map(|c| wide(&c.0)).collect();
        for row in &self.rows {
            for (w, cell) in width.iter_mut().zip(row) {
                *w = (*w).max(wide(cell));
            }
        }
        let total = self.indent + width.iter().sum::<usize>() + 2 * (width.len() - 1);
        if total > WIDTH {
            width[0] = width[0].saturating_sub(total - WIDTH).max(8);
        }
        let mut out = String::new();
        let header: Vec<String> = self.columns.iter().map(|c| c.0.clone()).collect();
        for row in std::iter::once(&header).chain(&self.rows) {
            let mut line = " ".repeat(self.indent);
            for (k, cell) in row.iter().enumerate() {
                let cell = if k == 0 { fit(cell, width[0]) } else { cell.clone() };
                let pad = " ".repeat(width[k].saturating_sub(wide(&cell)));
                let gap = if k == 0 { "" } else { "  " };
                match self.columns[k].1 {
                    Align::Left => line.extend([gap, &cell, &pad]),
                    Align::Right => line.extend([gap, &pad, &cell]),
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_fit_the_page() {
        let mut t = Table::new(2, &[("kernel", Align::Left), ("n", Align::Right)]);
        t.row(["a", "1"]);
        t.row(["x".repeat(200).as_str(), "1000"]);
        let s = t.print();
        assert!(s.lines().all(|l| l.chars().count() <= WIDTH), "{s}");
        assert!(s.starts_with("  kernel "));
        assert!(s.lines().nth(1).unwrap().ends_with("   1"));
    }
}
