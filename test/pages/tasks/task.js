// Shared by all tasks: variation by ?seed=N, the sentence, and the judge.
let state = Number(new URLSearchParams(location.search).get('seed') ?? 1);
/** A whole number from 0 to n - 1. */
const random = (n) => {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * n);
};
const between = (from, to) => from + random(to - from + 1);
const pick = (list) => list[random(list.length)];
const shuffled = (list) => {
  const rest = [...list];
  return list.map(() => rest.splice(random(rest.length), 1)[0]);
};
const some = (list, count) => shuffled(list).slice(0, count);
const NAMES = ['Ada', 'Boris', 'Chen', 'Dalia', 'Emil', 'Fatima', 'Goran', 'Hana', 'Igor', 'Julia', 'Kofi', 'Lena'];
const $ = (css) => document.querySelector(css);
const all = (css) => [...document.querySelectorAll(css)];
const add = (parent, html) => {
  parent.insertAdjacentHTML('beforeend', html);
  return parent.lastElementChild;
};
/** Shows the sentence; `judge` answers what is wrong, nothing when all is well. */
const task = (sentence, judge) => {
  document.body.insertAdjacentHTML('afterbegin', '<p id="task"></p>');
  $('#task').textContent = sentence;
  window.verdict = () => judge() || 'done';
};
