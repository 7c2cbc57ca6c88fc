// Runs before the first paint, so that the stored theme is applied without flicker.
try {
  const theme = localStorage.getItem('overtone.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; the system's theme is used then.
}
