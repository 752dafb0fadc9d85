//! Algorithm files that the compiler or the verifier refuses. The message names file, line and
//! cause, and where to find the whole log.

use std::fs;
use std::path::PathBuf;

use dumbbell_testbed::kernel::{Keep, OfStack, Registered, compile, compile_file};
use dumbbell_testbed::{Error, NEVER};
use tempfile::TempDir;

use crate::alone::undisturbed;
use crate::kernel::flows::{Flows, available, is_root};

/// An algorithm with this code for growth and this state.
struct File {
    state: &'static str,
    grow: &'static str,
}

const REFERENCE: File = File { state: "u32 count;", grow: "conn->cwnd_segs += acked;" };

impl File {
    fn text(&self) -> String {
        format!(
            r#"#include "cc.h"
#define odd_parameters(P) P(gain, "segments", 1, CC_RANGE(1, 9), "gain", "none")
#define odd_presets(S)
#define odd_hooks(H) H(odd, ssthresh) H(odd, cong_avoid)
CC_PARAMS(odd);
struct odd_state {{ {} }};
static u32 odd_ssthresh(const struct odd_params *params, struct odd_state *odd,
                        const struct cc_conn *conn)
{{
	return cc_half_window(conn);
}}
static void odd_cong_avoid(const struct odd_params *params, struct odd_state *odd,
                           struct cc_conn *conn, u32 acked)
{{
	{}
}}
CC_ALGORITHM(odd, .title = "Odd", .family = CC_FAMILY_LOSS, .year = 2026,
             .source = "here", .summary = "Grows.");
"#,
            self.state, self.grow
        )
    }

    fn written(&self) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("odd.c");
        fs::write(&path, self.text()).unwrap();
        (folder, path)
    }

    /// Compile and register it.
    fn registered(&self) -> Result<Registered, Error> {
        let (_folder, path) = self.written();
        let object = compile_file(&path)?;
        Registered::new(&object, &[], OfStack::default(), Flows::new().map(), Keep::default())
    }
}

/// The message of a refused algorithm, after checks of its line, its cause and the log that it
/// names.
fn assert_refused(file: &File, line: Option<u32>, cause: &str) {
    let error = file.registered().expect_err("a refusal");
    let message = error.to_string();
    let Error::Algorithm { file, line: reported, cause: reported_cause } = error else {
        panic!("not a refusal of the algorithm: {message}");
    };
    assert!(file.ends_with("odd.c"), "{message}");
    assert_eq!(reported, line, "{message}");
    assert!(reported_cause.contains(cause), "{message}");
    assert!(message.len() < 400 && message.lines().count() == 1, "{message}");
    assert!(log_of(&message).contains("odd.c"), "{message}");
}

/// Read the log that a message names, and remove it.
fn log_of(message: &str) -> String {
    let path = message.rsplit_once("all of it is in ").expect("the log's place").1;
    let log = fs::read_to_string(path).unwrap();
    fs::remove_file(path).unwrap();
    log
}

const GROW_LINE: u32 = 15;

#[test]
fn a_syntax_error_is_reported_with_its_line() {
    undisturbed(|| {
        let file = File { grow: "conn->cwnd_segs += ;", ..REFERENCE };
        assert_refused(&file, Some(GROW_LINE), "expected expression");
    });
}

#[test]
fn a_misspelt_field_is_reported_with_its_line() {
    undisturbed(|| {
        let file = File { grow: "conn->cwnd += acked;", ..REFERENCE };
        assert_refused(&file, Some(GROW_LINE), "no member named 'cwnd' in 'struct cc_conn'");
    });
}

#[test]
fn floating_point_is_refused() {
    undisturbed(|| {
        let file = File { grow: "conn->cwnd_segs = (u32)(conn->cwnd_segs * 0.7);", ..REFERENCE };
        assert_refused(&file, Some(GROW_LINE), "floating point");
    });
}

#[test]
fn a_state_that_the_kernel_has_no_room_for_is_refused() {
    undisturbed(|| {
        let file = File { state: "u64 words[14];", ..REFERENCE };
        assert_refused(&file, Some(17), "the state exceeds what the kernel grants");
    });
}

#[test]
fn an_endless_loop_is_refused() {
    undisturbed(|| {
        let grow = "for (;;) conn->cwnd_segs ^= acked;";
        if is_root() {
            assert_refused(&File { grow, ..REFERENCE }, Some(GROW_LINE), "infinite loop detected");
        }
    });
}

#[test]
fn an_access_beyond_a_table_is_refused() {
    undisturbed(|| {
        let grow = "static const u32 t[4] = {1, 2, 3, 4}; conn->cwnd_segs += t[odd->count];";
        if is_root() {
            let file = File { grow, ..REFERENCE };
            assert_refused(&file, Some(GROW_LINE), "unbounded memory access");
        }
    });
}

#[test]
fn a_refusal_leaves_other_algorithms_alone() {
    if !is_root() {
        return;
    }
    undisturbed(|| {
        let flows = Flows::new();
        let reno = compile(dumbbell_algorithm::find("reno").unwrap(), &NEVER).unwrap();
        let registered =
            Registered::new(&reno, &[], OfStack::default(), flows.map(), Keep::default()).unwrap();
        let file = File { grow: "conn->cwnd_segs += ;", ..REFERENCE };
        log_of(&file.registered().expect_err("a refusal").to_string());
        assert!(available().contains(&registered.kernel_name().to_owned()));
        REFERENCE.registered().expect("what is not wrong");
    });
}

#[test]
fn a_missing_file_is_reported() {
    undisturbed(|| {
        let error = compile_file("/nowhere/odd.c".as_ref()).unwrap_err().to_string();
        assert_eq!(error, "/nowhere/odd.c: cannot be read: No such file or directory (os error 2)");
    });
}

#[test]
fn without_privileges_the_remedy_is_printed() {
    if !is_root() {
        return;
    }
    undisturbed(|| {
        let flows = Flows::new();
        let reno = compile(dumbbell_algorithm::find("reno").unwrap(), &NEVER).unwrap();
        let error = std::thread::scope(|scope| {
            let unprivileged = scope.spawn(|| {
                // SAFETY: no memory is involved. The direct call changes only this thread.
                let answer = unsafe { libc::syscall(libc::SYS_setresuid, 65_534, 65_534, 65_534) };
                assert_eq!(answer, 0);
                Registered::new(&reno, &[], OfStack::default(), flows.map(), Keep::default())
                    .unwrap_err()
            });
            unprivileged.join().unwrap()
        });
        let message = error.to_string();
        assert!(message.starts_with("cannot load 'reno' into the kernel: "), "{message}");
        assert!(
            message.ends_with("; run as root, or with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN"),
            "{message}"
        );
    });
}
