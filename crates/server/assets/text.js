// Texts, numbers and times in the selected language. The texts come from the server.

import { get } from './api.js';

export const LANGUAGES = { 'zh-TW': '繁體中文', 'zh-CN': '简体中文', en: 'English' };

let words = new Map();
let lang = 'zh-TW';
let formats = {};

export function language() {
  return lang;
}

/** Loads the texts of a language; without one, of the configured language. */
export async function load(requested) {
  const response = await get('/api/text', { lang: requested });
  words = new Map(Object.entries(response.text));
  lang = response.lang;
  formats = makeFormats(lang);
  document.documentElement.lang = lang;
}

/** A text with its `<arguments>` filled in. */
export function t(name, values = {}) {
  const text = words.get(name) ?? name;
  return text.replace(/<(\w+)>/g, (whole, key) => (Object.hasOwn(values, key) ? String(values[key]) : whole));
}

/** The text for a value from the data; the value itself if only a newer version knows it. */
export function word(family, value) {
  return words.get(`${family}_${String(value).replaceAll('-', '_')}`) ?? String(value);
}

function makeFormats(locale) {
  const number = (options) => new Intl.NumberFormat(locale, options);
  const date = (options) => new Intl.DateTimeFormat(locale, options);
  const unit = (name) => number({ style: 'unit', unit: name, unitDisplay: 'narrow', maximumFractionDigits: 1 });
  return {
    count: number(),
    compact: number({ notation: 'compact', maximumFractionDigits: 1 }),
    percent: number({ style: 'percent' }),
    cost: number({ style: 'currency', currency: 'USD' }),
    time: date({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }),
    minute: date({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
    day: date({ month: 'short', day: 'numeric' }),
    moment: date({ dateStyle: 'medium', timeStyle: 'medium' }),
    relative: new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }),
    units: Object.fromEntries(UNITS.map(([name]) => [name, unit(name)])),
    bytes: ['byte', 'kilobyte', 'megabyte', 'gigabyte'].map(unit),
  };
}

const UNITS = [['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000], ['second', 1000]];

const known = (value) => value !== null && value !== undefined;

export const count = (value) => (known(value) ? formats.count.format(value) : '–');
export const compact = (value) => (known(value) ? formats.compact.format(value) : '–');
export const percent = (fraction) => (known(fraction) ? formats.percent.format(fraction) : '–');
export const cost = (value) => (known(value) ? formats.cost.format(value) : '–');
/** An invalid time is shown as a dash. */
function at(format) {
  return (moment) => {
    const date = new Date(moment);
    return Number.isNaN(date.getTime()) ? '–' : formats[format].format(date);
  };
}

export const time = at('time');
export const minute = at('minute');
export const day = at('day');
export const moment = at('moment');

/** A duration in its two largest units. */
export function duration(millis) {
  if (!known(millis)) return '–';
  const first = UNITS.findIndex(([, size]) => millis >= size);
  if (first === -1) return formats.units.second.format(Math.max(0, Math.round(millis / 100) / 10));
  const [name, size] = UNITS[first];
  const head = formats.units[name].format(Math.floor(millis / size));
  if (first === UNITS.length - 1) return head;
  const [nextName, nextSize] = UNITS[first + 1];
  const rest = Math.floor((millis % size) / nextSize);
  return rest ? `${head} ${formats.units[nextName].format(rest)}` : head;
}

/** A running clock: `3:07`, `1:02:07`. It is the same in every language and keeps its width. */
export function clock(millis) {
  const seconds = Math.max(0, Math.floor(millis / 1000));
  const two = (value) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** How long ago, in the largest unit; seconds are omitted, because they would change constantly. */
export function ago(moment, now = Date.now()) {
  const passed = now - Date.parse(moment);
  if (Number.isNaN(passed)) return '–';
  const [name, size] = UNITS.find(([, length]) => passed >= length && length > 1000) ?? ['second', Infinity];
  return formats.relative.format(-Math.floor(passed / size) || 0, name);
}

export function bytes(size) {
  if (!known(size)) return '–';
  const power = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(1, size)) / 3)));
  return formats.bytes[power].format(size / 1000 ** power);
}
