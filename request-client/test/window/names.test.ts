import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../../../test/support/leaks.js';
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

t.test('the name of the collection is edited with the focus in its field', async () => {
  await act('{button}Edit', 'click');
  await act('{^menuitem}Rename collection', 'click');
  await edited('Name of the collection');
  await type('Renamed');
  await press('Enter');
  await holds('document.querySelector("[aria-label=\\"Name of the collection\\"]") === null');
});

t.test('a new request is in view, also in a closed folder', async () => {
  await act('#row-i1', 'click');
  await holds('document.querySelectorAll("[role=treeitem]").length === 1');
  await act('#row-i1', 'rightclick');
  await act('{^menuitem}New request', 'click');
  await hasLine('GET New request');
  await act('[aria-label="New folder"]', 'click');
  await hasLine('Folder New folder');
  await act('[role=tree]', 'press', 'F2');
  await edited('New name');
  await type('Drafts');
  await press('Control+e');
  await holds('document.querySelector("aside[aria-label=Variables]") !== null');
  await press('Control+e');
  await act('{textbox}New name', 'press', 'Enter');
  await hasLine('Folder Drafts');
});

t.test('what is imported is at the top level, or in the folder that is selected itself', async (t) => {
  await act('{treeitem}POST By menu', 'click');
  await holds(`document.querySelector('input.url')?.value === ${JSON.stringify(`${echo.origin}/gql`)}`);
  t.equal(await paste('main', `curl ${echo.origin}/top`), true);
  await hasLine('GET GET /top');
  const level = (name: string): Promise<void> =>
    holds(`document.querySelector('.row[aria-selected=true] .name')?.innerText === ${JSON.stringify(name)}`);
  await level('GET /top');
  t.equal(await call('page', 'document.querySelector(".row[aria-selected=true]").getAttribute("aria-level")'), '1');
  await act('{treeitem}Folder Drafts', 'click');
  t.equal(await paste('main', `curl ${echo.origin}/inside`), true);
  await level('GET /inside');
  t.not(await call('page', 'document.querySelector(".row[aria-selected=true]").getAttribute("aria-level")'), '1');
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
  const file = join(folder, 'early.json');
  await shows(`Saved ${file}`);
  t.equal(JSON.parse(readFileSync(file, 'utf8')).info.name, 'Renamed');
});
