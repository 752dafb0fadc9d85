//! DCTCP against RFC 8257 and Linux.

use crate::{avoiding, grow, instance};
use dumbbell_algorithm::{ACK_ECE, ACK_SLOWPATH, CaState, Conn, CwndEvent, Instance};

/// Acknowledge a window of 1000 segments, `marked` of them marked; return alpha after it.
fn pass_window(dctcp: &mut Instance, conn: &mut Conn, marked: u64) -> u32 {
    conn.delivered_segs += 1000;
    conn.delivered_ce_segs += marked;
    conn.snd_una = conn.snd_nxt;
    conn.snd_nxt += 1000;
    let flags = if marked > 0 { ACK_SLOWPATH | ACK_ECE } else { 0 };
    dctcp.in_ack_event(conn, flags);
    dctcp.info(conn)[0]
}

fn begin(preset: Option<&str>, settings: &[(&str, u32)]) -> (Instance, Conn) {
    let mut dctcp = instance("dctcp", preset, settings);
    let mut conn = Conn { snd_nxt: 1000, ..avoiding(100) };
    dctcp.init(&mut conn);
    (dctcp, conn)
}

#[test]
fn alpha_fades_by_a_sixteenth_in_windows_without_marks() {
    let (mut dctcp, mut conn) = begin(None, &[]);
    let alphas: Vec<_> = (0..10).map(|_| pass_window(&mut dctcp, &mut conn, 0)).collect();
    assert_eq!(alphas, [960, 900, 844, 792, 743, 697, 654, 614, 576, 540]);
    let faded: Vec<_> = (0..200).map(|_| pass_window(&mut dctcp, &mut conn, 0)).collect();
    assert_eq!(faded.last(), Some(&0), "below 16 it falls to nothing");
}

#[test]
fn alpha_approaches_the_share_of_marks() {
    let (mut dctcp, mut conn) = begin(None, &[("alpha_initial", 0)]);
    let alphas: Vec<_> = (0..200).map(|_| pass_window(&mut dctcp, &mut conn, 300)).collect();
    assert_eq!(alphas[..7], [19, 37, 54, 70, 85, 99, 112]);
    assert_eq!(alphas[199], 304);
    assert_eq!(dctcp.ssthresh(&conn), 86, "100 less half of 304/1024");
    for _ in 0..200 {
        pass_window(&mut dctcp, &mut conn, 1000);
    }
    assert_eq!((dctcp.info(&conn)[0], dctcp.ssthresh(&conn)), (1024, 50), "all are marked");
}

#[test]
fn alpha_moves_once_per_window_of_data() {
    let (mut dctcp, mut conn) = begin(None, &[]);
    let mut after = |snd_una, snd_nxt| {
        conn = Conn { snd_una, snd_nxt, ..conn };
        dctcp.in_ack_event(&mut conn, 0);
        dctcp.info(&conn)[0]
    };
    assert_eq!(after(999, 1900), 1024);
    assert_eq!(after(1000, 2000), 960);
    assert_eq!(after(1999, 2900), 960);
    assert_eq!(after(2000, 3000), 900);
}

#[test]
fn the_gain_is_a_parameter() {
    let (mut dctcp, mut conn) = begin(None, &[("gain_shift", 1), ("alpha_initial", 0)]);
    assert_eq!(pass_window(&mut dctcp, &mut conn, 500), 256);
    assert_eq!(pass_window(&mut dctcp, &mut conn, 500), 384);
}

#[test]
fn the_first_mark_halves_and_no_window_falls_below_two() {
    let (mut dctcp, mut conn) = begin(None, &[]);
    conn.delivered_ce_segs = 1;
    assert_eq!(dctcp.ssthresh(&conn), 50);
    conn.cwnd_segs = 3;
    assert_eq!(dctcp.ssthresh(&conn), 2);
}

#[test]
fn grows_as_reno() {
    let (mut dctcp, mut conn) = begin(None, &[]);
    conn.cwnd_segs = 10;
    assert_eq!(grow(&mut dctcp, &mut conn, 5, 2), [(10, 5), (11, 0)]);
    conn.ssthresh_segs = 20;
    assert_eq!(grow(&mut dctcp, &mut conn, 5, 1), [(16, 0)]);
    conn.cwnd_limited = 0;
    assert_eq!(grow(&mut dctcp, &mut conn, 5, 1), [(16, 0)]);
}

/// Windows after fast retransmission and after a timeout, from 100 segments of which 30 % were
/// marked.
fn losses(preset: Option<&str>) -> (u32, u32) {
    let after = |state, event: Option<CwndEvent>| {
        let (mut dctcp, mut conn) = begin(preset, &[]);
        for _ in 0..200 {
            pass_window(&mut dctcp, &mut conn, 300);
        }
        conn.ssthresh_segs = dctcp.ssthresh(&conn);
        if let Some(event) = event {
            dctcp.cwnd_event(&mut conn, event);
        }
        dctcp.set_state(&mut conn, state);
        assert_eq!(dctcp.undo_cwnd(&Conn { cwnd_segs: 50, ..conn }), 100);
        conn.ssthresh_segs
    };
    (after(CaState::Recovery, None), after(CaState::Loss, Some(CwndEvent::Loss)))
}

#[test]
fn loss_halves_since_linux_5_1() {
    assert_eq!(losses(None), (50, 50));
    // From above, alpha settles at 319/1024 because it is rounded down.
    assert_eq!(losses(Some("linux-4.14")), (85, 85));
    assert_eq!(losses(Some("brakmo2017")), (85, 85));
}

#[test]
fn a_loss_during_the_reduction_for_a_mark_halves_what_is_left() {
    let (mut dctcp, mut conn) = begin(None, &[]);
    conn = Conn { state: CaState::Cwr, cwnd_segs: 90, ssthresh_segs: 86, ..conn };
    dctcp.set_state(&mut conn, CaState::Recovery);
    assert_eq!(conn.ssthresh_segs, 45);
    conn.state = CaState::Recovery;
    conn.cwnd_segs = 60;
    dctcp.set_state(&mut conn, CaState::Recovery);
    assert_eq!(conn.ssthresh_segs, 45, "once");
}

#[test]
fn without_a_mark_ever_heard_it_is_reno() {
    let (mut dctcp, mut conn) = begin(None, &[]);
    for _ in 0..100 {
        pass_window(&mut dctcp, &mut conn, 0);
    }
    assert_eq!((dctcp.info(&conn)[0], dctcp.ssthresh(&conn)), (0, 50));
}

#[test]
fn a_timeout_may_reset_alpha() {
    let (mut dctcp, mut conn) = begin(None, &[("reset_on_timeout", 1), ("alpha_initial", 0)]);
    dctcp.set_state(&mut conn, CaState::Loss);
    assert_eq!(dctcp.info(&conn)[0], 1024);
    let (mut kept, mut conn) = begin(None, &[("alpha_initial", 0)]);
    kept.set_state(&mut conn, CaState::Loss);
    assert_eq!(kept.info(&conn)[0], 0);
}
