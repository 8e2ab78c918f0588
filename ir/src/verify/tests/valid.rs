//! What must verify does; what need not is judged without a panic.

use super::*;
use crate::gen::{generate, GenOptions, Shape};
use crate::text::tests::arbitrary;
use proptest::prelude::*;

fn options() -> impl Strategy<Value = GenOptions> {
    let shape = prop::sample::select(vec![Shape::Straight, Shape::Loops, Shape::Diamonds, Shape::Mixed]);
    (any::<u64>(), 0..600usize, 1..60usize, shape, 0..40u32, 0..40u32)
        .prop_map(|(seed, insts, live, shape, pairs, quads)| GenOptions { seed, insts, live, shape, pairs, quads })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn generated_functions_verify(o in options()) {
        let f = generate(&o);
        prop_assert_eq!(check(&f), []);
        // And so does what the text format makes of them.
        let again = parse(&f.to_string());
        prop_assert_eq!(check(&again), []);
    }

    /// Functions of any content: their numbering is right, since a builder made it, and the text format changes nothing.
    #[test]
    fn any_content_is_judged(seed in any::<u64>()) {
        let f = arbitrary::function(seed);
        let errors = check(&f);
        let numbering = errors.iter().find(|e| e.rule <= Rule::V5);
        prop_assert_eq!(numbering, None);
        let again = check(&parse(&f.to_string()));
        prop_assert_eq!(errors, again);
    }
}
