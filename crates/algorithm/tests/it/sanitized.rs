//! Random calls of the C files. Files obey C's rules (address and undefined-behaviour sanitizers),
//! keep windows within their limits, and give the same result twice.
#![cfg(target_os = "linux")]

use dumbbell_algorithm::programs::NEVER;
use dumbbell_algorithm::registry;
use dumbbell_algorithm::user_defined::{Fuzzer, Part};

fn fuzzer() -> Fuzzer<'static> {
    let all: Vec<_> = registry().iter().map(|algorithm| (algorithm.name, algorithm.code)).collect();
    Fuzzer::new(&all, &NEVER).expect("a C compiler, as the crate's own build needs")
}

#[test]
fn random_calls_find_nothing_wrong_with_any_algorithm() {
    let fuzzer = fuzzer();
    for part in Part::ALL {
        let fuzzed = fuzzer.run(part).unwrap();
        assert_eq!(fuzzed.passed, Some(true), "{part:?}: {}", fuzzed.message);
    }
}
