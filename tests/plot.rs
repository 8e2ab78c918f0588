//! The plot of register pressure: well formed, labels apart and inside the picture, as the page shows it.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn plot(args: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("plot.svg");
    let o = Command::new(env!("CARGO_BIN_EXE_fatpoint"))
        .arg("pressure")
        .args(args)
        .arg("--plot")
        .arg(&file)
        .current_dir(root().join("tests/cases"))
        .output()
        .expect("the command runs");
    assert_eq!(o.status.code(), Some(0), "{}", String::from_utf8_lossy(&o.stderr));
    std::fs::read_to_string(&file).expect("the plot was written")
}

/// The numbers after `y="` of the lines that hold a cliff's label.
fn label_heights(svg: &str) -> Vec<f64> {
    let text_y = |line: &str| {
        let at = line.rfind("<text")?;
        let y = line[at..].split("y=\"").nth(1)?.split('"').next()?;
        y.parse().ok()
    };
    svg.lines().filter(|l| l.contains(" warps: ")).filter_map(text_y).collect()
}

#[test]
fn labels_do_not_overlap() {
    for threads in ["32", "96", "256", "1024"] {
        for file in ["vadd.fp", "remat_mad60.ptx", "live200_maxntid288.ptx"] {
            let svg = plot(&[file, "--threads", threads, "--arch", "sm_90", "-q"]);
            let mut heights = label_heights(&svg);
            assert!(!heights.is_empty(), "{file} with {threads} threads has no label");
            assert!(heights.iter().all(|y| (20.0..420.0).contains(y)), "{heights:?}");
            heights.sort_by(f64::total_cmp);
            assert!(heights.windows(2).all(|w| w[1] - w[0] >= 13.9), "{file}, {threads}: {heights:?}");
        }
    }
}

#[test]
fn elements_are_closed_and_axes_named() {
    let svg = plot(&["predicates20.ptx", "--class", "P"]);
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    assert!(svg.contains("instruction, in linear order") && svg.contains("live registers a thread"));
    // Cliffs are those of general registers.
    assert!(label_heights(&svg).is_empty());
}

#[test]
fn the_page_shows_this_plot() {
    let path: &Path = &root().join("docs/pressure.svg");
    let svg = plot(&["live200_maxntid288.ptx"]);
    if std::env::var_os("UPDATE_CASES").is_some() {
        std::fs::write(path, &svg).expect("the page's plot can be written");
    }
    assert!(std::fs::read_to_string(path).is_ok_and(|old| old == svg), "docs/pressure.svg differs (UPDATE_CASES=1)");
}
