#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| incast_fuzz::foreign::ns3_flows(bytes));
