//! The messages of libbpf. It sends them to one function for the whole process, on the thread that
//! called it.

use std::cell::RefCell;

use libbpf_rs::{PrintLevel, set_print};

thread_local! {
    static HEARD: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Do `work` and return libbpf's messages meanwhile, which are not printed.
pub(crate) fn of<T>(work: impl FnOnce() -> T) -> (T, String) {
    set_print(Some((PrintLevel::Info, note)));
    HEARD.set(Some(String::new()));
    let done = work();
    (done, HEARD.take().unwrap_or_default())
}

fn note(_: PrintLevel, message: String) {
    HEARD.with_borrow_mut(|heard| {
        if let Some(heard) = heard {
            heard.push_str(&message);
        }
    });
}
