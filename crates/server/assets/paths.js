// Addresses within the page.

export const OVERVIEW = '#/';

export function sessionPath(id) {
  return `#/session/${encodeURIComponent(id)}`;
}
