//! How a program ends that could not go on rightly: by a panic of the handler, which aborts the process, and of which
//! [`crate::start`] tells `incast`.

/// Why; a whole sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended(pub(crate) &'static str);

/// Ends the program if `right` is false.
pub(crate) fn ended_unless(right: bool, why: &'static str) {
    if !right {
        std::panic::panic_any(Ended(why));
    }
}
