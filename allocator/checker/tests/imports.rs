//! What the checker checks must not be what it trusts: it imports the IR and the targets alone.

use std::path::Path;

#[test]
fn only_ir_and_targets_are_imported() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let allowed = ["ir", "targets", "checker"];
    let mut texts = vec![std::fs::read_to_string(root.join("Cargo.toml")).unwrap()];
    for entry in std::fs::read_dir(root.join("src")).unwrap() {
        texts.push(std::fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    assert!(texts.len() > 10, "the sources are where this test looks for them");
    let mut seen = 0;
    for text in &texts {
        for at in text.match_indices("fatpoint").map(|(at, m)| at + m.len()) {
            let rest = &text[at..];
            let Some(rest) = rest.strip_prefix(['-', '_']) else { continue };
            let name: String = rest.chars().take_while(|c| c.is_ascii_lowercase()).collect();
            assert!(allowed.contains(&name.as_str()), "imports fatpoint-{name}");
            seen += 1;
        }
        assert!(!text.contains("path = \"../"), "no dependency by path");
    }
    assert!(seen > 10);
}
