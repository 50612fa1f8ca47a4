//! Memory that is read soon: a hint to the processor, without effect on results.
#![allow(unsafe_code)]

/// Begins to load the first cache line of an item.
#[inline(always)]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch never faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(item).cast());
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = item;
}
