import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import t from 'tap';
import { Collection } from '#request-client/engine/collection/collection.js';
import { guardLeaks } from '../../../test/support/leaks.js';
import { openWindow, startEcho } from './window-fixture.js';

guardLeaks(t);
const echo = await startEcho(t);
const { call, act, press, holds, shows, folder, faults } = await openWindow(t);
const file = join(folder, 'users.json');

/** Names of the tree's lines from the top. */
const lines = (): Promise<unknown> =>
  call('page', '[...document.querySelectorAll("[role=treeitem]")].map((line) => line.getAttribute("aria-label"))');
const saved = (): Collection => Collection.parse(readFileSync(file, 'utf8'));
const unsaved = 'document.querySelector("h1 [aria-label=\\"not saved\\"]") !== null';

t.test('a pasted command is imported by the button, and by Enter', async (t) => {
  await call('page', axe.source);
  t.strictSame(await faults(), [[], []]);
  await act('{button}Import', 'click');
  await act('aside textarea', 'input', `curl '${echo.origin}/users?limit=10' -H 'Accept: application/json'`);
  await act('aside button.main', 'click');
  await shows('1 request imported');
  t.equal(await call('page', 'document.querySelector("input.url").value'), `${echo.origin}/users?limit=10`);
  await act(
    'aside textarea',
    'input',
    `curl -X PUT ${echo.origin}/users/7 -H "Authorization: Bearer $TOKEN" -d '{"name":"ada"}'; curl 'open`,
  );
  await act('aside textarea', 'press', 'Enter');
  await shows('with the variable TOKEN');
  await shows('A single quote is never closed');
  t.equal(await call('page', 'document.querySelector("aside textarea").value'), "curl 'open");
  await act('aside textarea', 'press', 'Enter');
  t.strictSame(await lines(), ['GET GET /users', 'PUT PUT /users/7']);
  t.strictSame(await faults(), [[], []]);
});

t.test('an imported request is reviewed, edited, given an After script, and run', async (t) => {
  await act('#row-i1', 'click');
  await act('input.url', 'input', `${echo.origin}/users/{{id}}?limit=20`);
  await shows('No value for id');
  await press('Control+e');
  await act('[aria-label="Variable 2 name"]', 'input', 'id');
  await act('[aria-label="Variable 2 value"]', 'input', '7');
  await shows(`${echo.origin}/users/7?limit=20`);
  t.equal(await call('page', `document.querySelector('[aria-label="Parameter 1 value"]').value`), '20');
  await act('{^tab}Headers', 'click');
  await act('[aria-label="Header 2 name"]', 'input', 'X-Trace');
  await act('[aria-label="Header 2 value"]', 'input', '{{trace}}');
  await shows('No value for trace');
  await act('[aria-label="Header 2 value"]', 'input', '{{$randomCountryCode}}');
  await holds('!document.body.innerText.includes("No value for")');
  await act('{tab}Body', 'click');
  await act('[aria-label="Kind of body"]', 'select', 'Text');
  await act('[aria-label="Body"]', 'input', '{"id":{{id}},"of":{{ id }},"none":[ ]}');
  await act('{button}Format', 'click');
  await holds('document.querySelectorAll("[aria-label=Body] .cm-line").length === 5');
  await act('.line input.method', 'input', 'POST');
  await act('{tab}After', 'click');
  await act('[aria-label="After script"]', 'input', "pm.test('has an id', () => match(response, { body: { id: 7 } }))");
  t.strictSame(await faults(), [[], []]);
  await press('Control+Enter');
  await shows('200 OK');
  await shows('1 test passed');
  const [sent] = echo.heard.splice(0);
  t.match(sent, {
    method: 'POST',
    url: '/users/7?limit=20',
    headers: { 'x-trace': /^[A-Z]{2}$/ },
    body: '{\n  "id": 7,\n  "of": 7,\n  "none": []\n}',
  });
  t.strictSame(await faults(), [[], []]);
});

t.test('File > Save asks for a name once; the file contains what is on screen', async (t) => {
  await act('{button}File', 'click');
  await act('{^menuitem}Save As', 'hover');
  t.strictSame(await faults(), [[], []]);
  await act('.menu button:nth-of-type(3)', 'click');
  await act('[aria-label="File name or path"]', 'input', 'users');
  t.strictSame(await faults(), [[], []]);
  await act('dialog button.main', 'click');
  await shows('Saved');
  t.equal(await call('page', unsaved), false);
  t.match(saved().at(['item', 0]), {
    request: {
      method: 'POST',
      url: { raw: `${echo.origin}/users/{{id}}?limit=20` },
      body: { raw: '{\n  "id": {{id}},\n  "of": {{ id }},\n  "none": []\n}' },
    },
    event: [{ listen: 'test', script: { exec: ["pm.test('has an id', () => match(response, { body: { id: 7 } }))"] } }],
  });
  t.match(saved().at(['variable']), [{ key: 'TOKEN' }, { key: 'id', value: '7' }]);
  await act('input.url', 'input', `${echo.origin}/users`);
  await holds(unsaved);
  await press('Control+s');
  await holds(`!(${unsaved})`);
  t.match(saved().at(['item', 0]), { request: { url: { raw: `${echo.origin}/users` } } });
});

t.test('the tree is searched, ordered by drag and by key, renamed, duplicated, deleted, and undone', async (t) => {
  await act('[aria-label="New folder"]', 'click');
  await holds('document.querySelectorAll("[role=treeitem]").length === 3');
  await act('#row-i1', 'drag', '#row-i3');
  await holds('document.querySelector("[aria-level=\\"2\\"]")?.id === "row-i1"');
  t.strictSame(await lines(), ['PUT PUT /users/7', 'Folder New folder', 'POST GET /users']);
  await act('[role=tree]', 'press', 'F2');
  await act('[aria-label="New name"]', 'input', 'List users');
  await act('[aria-label="New name"]', 'press', 'Enter');
  await holds('document.querySelector("#row-i1").getAttribute("aria-label") === "POST List users"');
  await act('[role=tree]', 'press', 'Control+d');
  await shows('List users copy');
  await act('[role=tree]', 'press', 'Alt+ArrowUp');
  await holds('[...document.querySelectorAll(".row .name")].at(-1).innerText === "List users"');
  await act('#search', 'input', 'copy');
  await holds('document.querySelectorAll("[role=treeitem]").length === 2');
  await act('#search', 'clear');
  await act('[role=tree]', 'press', 'Delete');
  await shows('Deleted List users copy');
  await press('Control+z');
  await holds('document.querySelector(".rows").innerText.includes("List users copy")');
  await press('Control+s');
  await holds(`!(${unsaved})`);
  t.match(saved().at(['item', 1]), { name: 'New folder', item: [{ name: 'List users copy' }, { name: 'List users' }] });
});

t.test('what is pasted while an import runs is imported after it, and a body keeps its line breaks', async (t) => {
  const before = (await lines()) as string[];
  const paste = (text: string): string => `(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(text)});
    document.querySelector('main').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
  })()`;
  await call('page', `${paste(`curl ${echo.origin}/one`)}; ${paste(`curl ${echo.origin}/two -d $'a\\r\\nb'`)}; 0`);
  await holds(`document.querySelectorAll("[role=treeitem]").length === ${before.length + 2}`);
  await holds(`document.querySelector("input.url")?.value === "${echo.origin}/two"`);
  await holds('document.querySelector("[aria-label=Body]")?.innerText.includes("b") === true');
  await press('Control+Enter');
  await shows('200 OK');
  t.match(echo.heard.at(-1), { url: '/two', body: 'a\r\nb' });
  await press('Control+z');
  await press('Control+z');
  await holds(`document.querySelectorAll("[role=treeitem]").length === ${before.length}`);
  await press('Control+e');
});

t.test('an answer that comes late does not take back what has changed since', async () => {
  await call(
    'page',
    `(() => { const real = fetch; window.held = []; window.fetch = async (url, init) => { const answer = await real(url, init);
      if ((init?.method ?? 'GET') === 'GET' && /document$/.test(url)) await new Promise((go) => held.push(go));
      return answer; }; window.letAllThrough = () => { window.fetch = real; for (const go of held) go(); }; return 0; })()`,
  );
  await act('#row-i2', 'click');
  await act('[role=tree]', 'press', 'F2');
  await act('[aria-label="New name"]', 'input', 'Put');
  await act('[aria-label="New name"]', 'press', 'Enter');
  await holds('held.length === 1');
  await act('[role=tree]', 'press', 'Control+d');
  await holds('held.length === 2');
  await call('page', 'held[1](); 0');
  await shows('Put copy');
  await call('page', 'letAllThrough(); 0');
  await act('[role=tree]', 'press', 'Delete');
  await shows('Deleted Put copy');
  await press('Control+z');
  await holds('document.querySelector(".rows").innerText.includes("Put copy")');
  await press('Control+z');
  await press('Control+z');
  await holds('!document.querySelector(".rows").innerText.includes("Put")');
});

t.test('a variable set by a script is shown at once, and is kept while other variables are edited', async () => {
  await act('#row-i2', 'click');
  await act('{tab}After', 'click');
  await act('[aria-label="After script"]', 'input', "pm.collectionVariables.set('made', 'by a script')");
  await press('Control+Enter');
  await shows('Set by scripts');
  await act('[aria-label="Variable 1 value"]', 'input', 'secret');
  await holds('document.querySelector("aside dl")?.innerText.includes("by a script")');
  await act('#row-i1', 'click');
});

t.test('the history shows every answer again', async () => {
  await act('{button}History', 'click');
  await act('aside li:last-child .line', 'click');
  await shows('1 test passed');
});

t.test(
  'changes are not lost without a question: by New, by Open, or by another program that writes the file',
  async (t) => {
    await act('input.url', 'input', 'http://127.0.0.1:1/kept');
    await press('Control+n');
    await shows('Save the changes?');
    t.strictSame(await faults(), [[], []]);
    await act('{button}Cancel', 'click');
    t.equal(await call('page', 'document.querySelector("input.url").value'), 'http://127.0.0.1:1/kept');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"PUT /users/7"', '"Elsewhere"'));
    await press('Control+s');
    await shows('The file was changed on disk');
    await act('{button}Cancel', 'click');
    t.match(readFileSync(file, 'utf8'), '"Elsewhere"');
    await call('page', 'window.dispatchEvent(new Event("focus"))');
    await act('{button}Open again', 'click');
    await shows('Elsewhere');
    await press('Control+n');
    await shows('No request yet');
    await press('Control+o');
    await act('{^option}users.json', 'click');
    await shows('Elsewhere');
  },
);

t.test('a collection of 2,000 requests opens, is searched and edited quickly', async (t) => {
  const item = Array.from({ length: 20 }, (_, group) => ({
    name: `Folder ${group}`,
    item: Array.from({ length: 100 }, (_, index) => ({
      name: `Request ${group * 100 + index}`,
      request: { method: 'GET', header: [], url: { raw: `${echo.origin}/${index}` } },
      response: [],
    })),
  }));
  const big = join(folder, 'big.json');
  writeFileSync(big, JSON.stringify({ info: { name: 'Big', schema: 'v2.1.0' }, item }, null, '\t'));
  await press('Control+o');
  await act('[aria-label="File name or path"]', 'input', big);
  const from = performance.now();
  await act('dialog button.main', 'click');
  await shows('Folder 19');
  t.comment(`on screen after ${Math.round(performance.now() - from)} ms`);
  await act('#search', 'input', 'request 1999');
  await act('{^treeitem}GET Request 1999', 'click');
  await act('input.url', 'input', `${echo.origin}/edited`);
  await press('Control+Enter');
  await shows('200 OK');
  t.equal(echo.heard.at(-1)?.url, '/edited');
  t.ok(Number(await call('page', 'document.querySelectorAll("[role=treeitem]").length')) < 100, 'draws what is seen');
});

t.test(
  'a request that opens late does not cover one that was opened after it, nor one of another collection',
  async (t) => {
    const request = (name: string) => ({ name, request: { method: 'GET', url: { raw: `${echo.origin}/${name}` } } });
    const open = async (name: string, ...requests: readonly string[]): Promise<void> => {
      const path = join(folder, `${name}.json`);
      writeFileSync(path, JSON.stringify({ info: { name, schema: 'v2.1.0' }, item: requests.map(request) }));
      await press('Control+o');
      await act('[aria-label="File name or path"]', 'input', path);
      await act('dialog button.main', 'click');
      await holds(`document.querySelector('[aria-label="GET ${requests[0]}"]') !== null`);
    };
    // The first form that is asked for waits for `letLate`.
    const hold = `(() => {
    const own = window.fetch;
    window.fetch = (...args) => {
      if (!String(args[0].url ?? args[0]).includes('items/')) return own(...args);
      window.fetch = own;
      return new Promise((resolve) => (window.letLate = () => resolve(own(...args))));
    };
  })()`;
    const url = `document.querySelector('input.url')?.value`;
    const tabs = `document.querySelectorAll('[aria-label="Open tabs"] [role=tab]').length`;
    await act('#search', 'clear');
    await press('Control+s');
    await holds('document.querySelector("[aria-label=\\"not saved\\"]") === null');
    await open('two', 'late', 'quick', 'chosen');
    await act('{treeitem}GET chosen', 'click');
    await holds(`${url} === ${JSON.stringify(`${echo.origin}/chosen`)}`);
    await call('page', hold);
    await act('{treeitem}GET late', 'click');
    await holds('window.letLate !== undefined');
    await act('{treeitem}GET quick', 'click');
    await holds(`${url} === ${JSON.stringify(`${echo.origin}/quick`)}`);
    await call('page', 'window.letLate(); 1');
    await holds(`${tabs} === 3`);
    t.equal(await call('page', url), `${echo.origin}/quick`);
    await open('three', 'first', 'second');
    await call('page', `delete window.letLate; ${hold}`);
    await act('{treeitem}GET first', 'click');
    await holds('window.letLate !== undefined');
    await open('four', 'other');
    await call('page', 'window.letLate(); 1');
    await act('{treeitem}GET other', 'click');
    await holds(`${url} === ${JSON.stringify(`${echo.origin}/other`)}`);
    t.equal(await call('page', tabs), 1);
  },
);
