//! The C files obey C: random calls under the address and undefined-behaviour sanitizers.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

#[test]
fn random_calls_leave_the_sanitizers_silent() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = here.join("../../algorithms");
    let names: Vec<&str> =
        dumbbell_algorithm::registry().iter().map(|algorithm| algorithm.name).collect();
    let listed: String = names.iter().map(|name| format!("X({name}) ")).collect();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sanitized");

    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        .arg(format!("-DALGORITHMS={listed}"))
        .arg("-I")
        .arg(&folder)
        .arg(here.join("tests/sanitized.c"))
        .args(names.iter().map(|name| folder.join(format!("{name}.c"))))
        .arg("-o")
        .arg(&program)
        .output()
        .expect("a C compiler, as the crate's own build needs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));

    let run = Command::new(&program).output().expect("a program that was just built");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(run.stdout, format!("{} algorithms\n", names.len()).as_bytes());
}
