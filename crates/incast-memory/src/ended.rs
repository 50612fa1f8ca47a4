//! End of a program that could not go on correctly: the handler panics, [`crate::start`] reports the reason to `incast`, and
//! the process aborts.

/// Reason, a whole sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended(pub(crate) &'static str);

/// Ends the program unless `right`.
pub(crate) fn ended_unless(right: bool, why: &'static str) {
    if !right {
        std::panic::panic_any(Ended(why));
    }
}
