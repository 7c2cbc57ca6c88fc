//! Just enough of the ELF format to say whether a program needs a dynamic loader.

use std::path::Path;

use crate::error::{Error, Result};

const MAGIC_64_LITTLE: &[u8] = b"\x7fELF\x02\x01";
const PT_INTERP: u32 = 3;

/// Whether the program starts without a dynamic loader: it has no `PT_INTERP` header.
pub(crate) fn is_static(path: &Path) -> Result<bool> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("cannot read program", path, &e))?;
    segment_types(&bytes)
        .map(|types| !types.contains(&PT_INTERP))
        .ok_or_else(|| Error::new(format!("not a 64-bit little-endian ELF program: {}", path.display())))
}

/// The type of each program header. Offsets are those of the 64-bit file header.
fn segment_types(bytes: &[u8]) -> Option<Vec<u32>> {
    if !bytes.starts_with(MAGIC_64_LITTLE) {
        return None;
    }
    let table = usize::try_from(u64::from_le_bytes(array(bytes, 32)?)).ok()?;
    let size = usize::from(u16::from_le_bytes(array(bytes, 54)?));
    let count = usize::from(u16::from_le_bytes(array(bytes, 56)?));
    (0..count)
        .map(|index| Some(u32::from_le_bytes(array(bytes, table.checked_add(index * size)?)?)))
        .collect()
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_read_and_garbage_is_refused() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let types = segment_types(&bytes).unwrap();
        assert!(types.contains(&1), "every program has a PT_LOAD: {types:?}");
        assert_eq!(segment_types(b"#!/bin/sh\n"), None);
        assert_eq!(segment_types(&bytes[..60]), None);
    }
}
