//! Examining the machine does not change it. This test is a separate process, since it counts the
//! process's resources.

use std::fs;

use dumbbell_testbed::facts;

#[test]
fn looking_leaves_nothing_behind() {
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    let devices = || fs::read_to_string("/proc/net/dev").unwrap().lines().count();
    let _ = facts();
    let before = (open(), devices());
    let _ = facts();
    assert_eq!((open(), devices()), before);
}
