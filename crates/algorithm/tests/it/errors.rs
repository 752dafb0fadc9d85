//! Messages about wrong names and values.

use dumbbell_algorithm::{AlgorithmError, Instance, registry};
use std::collections::BTreeMap;

fn error(name: &str, preset: Option<&str>, parameter: &str, value: u32) -> AlgorithmError {
    let parameters = BTreeMap::from([(parameter.to_owned(), value)]);
    Instance::new(name, preset, &parameters).expect_err("something is wrong")
}

#[test]
fn unknown_algorithm() {
    let known: Vec<_> = registry().iter().map(|algorithm| algorithm.name).collect();
    let expected =
        format!("unknown algorithm 'Cubik' (did you mean 'cubic'?); known: {}", known.join(", "));
    assert_eq!(error("Cubik", None, "kept", 700).to_string(), expected);
    assert!(error("xyz", None, "kept", 700).to_string().starts_with("unknown algorithm 'xyz'; "));
}

#[test]
fn unknown_preset() {
    assert_eq!(
        error("htcp", Some("li2006"), "delta_l", 1).to_string(),
        "algorithm 'htcp' has no preset 'li2006' (did you mean 'li2007'?); \
         presets: li2007, lukaseder2016, brakmo2017, mani2012"
    );
}

#[test]
fn unknown_parameter() {
    assert_eq!(
        error("htcp", None, "delta", 1).to_string(),
        "algorithm 'htcp' has no parameter 'delta' (did you mean 'delta_l'?); \
         parameters: delta_l, delta_b, rtt_scaling, bandwidth_switch"
    );
    assert_eq!(
        error("reno", None, "kept", 1).to_string(),
        "algorithm 'reno' has no parameter 'kept' (did you mean 'kept_ecn'?); parameters: kept_ecn"
    );
}

#[test]
fn out_of_range() {
    assert_eq!(
        error("cubic", None, "kept", 1024).to_string(),
        "parameter 'kept' of 'cubic' cannot be 1024; valid: 512 to 1000 (1/1024)"
    );
    assert_eq!(
        error("highspeed", Some("li2007"), "low_window", 35).to_string(),
        "parameter 'low_window' of 'highspeed' cannot be 35; valid: 31 or 38 (segments)"
    );
}
