//! Pressure reports: a chart in the terminal, JSON, CSV, a plot.

mod csv;
mod json;
mod svg;
mod text;

pub use csv::to_csv;
pub use json::document;
pub use svg::plot;
pub use text::text;
