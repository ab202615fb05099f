import t from 'tap';
import { httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';
import { routeTable } from '../support/route-table.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

t.test('every wrong request to the whole service is answered as the contract says', async (t) => {
  const service = await startTestService(t);
  const { id } = await service.live();
  for (const { name, call, status, code, allow } of routeTable({ liveId: id })) {
    const answer = await httpCall(service.url, call);
    t.match(
      { status: answer.status, code: Reflect.get(Object(answer.json), 'code') },
      { status, ...(code && { code }) },
      name,
    );
    if (allow) t.equal(answer.headers.allow, allow, name);
  }
  t.match((await service.call('POST', '/api/sessions', { headers: { 'a name': 'x' } })).body, {
    error: '"headers.a name": a header name has no blanks, colons, or line breaks',
  });
  t.match(await service.run(id, '6 * 7'), { body: 42 }, 'the live session is as it was');
  t.match((await service.call('GET', '/api/sessions')).body, [{ id, state: 'running' }], 'nothing was accepted');
  t.same(
    service.logged.filter((line) => /\/api\/|\/sessions\//.test(line)),
    [],
    'nothing was a fault of the service',
  );
});
