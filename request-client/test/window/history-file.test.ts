import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { HistoryFile, type KeptRequest } from '#request-client/window/history-file.js';
import { maskRequest, maskText } from '#request-client/window/mask-request.js';
import { guardLeaks } from '../../../test/support/leaks.js';

guardLeaks(t);

const entry = (at: number, item: KeptRequest['item'] = {}): KeptRequest => ({
  at,
  name: `n${at}`,
  method: 'GET',
  url: 'http://h/',
  status: 200,
  durationMs: 1,
  passed: true,
  item,
});

t.test('sent requests are available after the next start, newest first, and only to their owner', async (t) => {
  const path = join(t.testdir({}), 'state', 'history.jsonl');
  const history = await HistoryFile.open(path);
  await Promise.all([history.add(entry(1), 's1'), history.add(entry(2, { big: 'x'.repeat(70_000) }), 's2')]);
  t.match(history.entries, [{ sentId: 's2', item: null }, { sentId: 's1' }]);
  t.equal(statSync(path).mode & 0o777, 0o600);
  writeFileSync(path, `${readFileSync(path, 'utf8')}{"broken\n`);
  const again = await HistoryFile.open(path);
  t.match(again.entries, [
    { name: 'n2', sentId: null, item: null },
    { name: 'n1', item: {} },
  ]);
  await again.clear();
  t.strictSame((await HistoryFile.open(path)).entries, []);
});

t.test('the history is limited on disk too, and a failing disk does not prevent requests', async (t) => {
  const path = join(t.testdir({}), 'history.jsonl');
  const history = await HistoryFile.open(path);
  for (let at = 0; at < 700; at += 1) await history.add(entry(at), `s${at}`);
  t.equal(history.entries.length, 500);
  t.ok(readFileSync(path, 'utf8').split('\n').length <= 602);
  const nowhere = new HistoryFile('/dev/null/no/history.jsonl');
  await nowhere.add(entry(1), 's1');
  t.equal(nowhere.entries.length, 1);
});

t.test('no secret of a request is stored, variables are', (t) => {
  const hide = (text: string): string => text.replaceAll('hunter2', '********');
  const kept = JSON.stringify(
    maskRequest(
      {
        url: { raw: 'https://ada:sesame@h/x?api_key=k3y&page=2&q=hunter2', query: [{ key: 'api_key', value: 'k3y' }] },
        header: [
          { key: 'Authorization', value: 'Bearer abc.def' },
          { key: 'X-Api-Key', value: '{{key}}' },
          { key: 'Cookie', value: 'sid=91' },
          { key: 'X-Trace', value: 'on' },
        ],
        auth: {
          type: 'oauth2',
          oauth2: [
            { key: 'client_id', value: 'me', type: 'string' },
            { key: 'client_secret', value: 's3cret', type: 'string' },
          ],
        },
        body: { mode: 'raw', raw: '{"password": "pa\\"ss", "name": "ada", "refreshToken":"r1"}', base64: 'AAAA' },
      },
      hide,
    ),
  );
  for (const secret of ['sesame', 'k3y', 'hunter2', 'abc.def', '91', 's3cret', 'pa\\', 'r1', 'AAAA']) {
    t.notOk(kept.includes(secret), secret);
  }
  for (const open of ['page=2', '{{key}}', 'on', 'ada', '"me"']) t.ok(kept.includes(open), open);
  t.equal(maskText('user=ada&password=x&a=1', hide), 'user=ada&password=********&a=1');
  t.match(maskRequest({ auth: { type: 'basic', basic: { username: 'u', password: 'p' } } }, hide), {
    auth: { basic: { username: 'u', password: '********' } },
  });
  t.end();
});
