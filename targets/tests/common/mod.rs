//! Reading the reference data.
#![allow(dead_code)] // each test binary uses its part

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use flate2::read::GzDecoder;

fn data(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "data", name].iter().collect()
}

/// The text of a gzip-compressed file under `tests/data`.
pub fn gunzip(name: &str) -> String {
    let file = File::open(data(name)).expect(name);
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect(name);
    text
}

/// The text of a file under `tests/data`.
pub fn read(name: &str) -> String {
    std::fs::read_to_string(data(name)).expect(name)
}

/// The rows of a CSV without quoted fields; checks the header line.
pub fn rows<'a>(text: &'a str, header: &str) -> impl Iterator<Item = Vec<&'a str>> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(header));
    let columns = header.split(',').count();
    lines.map(move |line| {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), columns, "{line}");
        fields
    })
}
