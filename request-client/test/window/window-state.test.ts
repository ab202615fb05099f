import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { WindowState } from '#request-client/window/window-state.js';
import { guardLeaks } from '../../../test/support/leaks.js';

guardLeaks(t);

t.test('recent files and sizes are kept from start to start, the newest ten first', async (t) => {
  const path = join(t.testdir(), 'state', 'request-window.json');
  const first = await WindowState.open(path);
  t.strictSame(first.view, { recent: [], sizes: null });
  for (let count = 1; count <= 12; count += 1) await first.opened(`/c/${count}.json`);
  await first.opened('/c/5.json');
  await first.resize({ tree: 300, request: 400, pane: 500 });
  const second = await WindowState.open(path);
  t.strictSame(second.view.sizes, { tree: 300, request: 400, pane: 500 });
  t.strictSame(
    second.view.recent,
    [5, 12, 11, 10, 9, 8, 7, 6, 4, 3].map((count) => `/c/${count}.json`),
  );
});

t.test('a broken file counts as empty, and a folder that cannot be written loses nothing else', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'request-window.json');
  writeFileSync(path, '{"recent": [1, "/a.json"], "sizes": {"tree": "wide"}}');
  const state = await WindowState.open(path);
  t.strictSame(state.view, { recent: ['/a.json'], sizes: null });
  writeFileSync(path, 'broken');
  t.strictSame((await WindowState.open(path)).view.recent, []);
  const lost = await WindowState.open(join(path, 'below'));
  await lost.opened('/b.json');
  t.strictSame(lost.view.recent, ['/b.json']);
  t.equal(readFileSync(path, 'utf8'), 'broken');
});
