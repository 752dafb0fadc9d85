//! Applications that produce data at a rate.

use serde_json::json;

use crate::alone::undisturbed;

use super::path::{FREE, Path};
use super::setup::{MS, run, scenario, tcp};

#[test]
fn an_application_that_is_the_limit_hands_over_what_has_come_about() {
    undisturbed(|| {
        let demand = json!({"app_limited": {"rate_bps": [[0, 8_000_000], [500 * MS, 0]]}});
        let output = run(&Path::new(FREE), &scenario(1_000, 100, &[tcp(0, None, demand)]));
        // 500,000 bytes in half a second: a part of the 346th segment exists.
        let end = &output.ends[0];
        assert_eq!((end.sent_bytes, end.received_bytes), (346 * 1_448, 346 * 1_448));
        assert_eq!(end.end_ns, None);
        // At 100, 200, ... ms.
        let received: Vec<_> = output.flows.iter().map(|row| row.received_bytes).collect();
        for (tenths, bytes) in (1..=5).zip(received) {
            let expected = 100_000 * tenths;
            // A busy machine makes up for its delays.
            assert!(
                (expected - 50_000..=expected + 2 * 1_448).contains(&bytes),
                "{bytes} of {expected}"
            );
        }
    });
}
