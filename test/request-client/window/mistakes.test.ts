import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import t from 'tap';
import { CookieJar } from '#troupe/request-client/run/cookie-jar.js';
import { eventually } from '../../support/eventually.js';
import { guardLeaks } from '../../support/leaks.js';
import { openWindow, startEcho } from './window-fixture.js';

guardLeaks(t);

const echo = await startEcho(t);
const { act, press, holds, shows, call, folder, faults } = await openWindow(t);
/** Sends the request, and waits for its own answer: the one before may look the same. */
async function send(): Promise<void> {
  const before = echo.heard.length;
  await press('Control+Enter');
  await eventually('it was sent', () => echo.heard.length > before);
  await holds(`document.querySelector('.main.cancel') === null &&
    document.querySelector('.status strong')?.innerText.startsWith('200') === true`);
}

t.test('a mistake in a JSON body is named and marked, and Format says where it is', async (t) => {
  await call('page', axe.source);
  await act('[aria-label="New request"]', 'click');
  await act('input.url', 'input', `${echo.origin}/json`);
  await act('{tab}Body', 'click');
  await act('[aria-label="Kind of body"]', 'select', 'Text');
  await act('[aria-label="Language of the body"]', 'select', 'text');
  await call(
    'page',
    `(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', '{"a":1}');
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
      document.querySelector('[aria-label=Body]').dispatchEvent(event);
    })()`,
  );
  await holds('document.querySelector("[aria-label=\\"Language of the body\\"]").value === "json"');
  await act('[aria-label=Body]', 'input', '{"a": oops}');
  await shows('Line 1, column 7: Unexpected token');
  await holds('document.querySelector(".mistake")?.innerText === "o"');
  t.strictSame(await faults(), [[], []]);
  await act('{button}Format', 'click');
  await shows('Not formatted: this is not JSON at line 1, column 7');
  await act('[aria-label=Body]', 'input', '{"a": [1, 2');
  await shows('Line 1, column 12:');
});

t.test('JSON with variables is no mistake and is formatted; one without its end is pointed out', async (t) => {
  await act('[aria-label=Body]', 'input', '{"id":{{id}},"name":"{{name}}","list":[]}');
  await holds('document.querySelector(".mistaken") === null && document.querySelector(".mistake") === null');
  await act('{button}Format', 'click');
  await holds('document.querySelectorAll("[aria-label=Body] .cm-line").length === 5');
  t.match(await call('page', 'document.querySelector("[aria-label=Body]").innerText'), /"id": \{\{id\}\}/);
  await act('input.url', 'input', `${echo.origin}/{{path`);
  await shows('}} is missing after {{path');
  await act('[aria-label="Kind of body"]', 'select', 'No body');
});

t.test('a part without a file is refused before anything is sent, and the file is chosen in a dialog', async (t) => {
  const file = join(folder, 'picture.bin');
  writeFileSync(file, 'of the file');
  await act('[aria-label=Method]', 'input', 'POST');
  await act('input.url', 'input', `${echo.origin}/form`);
  await act('[aria-label="Kind of body"]', 'select', 'Form, multipart');
  await act('[aria-label="Part 1 name"]', 'input', 'upload');
  await act('{checkbox}upload', 'click');
  const before = echo.heard.length;
  await press('Control+Enter');
  await shows("The part 'upload' is a file without a path");
  t.equal(echo.heard.length, before);
  await act('{button}Choose file… for upload', 'click');
  await shows('picture.bin');
  await act('{option}picture.bin', 'click');
  await holds(`document.querySelector('[aria-label="Part 1 value"]').value === ${JSON.stringify(file)}`);
  t.strictSame(await faults(), [[], []]);
  await send();
  t.match(echo.heard.at(-1)?.body, /filename="picture.bin"[\s\S]*of the file/);
});

t.test(
  'the answer shows all headers that were sent, without the secret, and its body has a name for a file',
  async (t) => {
    await act('[aria-label="Kind of body"]', 'select', 'No body');
    await act('{tab}Auth', 'click');
    await act('{select}Type', 'select', 'Bearer token');
    await act('{input}Token', 'input', 'a-secret-token');
    await send();
    await act('{tab}Request', 'click');
    const headers = String(
      await call('page', 'document.querySelector("[aria-label=\\"Headers as sent\\"]").innerText'),
    );
    t.match(headers, /User-Agent\s+Troupe/);
    t.match(headers, /Accept\s+\*\/\*/);
    t.match(headers, /Authorization\s+Bearer \*{8}/);
    t.notMatch(headers, /a-secret-token/);
    await act('section[aria-label=Response] [role=tab]:first-child', 'click');
    await act('{button}Save body', 'click');
    await holds('document.querySelector("dialog [aria-label=\\"File name or path\\"]")?.value === "New-request.json"');
    await act('dialog button.main', 'click');
    await shows('Saved');
    t.match(JSON.parse(readFileSync(join(folder, 'New-request.json'), 'utf8')), { url: '/form' });
    // A message that is no failure leaves.
    await holds('document.querySelector("footer").innerText.trim() === ""');
  },
);

t.test('a value that a script set is in the row of its variable, and a search says where it found a text', async () => {
  await press('Control+e');
  await act('[aria-label="Variable 1 name"]', 'input', 'basket');
  await act('[aria-label="Variable 1 value"]', 'input', 'seven');
  await act('{tab}After', 'click');
  await act('[aria-label="After script"]', 'input', "pm.collectionVariables.set('basket', 'eight')");
  await send();
  await holds('document.querySelector("aside .now")?.innerText === "now eight"');
  await act('#search', 'input', 'eight');
  await holds('document.querySelector(".row .where")?.innerText === "After"');
  await act('#search', 'clear');
});

t.test('Max-Age of a cookie is the time until which it is kept', async (t) => {
  const jar = new CookieJar();
  const before = Date.now();
  await jar.take('http://h.example/', [
    'a=1; Max-Age=60',
    'b=2',
    'c=3; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
  ]);
  const [a, b, c] = await jar.list();
  for (const cookie of [a, c]) {
    const until = Date.parse(cookie?.expires ?? '');
    t.ok(until >= before + 59_000 && until <= Date.now() + 61_000, String(cookie?.name));
  }
  t.equal(b?.expires, null);
  await jar.take('http://h.example/', ['a=1; Max-Age=0']);
  t.strictSame(
    (await jar.list()).map(({ name }) => name),
    ['b', 'c'],
  );
});
