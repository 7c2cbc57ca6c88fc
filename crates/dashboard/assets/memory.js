// What the browser keeps for us. It may refuse (private windows, policies); then nothing is remembered.

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
    // Not remembered.
  }
}
