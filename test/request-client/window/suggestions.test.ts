import axe from 'axe-core';
import t from 'tap';
import { eventually } from '../../support/eventually.js';
import { guardLeaks } from '../../support/leaks.js';
import { openWindow, startEcho } from './window-fixture.js';

guardLeaks(t);
const echo = await startEcho(t);
const { call, act, press, holds, shows, faults } = await openWindow(t);
const options = (): Promise<unknown> =>
  call('page', '[...document.querySelectorAll(".suggestions li")].map((row) => row.innerText.replace(/\\s+/g, " "))');
const value = (selector: string): Promise<unknown> =>
  call('page', `document.querySelector(${JSON.stringify(selector)}).value`);

t.test('Variables are offered after {{, with their values, and taken by key', async (t) => {
  await call('page', axe.source);
  await act('[aria-label="New request"]', 'click');
  await press('Control+e');
  await act('[aria-label="Variable 1 name"]', 'input', 'base');
  await act('[aria-label="Variable 1 value"]', 'input', echo.origin);
  await act('[aria-label="Variable 2 name"]', 'input', 'basket');
  await act('[aria-label="Variable 2 value"]', 'input', '7');
  await act('input.url', 'input', '{{base}}/{{basket}}');
  await shows(`${echo.origin}/7`);
  await act('input.url', 'input', '{{bas');
  t.match(await options(), [
    `base}} ${echo.origin}`,
    'basket}} 7',
    ...Array(4).fill(/^\$randomDatabase\w+\}\} a new value for each request$/),
  ]);
  t.same(await faults(), [[], []]);
  await act('input.url', 'press', 'ArrowDown');
  await act('input.url', 'press', 'Enter');
  t.equal(await value('input.url'), '{{base}}');
  t.same(await options(), []);
  t.equal(echo.heard.length, 0, 'Enter took the suggestion, and sent nothing');
  await act('input.url', 'press', 'Enter');
  await shows('200 OK');
  t.equal(echo.heard.at(-1)?.url, '/');
});

t.test('Escape closes what is offered, Enter without a choice sends, a click takes', async (t) => {
  await act('input.url', 'input', '{{base}}/{{ba');
  await act('input.url', 'press', 'Escape');
  t.same(await options(), []);
  await act('input.url', 'input', '{{base}}/x{{ba');
  await holds('document.querySelectorAll(".suggestions li").length > 1');
  await act('.suggestions li:nth-child(2)', 'click');
  t.equal(await value('input.url'), '{{base}}/x{{basket}}');
  const before = echo.heard.length;
  await act('input.url', 'press', 'Enter');
  await eventually('it was sent', () => echo.heard.length > before);
  t.equal(echo.heard.at(-1)?.url, '/x7');
});

t.test('Headers are offered by name and value, and dynamic variables have values', async (t) => {
  await act('[aria-label="Parts of the request"] [role=tab]:nth-of-type(2)', 'click');
  await act('[aria-label="Header 1 name"]', 'input', 'content-t');
  t.same(await options(), ['Content-Type']);
  await act('[aria-label="Header 1 name"]', 'press', 'ArrowDown');
  await act('[aria-label="Header 1 name"]', 'press', 'Tab');
  await act('[aria-label="Header 1 value"]', 'input', 'app');
  await act('[aria-label="Header 1 value"]', 'press', 'ArrowDown');
  await act('[aria-label="Header 1 value"]', 'press', 'Enter');
  await act('[aria-label="Header 2 name"]', 'input', 'X-Name');
  await act('[aria-label="Header 2 value"]', 'input', '{{$randomFirstName}}');
  t.equal(await call('page', 'document.querySelectorAll("input.missing").length'), 0);
  const before = echo.heard.length;
  await press('Control+Enter');
  await eventually('it was sent', () => echo.heard.length > before);
  t.match(echo.heard.at(-1)?.headers, { 'content-type': 'application/json', 'x-name': /^[A-Z][\w'-]+$/ });
});

t.test('Scripts complete what pm has', async (t) => {
  await act('{tab}After', 'click');
  await act('[aria-label="After script"]', 'focus');
  for (const key of 'pm.en') await act('[aria-label="After script"]', 'press', key);
  // What matched fewer letters may still be listed.
  await holds('document.querySelector(".cm-tooltip-autocomplete li")?.innerText.startsWith("pm.environment.get(")');
  await shows("pm.environment.set('', '')");
  await act('.cm-tooltip-autocomplete li:first-child', 'click');
  t.match(await call('page', 'document.querySelector(".cm-content").innerText'), /^pm\.environment\.get\(''\)/);
});
