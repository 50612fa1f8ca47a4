//! End of a program that cannot go on: the handler panics, [`crate::start`] reports the reason to `incast`, the process aborts.

/// Reason, a whole sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended(pub(crate) &'static str);

pub(crate) fn ended_unless(right: bool, why: &'static str) {
    if !right {
        std::panic::panic_any(Ended(why));
    }
}
