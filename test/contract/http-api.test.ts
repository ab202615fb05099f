import { readFile } from 'node:fs/promises';
import t from 'tap';
import { BatchRecord, BatchRequest } from '#troupe/protocol/batches/batch.js';
import { EVENT_DATA } from '#troupe/protocol/events.js';
import { AutoRequest, LiveRequest, SessionRecord } from '#troupe/protocol/session.js';
import { guardLeaks } from '../support/leaks.js';
import { ROUTES } from '../support/routes.js';

guardLeaks(t);

const document = await readFile(new URL('../../docs/http-api.md', import.meta.url), 'utf8');
const sections = document.split(/^### /m).slice(1);

t.test('Every route is documented once, and no unknown route is documented', async (t) => {
  const documented = sections.map((section) => /^`(.+)`\n/.exec(section)?.[1] ?? section);
  const routes = ROUTES.map((route) => `${route.method} ${route.path}`);
  t.same(documented.sort(), routes.sort());
});

t.test('Every documented route has a curl line that calls it', async (t) => {
  for (const section of sections) {
    const [, heading = '', method = '', path = ''] = /^`((\w+) (\S+))`/.exec(section) ?? [];
    const pattern = path
      .replace('{id}', '\\$ID')
      .replace('{token}', '\\$TOKEN')
      .replace('{name}', '[\\w.-]+')
      .replace('{link}', '\\$LINK')
      .replace('{path...}', '[\\w./]+');
    const call = new RegExp(`^curl .*\\$BASE${pattern}(["?' ].*)?$`, 'm').exec(section)?.[0] ?? '';
    t.ok(call, `${heading} has a line`);
    const sent = / -X (\w+)/.exec(call)?.[1] ?? (/ -d /.test(call) ? 'POST' : / -T /.test(call) ? 'PUT' : 'GET');
    t.equal(sent, method, `${heading}: ${call}`);
  }
});

t.test('Every field of a request and of a record is named', async (t) => {
  const fields = {
    ...LiveRequest.shape,
    ...AutoRequest.shape,
    ...SessionRecord.shape,
    ...BatchRequest.shape,
    ...BatchRecord.shape,
  };
  for (const field of Object.keys(fields)) t.match(document, new RegExp(`[\`"]${field}["\`]`), field);
});

t.test('Routes have different summaries that say what they are for', async (t) => {
  const seen = new Set(ROUTES.map((route) => `${route.method} ${route.path}`));
  t.equal(seen.size, ROUTES.length);
  for (const route of ROUTES) t.match(route.summary, /^[A-Z].*\.$/, route.path);
  t.ok(Object.keys(EVENT_DATA).includes('SessionEnded'), 'the event that ends a stream has its documented name');
});
