import t from 'tap';
import { openHouse } from '../support/house.js';
import { httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';
import { routeTable } from '../support/route-table.js';
import { everyServer } from '../support/tested-server.js';

guardLeaks(t);

const house = await openHouse(t);
const faults: unknown[] = [];
const live = await house.live();

for (const server of await everyServer()) {
  const gateway = await house.listen({ server, onFault: (fault) => faults.push(fault) });
  for (const { name, call, status, code, issue, allow } of routeTable({ liveId: live.id })) {
    t.test(`${name} (${server})`, async (t) => {
      const answer = await httpCall(gateway.url, call);
      t.equal(answer.status, status, answer.text);
      if (code) t.match(answer.json, { code, error: /./ });
      if (issue !== undefined) t.match(answer.json, { details: { issues: [] } });
      if (issue !== undefined) t.ok(issuePaths(answer.json).includes(issue), answer.text);
      if (allow) t.equal(answer.headers.allow, allow);
      t.equal(answer.headers['x-content-type-options'], 'nosniff');
      t.equal(answer.headers['access-control-allow-origin'], undefined);
    });
  }
}

t.test('no invalid request caused a fault of the service', async (t) => {
  t.same(faults, []);
  t.equal((await house.sessions.get(live.id)).status, 'running');
});

function issuePaths(body: unknown): string[] {
  const details: unknown = Reflect.get(Object(body), 'details');
  const issues: unknown = Reflect.get(Object(details), 'issues');
  return Array.isArray(issues) ? issues.map((found: unknown) => String(Reflect.get(Object(found), 'path'))) : [];
}
