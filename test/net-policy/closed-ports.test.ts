import t from 'tap';
import { ClosedPorts } from '#troupe/net-policy/closed-ports.js';
import { EgressRules } from '#troupe/net-policy/egress.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('A closed port is closed to rules that exist already, also if it is forwarded', async (t) => {
  const ports = new ClosedPorts();
  const setting = {
    ownPort: 1,
    closedPorts: ports.shared,
    ownNames: [],
    hostAddress: null,
    forward: [4444],
    egress: {},
  };
  for (const loopback of ['open', 'forwarded'] as const) {
    const rules = new EgressRules({ ...setting, loopback }, { forward: [], egress: {} });
    for (const host of [
      'localhost',
      '127.0.0.1',
      '127.1',
      '2130706433',
      '[::1]',
      '[::ffff:127.0.0.1]',
      'a.localhost',
    ]) {
      t.equal(rules.route(host, 4444).kind, 'loopback', host);
      ports.add(4444);
      t.equal(rules.route(host, 4444).kind, 'refused', host);
      t.ok(rules.isOwn(4444, '10.1.1.1', '10.1.1.1'), 'by another address of this machine');
      ports.delete(4444);
    }
  }
});

t.test('Ports are closed one by one', async (t) => {
  const ports = new ClosedPorts();
  for (const port of [0, 7, 8, 65_535]) ports.add(port);
  for (const port of [-1, 65_536, 1.5, Number.NaN]) ports.add(port);
  const closed = Array.from({ length: 65_536 }, (_, port) => port).filter((port) =>
    new ClosedPorts(ports.shared).has(port),
  );
  t.same(closed, [0, 7, 8, 65_535]);
  ports.delete(8);
  t.notOk(ports.has(8));
  t.ok(ports.has(7));
});
