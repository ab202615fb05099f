import t from 'tap';
import { parseAddress } from '#troupe/net-policy/address.js';
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

t.test('Ports of other machines are closed to rules that exist already, by address, and opened again', async (t) => {
  const ports = new ClosedPorts();
  const setting = { ownPort: 1, closedPorts: ports.shared, ownNames: [], hostAddress: null, forward: [], egress: {} };
  const rules = new EgressRules({ ...setting, loopback: 'open' }, { forward: [], egress: {} });
  const node = (address: string, port: number) => ({ address: parseAddress(address) ?? [], port });
  t.equal(rules.refusal('10.0.0.7', 'node-b', 4444), null);
  ports.closeTargets([node('10.0.0.7', 4444), node('fd00::8', 443), node('127.0.0.1', 5555)]);
  for (const address of ['10.0.0.7', '::ffff:10.0.0.7'])
    t.match(rules.refusal(address, 'node-b', 4444), /the service itself uses/, address);
  t.match(rules.refusal('fd00:0::8', 'node-b', 443), /the service itself uses/);
  t.equal(rules.refusal('10.0.0.7', 'site', 80), null, 'its other ports are open: a site may be there');
  t.equal(rules.refusal('10.0.0.8', 'site', 4444), null);
  t.equal(rules.route('localhost', 5555).kind, 'refused', 'a node of the same machine, by any of its names');
  t.same(new ClosedPorts(ports.shared).addressesAt(443), ['fd00::8'], 'another thread sees the same');
  ports.closeTargets([node('10.0.0.8', 4444)]);
  t.same(ports.addressesAt(4444), ['10.0.0.8']);
  t.equal(rules.refusal('10.0.0.7', 'node-b', 4444), null);
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
