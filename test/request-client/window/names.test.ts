import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../../support/leaks.js';
import { openWindow, startEcho } from './window-fixture.js';

guardLeaks(t);

const echo = await startEcho(t);
const { act, press, holds, shows, call, folder } = await openWindow(t);
const file = join(folder, 'names.json');
writeFileSync(
  file,
  JSON.stringify({
    info: { name: 'Names', schema: 'v2.1.0' },
    item: [
      {
        name: 'Shop',
        item: [
          {
            name: 'Gql',
            request: { method: 'POST', header: [], url: { raw: `${echo.origin}/gql` } },
            response: [{ name: 'Old', code: 404, status: 'Not Found', body: '{}' }],
          },
        ],
      },
    ],
  }),
);
await press('Control+o');
await act('[aria-label="File name or path"]', 'input', file);
await act('dialog button.main', 'click');
await shows('Gql');

const lines = (): Promise<unknown> =>
  call('page', '[...document.querySelectorAll("[role=treeitem]")].map((line) => line.getAttribute("aria-label"))');
/** The field with this label is there, has the focus, and all of its text is selected. */
const edited = (label: string): Promise<void> =>
  holds(`(() => {
    const field = document.activeElement;
    return document.hasFocus() && field?.getAttribute('aria-label') === ${JSON.stringify(label)} &&
      field.value !== '' && field.selectionStart === 0 && field.selectionEnd === field.value.length;
  })()`);
const type = (text: string): Promise<unknown> => act(':focus', 'input', text);
const hasLine = (label: string): Promise<void> =>
  holds(
    `[...document.querySelectorAll('[role=treeitem]')].some((line) => line.getAttribute('aria-label') === ${JSON.stringify(label)})`,
  );
const paste = (selector: string, text: string): Promise<unknown> =>
  call(
    'page',
    `(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', ${JSON.stringify(text)});
      return !document.querySelector(${JSON.stringify(selector)})
        .dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    })()`,
  );

t.test('F2, a double click, and both menus open the name with the focus in it; no key reaches the tree', async (t) => {
  await act('#row-i2', 'click');
  await holds('document.querySelector("input.url") !== null');
  await press('F2');
  await edited('New name');
  await press('Control+a');
  await press('Delete');
  await type('Query');
  await press('Enter');
  await hasLine('POST Query');
  await holds('document.activeElement?.getAttribute("role") === "tree"');
  await act('#row-i2', 'dblclick');
  await edited('New name');
  await type('Not this');
  await press('Escape');
  t.strictSame(await lines(), ['Folder Shop', 'POST Query']);
  await act('#row-i2', 'rightclick');
  await act('{^menuitem}Rename', 'click');
  await edited('New name');
  await type('By menu');
  await press('Enter');
  await hasLine('POST By menu');
  await act('#row-i1', 'hover');
  await act('#row-i1 .more', 'click');
  await act('{^menuitem}Rename', 'click');
  await edited('New name');
  await type('Store');
  await act('input.url', 'click');
  await hasLine('Folder Store');
  t.strictSame(await lines(), ['Folder Store', 'POST By menu']);
});

t.test('the names of the collection and of an example are edited with the focus in their field', async () => {
  await act('{button}Edit', 'click');
  await act('{^menuitem}Rename collection', 'click');
  await edited('Name of the collection');
  await type('Renamed');
  await press('Enter');
  await holds('document.querySelector("[aria-label=\\"Name of the collection\\"]") === null');
  await act('{button}Rename', 'click');
  await edited('Name of the example');
  await type('Gone');
  await press('Enter');
  await shows('Gone (404)');
});

t.test('a new request and a new folder begin with their name, also in a closed folder', async () => {
  await act('#row-i1', 'click');
  await holds('document.querySelectorAll("[role=treeitem]").length === 1');
  await act('#row-i1', 'rightclick');
  await act('{^menuitem}New request', 'click');
  await edited('New name');
  await type('List');
  await press('Enter');
  await hasLine('GET List');
  await act('[aria-label="New folder"]', 'click');
  await edited('New name');
  await type('Drafts');
  await press('Enter');
  await hasLine('Folder Drafts');
  await press('F2');
  await edited('New name');
  await press('Control+e');
  await holds('document.querySelector("aside[aria-label=Variables]") !== null');
  await press('Control+e');
});

t.test('what is imported is at the top level, or in the folder that is selected itself', async (t) => {
  await act('{treeitem}POST By menu', 'click');
  await holds(`document.querySelector('input.url')?.value === ${JSON.stringify(`${echo.origin}/gql`)}`);
  t.equal(await paste('main', `curl ${echo.origin}/top`), true);
  await hasLine('GET /top');
  const level = (name: string): Promise<void> =>
    holds(`document.querySelector('.row[aria-selected=true] .name')?.innerText === ${JSON.stringify(name)}`);
  await level('/top');
  t.equal(await call('page', 'document.querySelector(".row[aria-selected=true]").getAttribute("aria-level")'), '1');
  await act('{treeitem}Folder Drafts', 'click');
  t.equal(await paste('main', `curl ${echo.origin}/inside`), true);
  await level('/inside');
  t.not(await call('page', 'document.querySelector(".row[aria-selected=true]").getAttribute("aria-level")'), '1');
});

t.test('a command that is pasted into the address of an empty request fills it', async (t) => {
  await act('{treeitem}GET /top', 'click');
  await press('Control+t');
  await edited('New name');
  await press('Escape');
  await holds(`document.querySelector('input.url')?.value === ''`);
  const count = (await lines()) as string[];
  t.equal(await paste('input.url', `curl -X PUT ${echo.origin}/filled -H 'X-Own: 1' -d '{"a":1}'`), true);
  await holds(`document.querySelector('input.url')?.value === ${JSON.stringify(`${echo.origin}/filled`)}`);
  await hasLine('PUT /filled');
  const after = (await lines()) as string[];
  t.equal(after.length, count.length);
  await press('Control+Enter');
  await holds('document.querySelector(".status strong")?.innerText.startsWith("200") === true');
  t.match(echo.heard.at(-1), { method: 'PUT', url: '/filled', headers: { 'x-own': '1' }, body: '{"a":1}' });
  t.equal(await paste('input.url', `curl ${echo.origin}/second`), true);
  await hasLine('GET /second');
  t.equal(((await lines()) as string[]).length, count.length + 1);
});

t.test('a request that opens late does not cover one that was opened after it', async (t) => {
  const late = join(folder, 'late.json');
  const request = (name: string) => ({ name, request: { method: 'GET', url: { raw: `${echo.origin}/${name}` } } });
  writeFileSync(
    late,
    JSON.stringify({ info: { name: 'Two', schema: 'v2.1.0' }, item: [request('late'), request('quick')] }),
  );
  await press('Control+s');
  await holds('document.querySelector("[aria-label=\\"not saved\\"]") === null');
  await press('Control+o');
  await act('[aria-label="File name or path"]', 'input', late);
  await act('dialog button.main', 'click');
  await hasLine('GET quick');
  // The first form that is asked for comes when the page is told to let it.
  await call(
    'page',
    `(() => {
      const own = window.fetch;
      window.fetch = (...args) => {
        if (!String(args[0].url ?? args[0]).includes('items/')) return own(...args);
        window.fetch = own;
        return new Promise((resolve) => (window.letLate = () => resolve(own(...args))));
      };
    })()`,
  );
  await act('{treeitem}GET late', 'click');
  await holds('window.letLate !== undefined');
  await act('{treeitem}GET quick', 'click');
  const url = `document.querySelector('input.url')?.value`;
  await holds(`${url} === ${JSON.stringify(`${echo.origin}/quick`)}`);
  await call('page', 'window.letLate(); 1');
  await holds(`document.querySelectorAll('[role=tab]').length >= 2`);
  t.equal(await call('page', url), `${echo.origin}/quick`);
});
