#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| overtone_fleet::fuzzing::check(data));
