//! Errors in a configuration that types do not rule out.

/// No fault, or the key at fault and the fault.
pub type Check = Result<(), (String, String)>;

/// Refuse a key unless `valid` holds.
pub(crate) fn require(valid: bool, key: &str, problem: impl FnOnce() -> String) -> Check {
    if valid { Ok(()) } else { Err((key.into(), problem())) }
}

/// Refuse a value that is not a probability.
pub(crate) fn probability(key: &str, value: f64) -> Check {
    require((0.0..=1.0).contains(&value), key, || format!("{value}, but it must be in 0..1"))
}

/// Refuse a value that is not a finite number above zero.
pub(crate) fn positive(key: &str, value: f64) -> Check {
    let valid = value.is_finite() && value > 0.0;
    require(valid, key, || format!("{value}, but it must be above 0"))
}

/// Refuse zero.
pub(crate) fn not_zero(key: &str, value: u64) -> Check {
    require(value > 0, key, || "0, but it must be at least 1".into())
}

/// Prefix the key of a fault with the key of its container.
pub(crate) fn within(outer: &str, check: Check) -> Check {
    check.map_err(|(key, problem)| (format!("{outer}.{key}"), problem))
}
