// Browser storage. It may be unavailable (private windows, policies); then nothing is stored.

export function readStored(storage, name) {
  try {
    return storage.getItem(name);
  } catch {
    return null;
  }
}

export function writeStored(storage, name, value) {
  try {
    if (value === null) storage.removeItem(name);
    else storage.setItem(name, value);
  } catch {
    // Storage is unavailable.
  }
}
