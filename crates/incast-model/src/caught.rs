//! Turns panics of libraries into errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` without printing its panic.
///
/// # Errors
///
/// The message of a panic. Drop the values that the work was changing: they may be inconsistent.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !SILENT.try_with(Cell::get).unwrap_or(false) {
                before(panic);
            }
        }));
    });
    let outer = SILENT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    SILENT.set(outer);
    done.map_err(|panic| message(&*panic))
}

/// Message of a panic.
pub fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_errors() {
        assert_eq!(caught(|| 5), Ok(5));
        let at = 7;
        assert_eq!(caught(|| panic!("length {at}")), Err::<(), _>("length 7".to_owned()));
        assert_eq!(caught(|| panic!("plain")), Err::<(), _>("plain".to_owned()));
        assert!(!SILENT.get());
        assert_eq!(caught(|| (caught(|| ()), SILENT.get())), Ok((Ok(()), true)));
    }
}
