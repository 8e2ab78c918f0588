//! Text to function and back, exactly, over functions with everything in them.

use super::arbitrary::{allocation, function};
use super::same::assert_same;
use crate::text::{parse, parse_allocated, print, print_allocated, AllocatedParts, TextError};
use proptest::prelude::*;

fn read<T>(r: Result<Vec<T>, Vec<TextError>>, text: &str) -> Vec<T> {
    r.unwrap_or_else(|e| {
        let all: Vec<String> = e.iter().take(5).map(|e| e.render("text", text)).collect();
        panic!("{}\n{text}", all.join("\n"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn functions_round_trip(seed: u64) {
        let f = function(seed);
        let text = print(&f);
        let back = read(parse(&text), &text);
        prop_assert_eq!(back.len(), 1);
        assert_same(&f, &back[0]);
        prop_assert_eq!(print(&back[0]), text);
    }

    #[test]
    fn allocations_round_trip(seed: u64) {
        let f = function(seed);
        let a = allocation(&f, seed ^ 1);
        let text = print_allocated(&a);
        let back = read(parse_allocated(&text), &text);
        prop_assert_eq!(back.len(), 1);
        let (g, parts) = &back[0];
        assert_same(&f, g);
        prop_assert_eq!(parts, &AllocatedParts::of(&a));
        prop_assert_eq!(print_allocated(&parts.attach(g)), text);
    }
}

#[test]
fn several_kernels_stand_in_one_file() {
    let all: Vec<_> = (0..20).map(function).collect();
    let text: String = all.iter().map(print).collect();
    let back = read(parse(&text), &text);
    assert_eq!(back.len(), all.len());
    all.iter().zip(&back).for_each(|(a, b)| assert_same(a, b));
}
