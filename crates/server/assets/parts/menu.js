// A menu with the usual keyboard control: arrows move, Escape closes it and returns to the button.

import { h } from '../dom.js';
import { icon } from './icon.js';

/** A button with a menu. `items`: `{label, act, ...attributes}`. */
export function menu(label, test, items) {
  const entries = items.map(({ label: name, act, ...props }) => h('button', {
    type: 'button', role: 'menuitem', tabindex: '-1', class: 'menu-item', ...props, on: { click: choose(act) },
  }, name));
  const button = h('button', {
    type: 'button', class: 'button quiet icon-only', 'aria-haspopup': 'menu', 'aria-expanded': 'false',
    'aria-label': label, 'data-test': test, on: { click: toggle, keydown: openWithArrow },
  }, icon('more'));
  // An island: the views that draw it do not know whether it is open.
  const list = { class: 'menu-list', role: 'menu', hidden: true, 'aria-label': label, on: { keydown: walk } };
  return h('div', { class: 'menu', key: 'menu', island: true, on: { focusout: closeWhenLeft } },
    button, h('div', list, entries));
}

function setOpen(frame, isOpen) {
  const [button, list] = frame.children;
  list.hidden = !isOpen;
  button.setAttribute('aria-expanded', String(isOpen));
  if (isOpen) list.firstElementChild.focus();
}

function toggle(event) {
  const frame = event.currentTarget.parentElement;
  setOpen(frame, frame.children[1].hidden);
}

function openWithArrow(event) {
  if (event.key !== 'ArrowDown') return;
  event.preventDefault();
  setOpen(event.currentTarget.parentElement, true);
}

function choose(act) {
  return (event) => {
    setOpen(event.currentTarget.closest('.menu'), false);
    act();
  };
}

function closeWhenLeft(event) {
  if (!event.currentTarget.contains(event.relatedTarget)) setOpen(event.currentTarget, false);
}

function walk(event) {
  const list = event.currentTarget;
  const items = [...list.children];
  const here = items.indexOf(document.activeElement);
  const to = { ArrowDown: here + 1, ArrowUp: here - 1 + items.length, Home: 0, End: items.length - 1 }[event.key];
  if (event.key === 'Escape') {
    setOpen(list.parentElement, false);
    list.previousElementSibling.focus();
  } else if (to !== undefined) {
    event.preventDefault();
    items[to % items.length].focus();
  }
}
