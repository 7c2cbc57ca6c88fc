#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| overtone_fuzz::tasks::check(data));
