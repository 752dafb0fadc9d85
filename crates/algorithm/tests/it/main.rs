//! The algorithms compared with vectors of their papers, of RFCs and of Linux; and users' files.
#![allow(clippy::disallowed_methods, reason = "what is expected is a band")]

mod bbr;
mod bbr3;
mod bic;
mod ccp;
mod ccpd;
mod cdg;
mod compound;
mod cubic;
mod dctcp;
mod errors;
mod fast;
mod highspeed;
mod hstcplp;
mod htcp;
mod hybla;
mod hystart;
mod illinois;
mod ledbatpp;
mod linux;
mod lp;
mod nv;
mod path;
mod prague;
mod properties;
mod registry;
mod relentless;
mod reno;
mod response;
mod sanitized;
mod scalable;
mod slow_start;
mod user_defined;
mod vegas;
mod veno;
mod westwood;
mod yeah;

use dumbbell_algorithm::{AckSample, Conn, Instance};
use std::collections::BTreeMap;

/// An algorithm ready to run, with some parameters set.
fn instance(name: &str, preset: Option<&str>, settings: &[(&str, u32)]) -> Instance {
    let parameters: BTreeMap<String, u32> =
        settings.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    Instance::new(name, preset, &parameters).expect("valid settings")
}

/// A connection in congestion avoidance.
fn avoiding(cwnd_segs: u32) -> Conn {
    Conn { cwnd_segs, ssthresh_segs: 2, ..Conn::default() }
}

/// The sample of an ACK of `pkts_acked` segments with an RTT.
fn ack(pkts_acked: u32, rtt_us: i32) -> AckSample {
    AckSample { pkts_acked, rtt_us, in_flight_bytes: 0 }
}

/// Window and accumulator after each of `count` ACKs of `acked_segs`.
fn grow(
    instance: &mut Instance,
    conn: &mut Conn,
    acked_segs: u32,
    count: usize,
) -> Vec<(u32, u32)> {
    (0..count)
        .map(|_| {
            instance.cong_avoid(conn, acked_segs);
            (conn.cwnd_segs, conn.cwnd_cnt)
        })
        .collect()
}

/// A round trip with three samples of one RTT, ended by an ACK of `acked_segs`.
fn round_trip(instance: &mut Instance, conn: &mut Conn, rtt_us: i32, acked_segs: u32) {
    conn.srtt_us = rtt_us as u32;
    for _ in 0..3 {
        instance.pkts_acked(conn, &ack(acked_segs, rtt_us));
    }
    conn.snd_una = conn.snd_nxt.wrapping_add(1);
    conn.snd_nxt = conn.snd_una.wrapping_add(conn.cwnd_segs.wrapping_mul(conn.mss_bytes));
    instance.cong_avoid(conn, acked_segs);
}
