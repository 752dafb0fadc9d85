//! Descriptions of the algorithms.

use crate::instance;
use dumbbell_algorithm::{Family, Need, find, registry};
use std::collections::BTreeMap;

#[test]
fn every_file_is_built_in_under_its_name_and_in_order() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../algorithms");
    let files = std::fs::read_dir(folder).expect("the algorithms are there");
    let paths = files.map(|file| file.expect("it can be listed").path());
    let sources = paths.filter(|path| path.extension().is_some_and(|suffix| suffix == "c"));
    let mut names: Vec<_> = sources
        .map(|path| path.file_stem().expect("a name").to_str().expect("ASCII").to_owned())
        .collect();
    names.sort();
    let built_in: Vec<_> = registry().iter().map(|algorithm| algorithm.name).collect();
    assert_eq!(built_in, names);
    assert!(built_in.len() > 25);
}

#[test]
fn descriptions_are_complete() {
    for algorithm in registry() {
        let name = algorithm.name;
        assert!(!algorithm.title.is_empty(), "{name}");
        assert!(algorithm.source.len() > 10, "{name}");
        assert!(algorithm.summary.ends_with('.'), "{name}");
        assert!((1988..2030).contains(&algorithm.year), "{name}");
        assert_eq!(algorithm.source_hash.len(), 64, "{name}");
        for row in &algorithm.parameters {
            assert!(row.low <= row.initial && row.initial <= row.high, "{name}.{}", row.name);
            assert_eq!((row.high - row.low) % row.step, 0, "{name}.{}", row.name);
            assert!(![row.unit, row.what, row.source].contains(&""), "{name}.{}", row.name);
        }
    }
}

#[test]
fn presets_are_within_range_and_change_what_they_name() {
    for algorithm in registry() {
        for preset in &algorithm.presets {
            assert!(!preset.source.is_empty());
            let overrides = preset.values.iter().map(|(name, value)| ((*name).to_owned(), *value));
            let by_hand = algorithm.values(None, &overrides.collect()).expect("in range");
            assert_eq!(algorithm.values(Some(preset.name), &BTreeMap::new()), Ok(by_hand));
        }
    }
}

#[test]
fn presets_of_the_study_are_its_table() {
    let expected: [(&str, &[(&str, u32)]); 6] = [
        ("reno", &[]),
        ("highspeed", &[("low_window", 31), ("count_acks", 0)]),
        (
            "scalable",
            &[("segs_per_increase", 100), ("kept", 896), ("low_window", 16), ("halve_below", 16)],
        ),
        ("htcp", &[("delta_l", 1000), ("delta_b", 20)]),
        (
            "bic",
            &[
                ("smax", 32),
                ("b", 4),
                ("smooth_part", 20),
                ("kept", 819),
                ("low_window", 14),
                ("ack_ratio_correction", 0),
            ],
        ),
        (
            "fast",
            &[
                ("gamma", 50),
                ("m0a", 8),
                ("m1a", 20),
                ("m2a", 200),
                ("m0u", 1500),
                ("m1l", 1250),
                ("m1u", 15_000),
                ("m2l", 12_500),
            ],
        ),
    ];
    for (name, values) in expected {
        let set: BTreeMap<_, _> = instance(name, Some("li2007"), &[]).parameters().collect();
        for (parameter, value) in values {
            assert_eq!(set[parameter], *value, "{name}.{parameter}");
        }
    }
}

#[test]
fn overrides_win_over_the_preset() {
    let bic = instance("bic", Some("li2007"), &[("smax", 8)]);
    let values: BTreeMap<_, _> = bic.parameters().collect();
    assert_eq!((values["smax"], values["ack_ratio_correction"]), (8, 0));
}

#[test]
fn describes_itself_as_json() {
    let fast = serde_json::to_value(find("fast").expect("there")).expect("plain data");
    assert_eq!(fast["family"], "delay");
    assert_eq!(fast["flags"], serde_json::json!(["pacing"]));
    assert_eq!(fast["info"][0], "alpha_segs");
    assert_eq!(fast["presets"][0]["values"]["m2a"], 200);
    let gamma = &fast["parameters"][0];
    assert_eq!((&gamma["name"], &gamma["unit"]), (&"gamma".into(), &"%".into()));
    assert_eq!(
        (&gamma["low"], &gamma["initial"], &gamma["high"]),
        (&1.into(), &50.into(), &100.into())
    );
}

#[test]
fn families_and_needs() {
    let by_rate = ["bbr", "bbr3", "prague"];
    for algorithm in registry() {
        let (family, needs): (_, &[Need]) = match algorithm.name {
            "ccp" | "ccpd" | "ledbatpp" => (Family::Delay, &[]),
            "cdg" => (Family::Hybrid, &[Need::Random]),
            "lp" => (Family::Delay, &[Need::OneWay]),
            "hstcplp" => (Family::Hybrid, &[Need::OneWay]),
            "bbr" | "bbr3" => (Family::Rate, &[Need::Pacing, Need::Random]),
            "dctcp" => (Family::Ecn, &[Need::Ecn]),
            "fast" => (Family::Delay, &[Need::Pacing]),
            "vegas" => (Family::Delay, &[]),
            "compound" | "illinois" | "veno" | "yeah" => (Family::Hybrid, &[]),
            "nv" => (Family::Delay, &[Need::Random, Need::Rates]),
            "prague" => (Family::Ecn, &[Need::Pacing, Need::Ecn]),
            "bic" | "cubic" | "highspeed" | "htcp" | "hybla" | "relentless" | "reno"
            | "scalable" | "westwood" => (Family::Loss, &[]),
            _ => continue,
        };
        assert_eq!((algorithm.family, &*algorithm.flags), (family, needs), "{}", algorithm.name);
        assert_eq!(algorithm.has_cong_control(), by_rate.contains(&algorithm.name));
    }
}

/// Algorithms whose `min_cwnd` was Reno's in Linux 2.6.24, and Compound of 2006.
#[test]
fn which_old_kernels_let_fall_to_half_of_ssthresh() {
    let with = [
        "compound",
        "highspeed",
        "hybla",
        "illinois",
        "lp",
        "reno",
        "scalable",
        "vegas",
        "veno",
        "yeah",
    ];
    let without = ["bic", "cdg", "cubic", "htcp", "westwood"];
    for (names, expected) in [(&with[..], true), (&without[..], false)] {
        for name in names {
            assert_eq!(find(name).expect("built in").has_renos_bound(), expected, "{name}");
        }
    }
}
