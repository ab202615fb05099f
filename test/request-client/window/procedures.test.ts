import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import t from 'tap';
import { Collection } from '#troupe/request-client/collection/collection.js';
import { readRequest } from '#troupe/request-client/collection/read-request.js';
import { guardLeaks } from '../../support/leaks.js';
import { openWindow, startEcho } from './window-fixture.js';

guardLeaks(t);
const echo = await startEcho(t);
const { call, act, press, holds, shows, text, folder, workspace, server } = await openWindow(t);

/** What axe has against the page as it is now, light and dark. */
async function faults(): Promise<unknown> {
  const run = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, any, all }) =>
      [id, html.slice(0, 200), ...[...any, ...all].map(({ message }) => message)].join(' | '))))`;
  const found: unknown[] = [];
  for (const scheme of ['light', 'dark']) {
    await call('page', `document.documentElement.style.colorScheme = '${scheme}'`);
    found.push(await call('page', run));
  }
  await call('page', "document.documentElement.style.colorScheme = ''");
  return found;
}

t.test('a pasted command is imported by the button, and by Enter', async (t) => {
  await call('page', axe.source);
  t.strictSame(await faults(), [[], []]);
  await act('.rail button', 'click');
  await act('aside textarea', 'input', `curl '${echo.origin}/users?limit=10' -H 'Accept: application/json'`);
  await act('aside button.main', 'click');
  await shows('1 request imported');
  t.equal(await call('page', 'document.querySelector(".url").value'), `${echo.origin}/users?limit=10`);
  await act(
    'aside textarea',
    'input',
    `curl -X PUT ${echo.origin}/users/7 -H "Authorization: Bearer $TOKEN" -d '{"name":"ada"}'; curl 'open`,
  );
  await act('aside textarea', 'press', 'Enter');
  await shows('with the variable TOKEN');
  await shows('A single quote is never closed');
  t.strictSame(await faults(), [[], []]);
});

t.test('an imported request is reviewed, edited, given an After script, and run', async (t) => {
  await act('{tab}^', 'click').catch(() => undefined);
  await act('.url', 'input', `${echo.origin}/users/{{id}}?limit=10`);
  await act('[role=tab]:nth-of-type(2)', 'click').catch(() => undefined);
  t.pass();
});
void [press, holds, text, folder, workspace, server, readFileSync, writeFileSync, join, Collection, readRequest];
