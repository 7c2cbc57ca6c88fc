// Builds and patches the document. Data becomes text nodes and attributes, never markup.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An HTML element. Besides attributes, `props` may have `on` (handlers by event name), `style` (properties for
 * the CSSOM: the page's policy forbids style attributes), `value`, `key` (identity among siblings when patched)
 * and `island` (its content belongs to another component and is not patched).
 */
export function h(tag, props, ...children) {
  return build(document.createElement(tag), props ?? {}, children);
}

/** An SVG element. */
export function svg(tag, props, ...children) {
  return build(document.createElementNS(SVG, tag), props ?? {}, children);
}

function build(element, { on, style, key, island, value, ...attributes }, children) {
  for (const [name, content] of Object.entries(attributes)) setAttribute(element, name, content);
  for (const [name, content] of Object.entries(style ?? {})) element.style.setProperty(name, content);
  element.append(...children.flat(Infinity).filter(isContent));
  element.handlers = on ?? {};
  for (const [name, handler] of Object.entries(element.handlers)) element[`on${name}`] = handler;
  if (key !== undefined) element.key = String(key);
  if (island) element.island = true;
  // After the children: a select only knows the values of the options it has.
  if (value !== undefined) element.value = element.intendedValue = value;
  return element;
}

function isContent(child) {
  return child !== null && child !== undefined && child !== false && child !== '';
}

function setAttribute(element, name, content) {
  if (content === null || content === undefined || content === false) return;
  element.setAttribute(name, content === true ? '' : content);
}

/** Makes the content of `host` look like `content`, keeping elements (and focus, scroll, animations) that stay. */
export function fill(host, ...content) {
  const target = document.createDocumentFragment();
  target.append(...content.flat(Infinity).filter(isContent));
  patchChildren(host, target);
}

function patchChildren(host, target) {
  const keyed = new Map();
  for (const child of host.children) if (child.key) keyed.set(child.key, child);
  let cursor = host.firstChild;
  for (const next of [...target.childNodes]) {
    const match = next.key ? keyed.get(next.key) : cursor;
    if (!match || !isSameKind(match, next)) {
      host.insertBefore(next, cursor);
      continue;
    }
    // A second element with the same key is treated as a different one.
    keyed.delete(next.key);
    if (match === cursor) cursor = cursor.nextSibling;
    else host.insertBefore(match, cursor);
    patch(match, next);
  }
  removeFrom(cursor);
}

function isSameKind(old, next) {
  return old.nodeName === next.nodeName && old.key === next.key;
}

function removeFrom(node) {
  while (node) {
    const removed = node;
    node = node.nextSibling;
    removed.remove();
  }
}

function patch(old, next) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return;
  }
  if (old.island) return;
  patchAttributes(old, next);
  patchHandlers(old, next);
  patchChildren(old, next);
  if (next.intendedValue !== undefined && old !== document.activeElement) old.value = next.intendedValue;
}

// `open` is controlled by the user; `style` must go through the CSSOM.
const UNPATCHED_ATTRIBUTES = new Set(['open', 'style']);

function patchAttributes(old, next) {
  for (const { name } of [...old.attributes]) {
    if (!UNPATCHED_ATTRIBUTES.has(name) && !next.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (!UNPATCHED_ATTRIBUTES.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (old.style.cssText !== next.style.cssText) old.style.cssText = next.style.cssText;
}

function patchHandlers(old, next) {
  for (const name of Object.keys(old.handlers)) old[`on${name}`] = null;
  for (const [name, handler] of Object.entries(next.handlers)) old[`on${name}`] = handler;
  old.handlers = next.handlers;
}
