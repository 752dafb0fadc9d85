//! Behaviour of the engine, checked by digests of whole outputs. Results are stored under versions
//! of behaviour (`behaviour/versions`), and a change of any digest (`behaviour/digests`) must raise
//! them. A change of code that changes no digest keeps every stored result.

mod algorithms;
mod corpus;
mod coverage;
mod draws;
mod flows;
mod kept;
mod links;
mod network;
mod stacks;

use std::collections::BTreeMap;
use std::thread;

use corpus::{Case, corpus};
use kept::{Digests, Verdict};

/// The digest of each case.
fn computed(cases: &[Case]) -> Digests {
    let half = cases.len().div_ceil(2);
    let digests = |cases: &[Case]| -> Digests {
        cases.iter().map(|case| (case.name.clone(), case.digest())).collect()
    };
    thread::scope(|scope| {
        let parts: Vec<_> =
            cases.chunks(half).map(|cases| scope.spawn(move || digests(cases))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("every case runs")).collect()
    })
}

/// Compare all digests. With `BEHAVIOUR` set, as by `make behaviour`, write the new ones instead.
#[test]
fn the_engine_does_what_it_did() {
    let cases = corpus();
    let names: BTreeMap<_, _> = cases.iter().map(|case| (&case.name, case)).collect();
    assert_eq!(names.len(), cases.len(), "two cases have one name");
    let verdict = Verdict::of(&kept::digests(), computed(&cases));
    match std::env::var("BEHAVIOUR") {
        Ok(request) => println!("{}", kept::raise(&verdict, &request, &cases)),
        Err(_) => assert!(verdict.is_same(), "{}", verdict.report(&cases)),
    }
}
