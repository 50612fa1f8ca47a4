//! `cargo test -p incast-sim --test simulation closed_forms -- --nocapture` shows the checks.

use std::fmt::Display;

fn line(id: &str, what: &str, expected: impl Display, measured: impl Display, tolerance: impl Display, pass: bool) {
    let verdict = if pass { "ok" } else { "FAIL" };
    println!("{id:<6} {what:<58} expected {expected:>16} measured {measured:>16}  {tolerance:<16} {verdict}");
}

#[track_caller]
pub(crate) fn exact<T: PartialEq + Display>(id: &str, what: &str, expected: T, measured: T) {
    let pass = expected == measured;
    line(id, what, &expected, &measured, "exact", pass);
    assert!(pass, "{id} {what}: expected {expected}, measured {measured}");
}

#[track_caller]
pub(crate) fn within(id: &str, what: &str, expected: f64, measured: f64, tolerance: f64) {
    let pass = (measured / expected - 1.0).abs() <= tolerance;
    line(id, what, round(expected), round(measured), format!("± {:.2} %", 100.0 * tolerance), pass);
    assert!(pass, "{id} {what}: expected {expected} ± {tolerance}, measured {measured}");
}

#[track_caller]
pub(crate) fn check(id: &str, what: &str, expected: impl Display, measured: f64, pass: bool) {
    line(id, what, &expected, round(measured), "", pass);
    assert!(pass, "{id} {what}: expected {expected}, measured {measured}");
}

/// Within the tolerance, or the 95 % interval (Student's t) contains the value.
#[track_caller]
pub(crate) fn confidence(id: &str, what: &str, expected: f64, runs: &[f64], tolerance: f64) {
    let n = runs.len() as f64;
    let mean = runs.iter().sum::<f64>() / n;
    let deviation = (runs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let half = student(runs.len() - 1) * deviation / n.sqrt();
    let pass = (mean / expected - 1.0).abs() <= tolerance || (mean - expected).abs() <= half;
    let text = format!("± {:.1} % or ± {:.1} % (95 %, {n} seeds)", 100.0 * tolerance, 100.0 * half / mean);
    line(id, what, round(expected), round(mean), text, pass);
    assert!(pass, "{id} {what}: expected {expected}, mean {mean} ± {half}");
}

/// 97.5 % quantile for 4 to 9 degrees of freedom.
fn student(degrees: usize) -> f64 {
    [2.776, 2.571, 2.447, 2.365, 2.306, 2.262][degrees - 4]
}

/// Jain, Chiu, Hawe, DEC TR-301, 1984.
pub(crate) fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    sum * sum / (shares.len() as f64 * squares)
}

fn round(value: f64) -> String {
    format!("{value:.6}").trim_end_matches('0').trim_end_matches('.').into()
}
