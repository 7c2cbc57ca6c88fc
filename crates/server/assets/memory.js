// Browser storage. It may be unavailable (private windows, policies); then nothing is stored.

export function recall(storage, name) {
  try {
    return storage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(storage, name, value) {
  try {
    if (value === null) storage.removeItem(name);
    else storage.setItem(name, value);
  } catch {
    // Storage is unavailable.
  }
}
