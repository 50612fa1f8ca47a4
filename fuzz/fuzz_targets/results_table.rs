#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| incast_fuzz::results::table(bytes));
