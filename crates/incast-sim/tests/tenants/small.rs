//! Fixed limits, and what each kind of hypervisor does with two pairs.
