//! The largest windows, and the sizes of buffers and backlogs that allow them.
//!
//! A Linux receiver acknowledges every segment as long as the window that it offers grows
//! towards its buffer's size. So a buffer is as large as the scenario needs, with room to
//! spare, and no larger, or delayed acknowledgements would never begin.

use dumbbell_algorithm::{Algorithm, Algorithms};
use dumbbell_network::{Limit, LinkConfig, RateConfig, Route, Span};
use dumbbell_workload::{Flow, Scenario, Transport};

/// Largest buffer. It allows the largest window of TCP's scale, 1 GiB.
const BUFFER_BYTES_MAX: u64 = i32::MAX as u64;
/// Smallest buffer: Linux's default.
const BUFFER_BYTES_MIN: u64 = 1 << 17;
/// Buffer for each byte of a window. Windows overshoot the path's capacity by a factor of two, a
/// segment takes half as much memory again as its payload, and the rest is a reserve.
const ROOM: u64 = 6;
/// The same for rate-based algorithms, which keep sending however long a hole in their window is
/// open.
const ROOM_OF_RATES: u64 = 3 * ROOM;
const PACKET_BYTES: u32 = 1_500;
/// Data that an application writes ahead of sending: this much time at the rate of the slowest
/// link, ... A starting flow, alone or among others, sends at three times that rate. If it runs dry
/// before the application reacts, its rate samples are application-limited.
const BACKLOG: Span = Span::from_millis(15);
/// ... within these bounds.
const BACKLOG_BYTES_MIN: u64 = 1 << 15;
const BACKLOG_BYTES_MAX: u64 = 1 << 26;

/// Size of receive buffers, in bytes, that never limit a flow of the scenario.
#[must_use]
pub fn buffer_bytes(scenario: &Scenario, algorithms: &Algorithms) -> u64 {
    let needed = scenario
        .flows
        .iter()
        .map(|flow| window_bytes(flow, &scenario.links).saturating_mul(room(flow, algorithms)));
    needed.max().unwrap_or(0).clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX)
}

/// Data that a flow's application writes ahead of sending, in bytes.
#[must_use]
pub fn backlog_bytes(flow: &Flow, links: &[LinkConfig]) -> u32 {
    let rates = flow.forward.hops.iter().filter_map(|hop| links[hop.link].rate.as_ref());
    let packet_time = rates.map(|rate| rate.typical_time(PACKET_BYTES)).max();
    let bytes =
        packet_time.map_or(u64::MAX, |time| u64::from(PACKET_BYTES) * BACKLOG.0 / time.0.max(1));
    bytes.clamp(BACKLOG_BYTES_MIN, BACKLOG_BYTES_MAX) as u32
}

fn room(flow: &Flow, algorithms: &Algorithms) -> u64 {
    let Transport::Tcp(tcp) = &flow.transport else { return ROOM };
    let by_rates = algorithms.find(&tcp.algorithm).is_ok_and(Algorithm::has_cong_control);
    if by_rates { ROOM_OF_RATES } else { ROOM }
}

/// Most data that a flow alone can have in flight, on its path and in its queues, in bytes.
fn window_bytes(flow: &Flow, links: &[LinkConfig]) -> u64 {
    let on_way = || flow.forward.hops.iter().map(|hop| &links[hop.link]);
    let queued: u64 =
        on_way().map(|link| queue_bytes(link, flow.packet_bytes)).fold(0, u64::saturating_add);
    let delay_ns = delay_ns(&flow.forward, links) + delay_ns(&flow.reverse, links);
    let on_path = on_way().filter_map(|link| bytes_in(link.rate.as_ref()?, delay_ns)).min();
    queued.saturating_add(on_path.unwrap_or(BUFFER_BYTES_MAX))
}

fn queue_bytes(link: &LinkConfig, packet_bytes: u16) -> u64 {
    let shared = link.memory.map_or(u64::MAX, |memory| memory.largest_queue());
    shared.min(limit_bytes(link, packet_bytes))
}

fn limit_bytes(link: &LinkConfig, packet_bytes: u16) -> u64 {
    match (link.rate.as_ref(), link.queue.limit) {
        (None, _) => 0,
        (_, Some(Limit::Packets(packets))) => u64::from(packets) * u64::from(packet_bytes),
        (_, Some(Limit::Bytes(bytes))) => bytes,
        (_, None) => BUFFER_BYTES_MAX,
    }
}

/// The longest propagation delay along a route.
fn delay_ns(route: &Route, links: &[LinkConfig]) -> u64 {
    let hop_ns = |hop: &dumbbell_network::Hop| {
        let longest = links[hop.link].delay.values().max();
        hop.delay.0 + longest.map_or(0, |delay| delay.0)
    };
    route.delay.0 + route.hops.iter().map(hop_ns).sum::<u64>()
}

/// Bytes that a link sends in a time; none: not known in advance.
fn bytes_in(rate: &RateConfig, time_ns: u64) -> Option<u64> {
    let packet_ns = match rate {
        RateConfig::Steps(steps) => {
            let highest = steps.values().max().filter(|rate| *rate > 0)?;
            u64::from(PACKET_BYTES) * 8_000_000_000 / highest
        }
        _ => rate.typical_time(PACKET_BYTES).0,
    };
    Some(u64::from(PACKET_BYTES).saturating_mul(time_ns) / packet_ns.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn buffer(rate: Value, limit: Value, delay_ms: u64) -> u64 {
        buffer_bytes(&scenario("reno", rate, limit, delay_ms), &Algorithms::default())
    }

    fn scenario(algorithm: &str, rate: Value, limit: Value, delay_ms: u64) -> Scenario {
        let route = json!({"hops": [{"link": 0, "delay_ns": 0}], "delay_ns": 0});
        let scenario = json!({
            "seed": 1, "duration_ns": 1_000_000_000,
            "links": [{
                "name": "both", "rate": rate, "delay": [[0, delay_ms * 1_000_000]],
                "overhead_bytes": 0, "queue": {"limit": limit, "discipline": {"kind": "fifo"}},
                "policer": null, "loss": [], "duplicate": 0.0, "reorder": null, "jitter_ns": 0,
                "batch_ns": 0, "sampled": true,
            }],
            "flows": [{
                "label": "a", "start_ns": 0, "stop_ns": null, "packet_bytes": 1500,
                "header_bytes": 52, "forward": route, "reverse": route, "sampled": true,
                "transport": {"tcp": {
                    "algorithm": algorithm, "preset": null, "parameters": {},
                    "stack": {"profile": "linux-6", "switches": {}}, "demand": "endless",
                }},
            }],
            "record":
                {"interval_ns": null, "events": [], "algorithm_state": false, "capture": false},
        });
        Scenario::from_json(&scenario.to_string()).unwrap()
    }

    #[test]
    fn a_buffer_holds_several_times_what_path_and_queue_do() {
        let path_and_queue = 2_500_000 + 150_000;
        let buffer_for = |rate| buffer(rate, json!({"packets": 100}), 100);
        assert_eq!(buffer_for(json!({"constant": 100_000_000})), 6 * path_and_queue);
        let steps = json!({"steps": [[0, 0], [5, 100_000_000], [9, 1_000_000]]});
        assert_eq!(buffer_for(steps), 6 * path_and_queue);
        let by_rates =
            scenario("bbr", json!({"constant": 100_000_000}), json!({"packets": 100}), 100);
        assert_eq!(buffer_bytes(&by_rates, &Algorithms::default()), 18 * path_and_queue);
    }

    #[test]
    fn an_application_is_15_ms_ahead_of_the_slowest_link() {
        let backlog = |rate| {
            let scenario = scenario("bbr", rate, json!({"packets": 100}), 100);
            u64::from(backlog_bytes(&scenario.flows[0], &scenario.links))
        };
        assert_eq!(backlog(json!({"constant": 100_000_000})), 187_500);
        assert_eq!(backlog(json!({"constant": 1_000_000})), BACKLOG_BYTES_MIN);
        assert_eq!(backlog(Value::Null), BACKLOG_BYTES_MAX);
    }

    #[test]
    fn buffers_are_never_tiny_and_end_where_windows_do() {
        let slow = json!({"constant": 1_000_000});
        assert_eq!(buffer(slow.clone(), json!({"bytes": 3_000}), 1), BUFFER_BYTES_MIN);
        assert_eq!(buffer(slow, Value::Null, 1), BUFFER_BYTES_MAX);
        let fast = json!({"constant": 100_000_000_000u64});
        assert_eq!(buffer(fast, json!({"packets": 1}), 1_000), BUFFER_BYTES_MAX);
        assert_eq!(buffer(Value::Null, json!({"packets": 1}), 1), BUFFER_BYTES_MAX);
    }
}
