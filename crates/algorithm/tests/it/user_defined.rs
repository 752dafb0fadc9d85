//! A user's own files: which are loaded, which are refused, and the messages.

#[cfg(target_os = "linux")]
use dumbbell_algorithm::guarded::{self, Stalled};
use dumbbell_algorithm::programs::NEVER;
use dumbbell_algorithm::user_defined::{Fuzzer, LoadError, Part, examine, load, load_unless};
use dumbbell_algorithm::{Algorithms, Conn, Instance, find};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Source of an algorithm with this name, body of `cong_avoid` and state.
fn file(name: &str, grow: &str, state: &str) -> String {
    format!(
        r#"#include "cc.h"
#define {name}_parameters(P) P(gain, "segments", 3, CC_RANGE(1, 9), "gain", "none")
#define {name}_presets(S) S("much", "none", CC_SET({name}, gain, 9))
#define {name}_hooks(H) H({name}, ssthresh) H({name}, cong_avoid)
CC_PARAMS({name});
struct {name}_state {{ {state} }};
static u32 {name}_ssthresh(const struct {name}_params *params, struct {name}_state *state,
	const struct cc_conn *conn)
{{
	return cc_half_window(conn);
}}
static void {name}_cong_avoid(const struct {name}_params *params, struct {name}_state *state,
	struct cc_conn *conn, u32 acked)
{{
	{grow}
}}
CC_ALGORITHM({name}, .title = "Own", .family = CC_FAMILY_LOSS, .year = 2026,
	.source = "here", .summary = "Grows.");
"#
    )
}

const GROW: &str = "cc_grow(conn, params->gain);";

fn refused(name: &str, code: &str) -> String {
    load(name, code, &format!("./{name}.c")).expect_err("should be refused").to_string()
}

fn window_after(mut instance: Instance) -> u32 {
    let mut conn = Conn::default();
    instance.init(&mut conn);
    instance.cong_avoid(&mut conn, 1);
    conn.cwnd_segs
}

#[test]
fn a_file_is_an_algorithm_for_the_life_of_the_process() {
    let code = file("own_a", GROW, "u32 count;");
    let loaded = load("own_a", &code, "own_a.c").unwrap();
    assert!(std::ptr::eq(load("own_a", &code, "elsewhere/own_a.c").unwrap(), loaded));
    assert_eq!((loaded.code, loaded.source_hash.len()), (code.as_str(), 64));
    assert_eq!(window_after(Instance::of(loaded, None, &BTreeMap::new()).unwrap()), 13);
    assert_eq!(window_after(Instance::of(loaded, Some("much"), &BTreeMap::new()).unwrap()), 19);
}

#[test]
fn a_changed_file_is_another_entry_and_the_old_one_stays_with_its_users() {
    let first = load("own_b", &file("own_b", GROW, ""), "own_b.c").unwrap();
    let second = load("own_b", &file("own_b", "cc_grow(conn, 1);", ""), "own_b.c").unwrap();
    assert_ne!(first.source_hash, second.source_hash);
    assert_eq!(window_after(Instance::of(first, None, &BTreeMap::new()).unwrap()), 13);
    assert_eq!(window_after(Instance::of(second, None, &BTreeMap::new()).unwrap()), 11);
}

#[test]
fn each_run_finds_the_algorithms_that_it_was_given() {
    let given = |grow: &str| {
        let sources = BTreeMap::from([("own_n".to_owned(), file("own_n", grow, ""))]);
        Algorithms::load(&sources, &NEVER).unwrap()
    };
    let (first, second) = (given(GROW), given("cc_grow(conn, 1);"));
    let anatomy = |of: &Algorithms| of.find("own_n").unwrap();
    assert_ne!(anatomy(&first).source_hash, anatomy(&second).source_hash);
    assert!(std::ptr::eq(anatomy(&first), anatomy(&given(GROW))));
    assert!(std::ptr::eq(first.find("reno").unwrap(), find("reno").unwrap()));
    assert!(find("own_n").is_err(), "no run's own is known to the others");
    let message = first.find("own_m").unwrap_err().to_string();
    assert!(message.contains("did you mean 'own_n'?") && message.contains("cubic"), "{message}");
}

#[test]
fn sources_that_cannot_be_used_are_refused_by_name() {
    let sources = BTreeMap::from([("mine".to_owned(), "nothing".to_owned())]);
    let (name, error) = Algorithms::load(&sources, &NEVER).unwrap_err();
    assert_eq!(name, "mine");
    assert!(error.to_string().starts_with("mine.c: registers no algorithm"), "{error}");
}

#[test]
fn a_compiler_error_is_reported_with_file_line_and_cause() {
    let message = refused("own_c", &file("own_c", "conn->cwnd = 1;", ""));
    assert!(message.starts_with("./own_c.c:15: "), "{message}");
    assert!(message.contains("cwnd") && message.contains("; all of it is in "), "{message}");
    let log = message.rsplit(' ').next().unwrap();
    std::fs::remove_file(log).unwrap();
    let message = refused("own_d", &file("own_d", GROW, "u32 much[99];"));
    assert!(message.starts_with("./own_d.c:17: "), "{message}");
    assert!(message.contains("the state exceeds what the kernel grants"), "{message}");
    std::fs::remove_file(message.rsplit(' ').next().unwrap()).unwrap();
}

#[test]
fn names_that_cannot_be_or_are_taken_are_refused() {
    for (name, cause) in [
        ("my-cc", "cannot name an algorithm"),
        ("1st", "cannot name an algorithm"),
        ("", "cannot name an algorithm"),
        ("cubic", "is built in; rename the file"),
        ("udp", "is reserved"),
    ] {
        let message = refused(name, &file("own_e", GROW, ""));
        assert!(message.contains(cause), "{message}");
    }
    let message = refused("own_f", &file("other", GROW, ""));
    assert!(message.starts_with("./own_f.c:17: registers 'other'"), "{message}");
    assert!(refused("own_f", "int x;").contains("end it with CC_ALGORITHM(own_f, ...)"));
}

#[test]
fn incomplete_registrations_are_refused() {
    let without = |text: &str| file("own_g", GROW, "").replace(text, "");
    let message = refused("own_g", &without(".title = \"Own\","));
    assert!(message.contains("has no .title in CC_ALGORITHM"), "{message}");
    let both = file("own_g", GROW, "")
        .replace("#define own_g_hooks(H) H(own_g, ssthresh)", "#define own_g_hooks(H)");
    let both = both.replace("static u32 own_g_ssthresh", "u32 own_g_ssthresh(const struct own_g_params *params, struct own_g_state *state, const struct cc_conn *conn);\nu32 own_g_ssthresh");
    assert!(refused("own_g", &both).contains("has no ssthresh"), "{}", refused("own_g", &both));
    let none = file("own_g", GROW, "").replace("CC_RANGE(1, 9)", "CC_EITHER(3, 3)");
    assert!(refused("own_g", &none).contains("no valid value for parameter gain"));
}

#[test]
fn compiled_code_shows_its_state_its_floats_and_its_calls() {
    let anatomy =
        examine("own_h", &file("own_h", GROW, "u64 a; u32 b;"), "own_h.c", &NEVER).unwrap();
    assert_eq!((anatomy.state_bytes, anatomy.state_bytes_max), (16, 104));
    assert_eq!((anatomy.outside, anatomy.floats), (Some(Vec::new()), None));
    let floats = file("own_h", "conn->cwnd_segs *= acked * 1.5;", "");
    assert!(examine("own_h", &floats, "own_h.c", &NEVER).unwrap().floats.is_some());
    let calls =
        format!("extern int outside(void);\n{}", file("own_h", "if (outside()) return;", ""));
    let anatomy = examine("own_h", &calls, "own_h.c", &NEVER).unwrap();
    assert_eq!(anatomy.outside, Some(vec!["outside".to_owned()]));
}

fn fuzzed(grow: &str, part: Part) -> String {
    let code = format!("static unsigned int counter;\n{}", file("own_i", grow, "u32 count;"));
    let fuzzed = Fuzzer::new(&[("own_i", &code)], &NEVER).unwrap().run(part).unwrap();
    assert_eq!(fuzzed.passed, Some(false), "{}", fuzzed.message);
    fuzzed.message
}

#[test]
fn the_fuzzer_finds_what_breaks_the_rules_and_shortens_it() {
    let message = fuzzed("cc_grow(conn, counter + 100 / (acked % 7)); ", Part::Rules);
    assert!(message.starts_with("own_i.c:16:"), "{message}");
    assert!(message.contains("division by zero"), "{message}");
    let message = fuzzed("conn->cwnd_segs -= counter + (acked == 2);", Part::Limits);
    assert!(message.starts_with("cong_avoid leaves a window of 0 segments"), "{message}");
    assert!(message.lines().count() < 20, "{message}");
    let message =
        fuzzed("cc_grow(conn, counter + params->gain); *(u32 *)&conn->srtt_us = 5;", Part::Limits);
    assert!(message.starts_with("cong_avoid writes to a field of cc_conn"), "{message}");
    let message = fuzzed("conn->pacing_rate_bytes_per_s = ++counter;", Part::Limits);
    assert!(
        message.starts_with("cong_avoid sets a pacing rate without CC_NEEDS_PACING"),
        "{message}"
    );
    let message = fuzzed("cc_grow(conn, ++counter % 2 + 1);", Part::Repeat);
    assert!(message.starts_with("the same calls end in other bytes the second time"), "{message}");
    let never_set = "u32 x; if (acked > 3) x = 2; cc_grow(conn, (x & 1) + !counter);";
    let message = fuzzed(never_set, Part::Repeat);
    assert!(message.contains("or memory that was never set"), "{message}");
}

#[test]
fn the_fuzzer_names_a_hook_that_does_not_end_and_tries_nothing_further() {
    let code = file("own_p", "while (acked > 2) __asm__ volatile(\"\");", "");
    let all = Fuzzer::new(&[("own_p", &code)], &NEVER).unwrap().run_all().unwrap();
    let [fuzzed] = all.as_slice() else { panic!("{} parts", all.len()) };
    assert!(fuzzed.endless && fuzzed.message.starts_with("cong_avoid does not end\n"));
}

#[test]
fn what_it_may_only_read_is_const() {
    for (field, value) in [("state", 9), ("cwnd_limited", 77), ("in_flight_segs", 0)] {
        let message = refused("own_k", &file("own_k", &format!("conn->{field} = {value};"), ""));
        assert!(message.starts_with("./own_k.c:15: "), "{message}");
        assert!(message.contains("read-only") && message.contains(field), "{message}");
    }
}

#[test]
fn a_hook_that_returns_a_window_does_not_write_to_the_connection() {
    let code = file("own_n", GROW, "")
        .replace("return cc_half_window(conn);", "*(u8 *)&conn->state = 9; return 2;");
    let fuzzer = Fuzzer::new(&[("own_n", &code)], &NEVER).unwrap();
    let message = fuzzer.run(Part::Limits).unwrap().message;
    assert!(message.starts_with("ssthresh writes to cc_conn"), "{message}");
}

#[test]
fn a_write_one_word_beyond_the_state_is_found() {
    let message = fuzzed("((u32 *)state)[1] = counter + acked;", Part::Rules);
    assert!(message.starts_with("own_i.c:16: heap-buffer-overflow"), "{message}");
}

#[test]
fn a_read_beyond_the_connection_is_found() {
    let beyond = "state->count = counter += ((const u8 *)conn)[sizeof(*conn) + 24];";
    let message = fuzzed(beyond, Part::Rules);
    assert!(message.starts_with("own_i.c:16: global-buffer-overflow"), "{message}");
}

#[test]
fn what_it_prints_is_no_finding() {
    let code = format!("extern int puts(const char *text);\n{}", file("own_l", "puts(\"9\");", ""));
    let fuzzer = Fuzzer::new(&[("own_l", &code)], &NEVER).unwrap();
    let message = fuzzer.run(Part::Limits).unwrap().message;
    assert!(message.ends_with(" calls") && message.lines().count() == 1, "{message}");
}

#[test]
fn names_of_the_checkers_files_are_free() {
    for name in ["fuzz", "measured"] {
        let code = file(name, GROW, "u32 count;");
        assert_eq!(examine(name, &code, name, &NEVER).unwrap().state_bytes, 4);
        let fuzzer = Fuzzer::new(&[(name, &code)], &NEVER).unwrap();
        assert_eq!(fuzzer.run(Part::Repeat).unwrap().passed, Some(true), "{name}");
    }
}

#[test]
fn a_compiler_can_be_cancelled() {
    let code = format!("#include \"/dev/zero\"\n{}", file("own_m", GROW, ""));
    let cancel = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let loaded = scope.spawn(|| load_unless("own_m", &code, "own_m.c", &cancel));
        std::thread::sleep(Duration::from_millis(300));
        cancel.store(true, Ordering::Relaxed);
        assert_eq!(loaded.join().unwrap().unwrap_err(), LoadError::Cancelled);
    });
}

#[test]
fn without_a_compiler_there_is_one_clear_error() {
    // No other test loads this name. The variable is read at each compilation.
    let program = std::env::current_exe().unwrap();
    if std::env::var_os("CC").is_some_and(|cc| cc == "/no/compiler") {
        let error = load("own_j", &file("own_j", GROW, ""), "own_j.c").unwrap_err();
        assert!(matches!(error, LoadError::Machine { .. }), "{error}");
        assert!(error.to_string().contains("apt install gcc"), "{error}");
        return;
    }
    let status = std::process::Command::new(program)
        .args(["--exact", "user_defined::without_a_compiler_there_is_one_clear_error"])
        .env("CC", "/no/compiler")
        .status()
        .unwrap();
    assert!(status.success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_macro_bomb_ends_at_the_limit_of_memory() {
    let ten = "#define TEN(x) x x x x x x x x x x\n#define M(x) TEN(TEN(TEN(x)))\n";
    let bomb = format!("{ten}static int bomb(int a) {{ return a M(M(M(+a))); }}\n");
    let code = bomb + &file("own_bomb", GROW, "u32 count;");
    let message = refused("own_bomb", &code);
    assert!(message.contains("./own_bomb.c: the compiler took more than 2 GB"), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_guarded_call_without_end_is_left_and_reported_once() {
    let code =
        file("own_g", "volatile u32 n = 0; while (acked > 1) n++; cc_grow(conn, n + 3);", "");
    let instance = || {
        let loaded = load("own_g", &code, "own_g.c").unwrap();
        Instance::of(loaded, None, &BTreeMap::new()).unwrap().guarded()
    };
    guarded::limit(Duration::from_millis(100));
    let (mut looping, mut conn) = (instance(), Conn::default());
    assert_eq!((window_after(instance()), looping.ssthresh(&conn)), (13, 5));
    looping.cong_avoid(&mut conn, 2);
    // Nobody knows of it yet, so further calls do nothing.
    looping.cong_avoid(&mut conn, 1);
    assert_eq!(conn.cwnd_segs, 10);
    let left = Stalled { algorithm: "own_g".into(), hook: "cong_avoid".into() };
    assert_eq!((guarded::stalled(), guarded::stalled()), (Some(left.clone()), None));
    assert_eq!(window_after(instance()), 13);
    let elsewhere = std::thread::spawn(move || {
        looping.cong_avoid(&mut Conn::default(), 2);
        guarded::stalled()
    });
    assert_eq!((elsewhere.join().unwrap(), guarded::stalled()), (Some(left), None));
}
