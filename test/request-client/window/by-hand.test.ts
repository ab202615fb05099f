import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../../support/leaks.js';
import { openWindow, startEcho } from './window-fixture.js';

guardLeaks(t);

const echo = await startEcho(t);
const window = await openWindow(t);
const { act, press, holds, shows, call } = window;

const lines = (): Promise<unknown> =>
  call('page', '[...document.querySelectorAll("[role=treeitem]")].map((line) => line.getAttribute("aria-label"))');

/** A paste of a text into what matches a selector; whether the page took it. */
const paste = (selector: string, text: string): Promise<unknown> =>
  call(
    'page',
    `(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', ${JSON.stringify(text)});
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
      return !document.querySelector(${JSON.stringify(selector)}).dispatchEvent(event);
    })()`,
  );

const drop = (name: string, text: string): Promise<unknown> =>
  call(
    'page',
    `(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
      const main = document.querySelector('main');
      const taken = ['dragover', 'drop'].map(
        (type) => !main.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true })),
      );
      return taken.every(Boolean);
    })()`,
  );

t.test('with the keyboard alone, a command is imported, sent, tested, and saved', async (t) => {
  await press('Control+i');
  await holds('document.activeElement?.matches("aside textarea") === true');
  await act(':focus', 'input', `curl ${echo.origin}/users -d name=ada`);
  await press('Enter');
  await shows('1 request imported');
  await press('Control+l');
  await holds('document.activeElement?.matches("input.url") === true');
  await press('Tab');
  await press('Tab');
  const isOn = (name: string) => `document.activeElement?.innerText.startsWith(${JSON.stringify(name)}) === true`;
  await holds('document.activeElement?.role === "tab"');
  while ((await call('page', isOn('After'))) !== true) await press('ArrowRight');
  await press('Tab');
  await holds('document.activeElement?.getAttribute("aria-label") === "After script"');
  await act(':focus', 'input', "pm.test('has an id', () => pm.expect(pm.response.json().id).to.equal(7))");
  await press('Control+Enter');
  await shows('1 test passed');
  await press('Control+s');
  await holds('document.activeElement?.getAttribute("aria-label") === "File name or path"');
  const file = join(window.folder, 'by-hand.json');
  await act(':focus', 'input', file);
  await act(':focus', 'press', 'Enter');
  await shows(`Saved ${file}`);
  const [item] = JSON.parse(readFileSync(file, 'utf8')).item;
  t.match(item.event[0], { listen: 'test', script: { exec: [/has an id/] } });
  t.match(item.request, { method: 'POST', url: { raw: `${echo.origin}/users` } });
});

t.test('a command is pasted anywhere, and over the address; an address is pasted as itself', async (t) => {
  t.equal(await paste('main', `curl ${echo.origin}/pasted`), true);
  await holds(`document.querySelector('input.url')?.value === ${JSON.stringify(`${echo.origin}/pasted`)}`);
  t.equal(await paste('input.url', `${echo.origin}/other`), false);
  t.equal(await paste('input.url', `curl -X DELETE '${echo.origin}/over'`), true);
  await holds(`document.querySelector('input.url')?.value === ${JSON.stringify(`${echo.origin}/over`)}`);
  t.equal(await paste('#search', `curl ${echo.origin}/in-a-field`), false);
  t.strictSame(await lines(), ['POST /users', 'GET /pasted', 'DELETE /over']);
  t.equal(await paste('main', `fetch('${echo.origin}/fetched', { method: 'PUT' })`), true);
  await shows('fetch');
  await holds('document.querySelectorAll("[role=treeitem]").length === 4');
});

t.test('files are dropped, and their format is named', async (t) => {
  const log = {
    log: {
      version: '1.2',
      creator: { name: 'x', version: '1' },
      entries: [{ request: { method: 'GET', url: `${echo.origin}/har`, headers: [] } }],
    },
  };
  t.equal(await drop('page.har', JSON.stringify(log)), true);
  await shows('1 request imported from HAR');
  await holds(`document.querySelector('input.url')?.value === ${JSON.stringify(`${echo.origin}/har`)}`);
  t.equal(await drop('nothing.txt', 'no request'), true);
  await holds('document.querySelector("aside textarea").value === "no request"');
});

t.test('a file name accepted before the folder is listed is saved in that folder', async (t) => {
  const hold = `(() => {
    const send = window.fetch;
    window.fetch = async (path, ...rest) => {
      if (String(path).endsWith('/folder')) {
        window.fetch = send;
        await new Promise((go) => { window.listFolder = go; });
      }
      return send(path, ...rest);
    };
  })()`;
  await call('page', hold);
  await press('Control+Shift+s');
  await holds('document.activeElement?.getAttribute("aria-label") === "File name or path"');
  await act(':focus', 'input', 'early');
  await act(':focus', 'press', 'Enter');
  await call('page', 'window.listFolder()');
  const file = join(window.folder, 'early.json');
  await shows(`Saved ${file}`);
  t.equal(JSON.parse(readFileSync(file, 'utf8')).item.length, 5);
});
