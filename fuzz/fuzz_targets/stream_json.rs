#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| overtone_fuzz::stream_json::check(data));
