import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import axe from 'axe-core';
import t, { type Test } from 'tap';
import { eventually } from '../../support/eventually.js';
import { guardLeaks } from '../../support/leaks.js';
import { openWindow } from './window-fixture.js';

guardLeaks(t);

const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC';

/** Answers of many types; each body of `/json` is another one. */
async function startServer(t: Test): Promise<{ readonly origin: string; readonly bodies: Buffer[] }> {
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    bodies.push(Buffer.concat(chunks));
    const answers: { readonly [url: string]: readonly [string, string | Buffer] } = {
      '/json': ['application/json', `{"n":${bodies.length},"big":[{"id":12345678901234567890},{"id":1.50}]}`],
      '/xml': ['application/xml', '<orders><order id="1"><name>Tea</name></order><order/></orders>'],
      '/html': ['text/html', '<!doctype html><html><body><ul><li>1</li><li>2</li></ul></body></html>'],
      '/png': ['image/png', Buffer.from(PICTURE, 'base64')],
      '/bytes': ['application/octet-stream', Buffer.alloc(40_000, 'A\0')],
    };
    const [type, body] = answers[request.url ?? ''] ?? ['text/plain', 'nothing'];
    response.setHeader('Content-Type', type);
    response.end(body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

const server = await startServer(t);
const window = await openWindow(t);
const file = join(window.folder, 'answers.json');
const { act, press, holds, shows, call } = window;
const request = (name: string, path: string, more: object = {}) => ({
  name,
  request: { method: 'GET', url: { raw: `${server.origin}${path}` }, ...more },
  response: [],
});
const LATIN = Buffer.from('caf\xe9\r\nnext', 'latin1');
writeFileSync(
  file,
  JSON.stringify(
    {
      info: { name: 'Answers', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
      item: [
        {
          ...request('One', '/json', { header: [{ key: 'Accept', value: '*/*' }], auth: { type: 'noauth' } }),
          response: [
            { name: 'Old', code: 404, status: 'Not Found', body: '{"gone":true}', unknown: { kept: [1.5, 2] } },
          ],
        },
        request('Markup', '/xml'),
        request('Page', '/html'),
        request('Picture', '/png'),
        request('Binary', '/bytes'),
        request('Latin', '/json', { method: 'POST', body: { mode: 'raw', raw: '', base64: LATIN.toString('base64') } }),
        request('Lines', '/json', { method: 'POST', body: { mode: 'raw', raw: 'a\r\nb' } }),
      ],
    },
    null,
    '\t',
  ).replace('1.5,', '1.50,'),
);
await press('Control+o');
await act('[aria-label="File name or path"]', 'input', file);
await act('dialog button.main', 'click');
await shows('Binary');

/** Clicks what matches a selector and begins with a text, after a method. */
const click = (selector: string, text: string) =>
  holds(`(() => {
    const found = [...document.querySelectorAll(${JSON.stringify(selector)})]
      .find(({ innerText }) => innerText.replace(/^[A-Z]+\\s+/, '').startsWith(${JSON.stringify(text)}));
    found?.click();
    return found !== undefined;
  })()`);
const part = (name: string) => click('[aria-label="Parts of the response"] [role="tab"]', name);
const editorHas = (text: string, label = 'Response body') =>
  holds(`(document.querySelector('[aria-label="${label}"]')?.innerText ?? '').includes(${JSON.stringify(text)})`);

async function send(name: string): Promise<void> {
  await click('.row', name);
  await holds(`document.querySelector('.tab.active')?.innerText.includes(${JSON.stringify(name)}) === true`);
  await press('Control+Enter');
  await holds(`document.querySelector('.main.cancel') === null && document.querySelector('.status strong') !== null`);
}

t.test('an answer is saved as an example, viewed, renamed and deleted, and nothing of the file is lost', async (t) => {
  await send('One');
  await act('{button}Save as example', 'click');
  await editorHas('"gone": true', 'Body of the example');
  await holds('document.querySelector(\'[aria-label="Example"]\').options.length === 2');
  await act('[aria-label="Example"]', 'select', '200 OK');
  await editorHas('"big"', 'Body of the example');
  await act('{button}Rename', 'click');
  await act('{textbox}Name of the example', 'input', 'All orders');
  await press('Enter');
  await holds(`document.querySelector('[aria-label="Example"]')?.innerText.includes('All orders') === true`);
  await press('Control+s');
  await shows(`Saved ${file}`);
  const text = readFileSync(file, 'utf8');
  t.match(text, /"kept": \[\s*1\.50,\s*2\s*\]/);
  const [old, made, ...others] = JSON.parse(text).item[0].response;
  t.equal(old.name, 'Old');
  t.strictSame(others, []);
  t.match(made, {
    name: 'All orders',
    code: 200,
    status: 'OK',
    _postman_previewlanguage: 'json',
    originalRequest: {
      method: 'GET',
      url: { raw: `${server.origin}/json` },
      header: [{ key: 'Accept', value: '*/*' }],
    },
    body: /^\{"n":1,"big":\[\{"id":12345678901234567890\}/,
  });
  t.notOk('auth' in made.originalRequest);
  t.ok(made.header.some(({ key }: { key: string }) => key === 'Content-Type'));
  await act('[aria-label="Example"]', 'select', 'Old (404)');
  await editorHas('"gone": true', 'Body of the example');
  await act('{button}Delete', 'click');
  await holds('document.querySelector(\'[aria-label="Example"]\').options.length === 1');
  await act('{button}Edit', 'click');
  await act('{^menuitem}Undo', 'click');
  await holds('document.querySelector(\'[aria-label="Example"]\')?.options.length === 2');
});

t.test('JSON is filtered by a query, with numbers as the server wrote them, and a mistake is named', async () => {
  await send('One');
  await part('Body');
  await act('[aria-label="Filter by JSONPath"]', 'input', '$.big[*].id');
  await shows('2 matches');
  await editorHas('12345678901234567890');
  await editorHas('1.50');
  await act('[aria-label="Filter by JSONPath"]', 'input', '$.big[');
  await shows('The JSONPath is not valid');
  await act('[aria-label="Filter by JSONPath"]', 'input', '');
  await editorHas('"n"');
});

t.test('two answers are compared, and an answer with an example', async () => {
  await send('One');
  await part('Compare');
  await shows('1 place differs.');
  await holds('document.querySelectorAll(".cm-mergeView .cm-changedLine").length === 2');
  await act('[aria-label="What is compared"]', 'select', 'Status and headers');
  await holds(`/No difference|place/.test(document.querySelector('[aria-label="Response compare"]').innerText)`);
});

t.test('XML and HTML are pretty, pictures are shown, and every body as bytes', async () => {
  await send('Markup');
  await part('Body');
  await editorHas('    <name>Tea</name>');
  await act('{button}Raw', 'click');
  await editorHas('<orders><order id="1"><name>Tea</name></order>');
  await act('{button}Pretty', 'click');
  await send('Page');
  await editorHas('    <li>1</li>');
  await send('Picture');
  await holds('document.querySelector(\'img[alt="The body"]\')?.naturalWidth === 10');
  await act('{button}Hex', 'click');
  await holds(`(document.querySelector('[aria-label="Bytes of the body"]')?.innerText ?? '').includes('89 50 4e 47')`);
  await send('Binary');
  await shows('Bytes 0 to 16383');
  await act('{button}Next', 'click');
  await holds(
    `(document.querySelector('[aria-label="Bytes of the body"]')?.innerText ?? '').startsWith('00004000  41 00')`,
  );
});

t.test(
  'a body that is not UTF-8 is edited as Latin-1 after a question, and what is no byte is not stored',
  async (t) => {
    await click('.row', 'Latin');
    await act('{button}Edit as Latin-1…', 'click');
    await act('{button}Edit as Latin-1', 'click');
    await editorHas('caf\xe9', 'Body, Latin-1');
    const sent = async (): Promise<string> => {
      const before = server.bodies.length;
      await press('Control+Enter');
      // The answer before this one may still be shown.
      await eventually('the request has arrived', () => server.bodies.length > before);
      await holds(
        `document.querySelector('.main.cancel') === null && document.querySelector('.status strong') !== null`,
      );
      t.equal(server.bodies.length, before + 1);
      return server.bodies.at(-1)?.toString('latin1') ?? '';
    };
    t.equal(await sent(), LATIN.toString('latin1'));
    await act('[aria-label="Body, Latin-1"]', 'input', 'na\xefve');
    t.equal(await sent(), 'na\xefve');
    await act('[aria-label="Body, Latin-1"]', 'input', '\u20ac');
    await shows('Latin-1 has no €');
  },
);

t.test('to show a body in the editor does not change its line breaks', async (t) => {
  await click('.row', 'Lines');
  await editorHas('b', 'Body');
  await press('Control+Enter');
  await holds(`document.querySelector('.status strong') !== null`);
  t.equal(server.bodies.at(-1)?.toString(), 'a\r\nb');
  t.match(window.workspace.document.collection.text, /"raw": "a\\r\\nb"/);
});

t.test('runs are listed beside the history, and can be opened again', async (t) => {
  await press('Control+h');
  await holds(`document.querySelectorAll('[aria-label="History"] li').length > 0`);
  const before = window.workspace.history.lines.length;
  await press('Control+r');
  await press('Control+Enter');
  await shows('7 sent, all passed');
  t.equal(window.workspace.history.lines.length, before);
  await act('{tab}Runs', 'click');
  await shows('7 passed');
  await act('[aria-label="History"] li button', 'click');
  await shows('The run of');
  await click('[aria-label="Results of the run"] button', 'Page');
  await editorHas('<li>1</li>');
});

t.test('descriptions are written, and the collection is documented as a page without secrets', async (t) => {
  await click('.row', 'One');
  await click('[aria-label="Parts of the request"] [role="tab"]', 'Docs');
  await act('[aria-label="Description"]', 'input', 'All **orders**.');
  await act('{button}File', 'click');
  await act('{menuitem}Documentation…', 'click');
  await holds('document.querySelector("dialog button.main")?.disabled === false');
  await act('{button}Save', 'click');
  await shows(`Saved ${join(window.folder, 'Answers.html')}`);
  const page = readFileSync(join(window.folder, 'Answers.html'), 'utf8');
  t.match(page, /All <strong>orders<\/strong>/);
  t.match(page, /Example: All orders/);
  t.notMatch(page, /<script|src="http/);
});

t.test('axe finds nothing in the new parts', async (t) => {
  await call('page', axe.source);
  await send('One');
  for (const name of ['Compare', 'Examples', 'Body']) {
    await part(name);
    t.strictSame(await window.faults(), [[], []], name);
  }
});
