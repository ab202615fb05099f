import t from 'tap';
import { EgressRules, type EgressSetting, type SessionEgress } from '#troupe/net-policy/egress.js';
import { isHostPattern } from '#troupe/net-policy/host-pattern.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const SETTING: EgressSetting = {
  ownPort: 4444,
  ownNames: ['troupe.test'],
  hostAddress: '172.17.0.1',
  forward: [],
  egress: {},
  loopback: 'forwarded',
};

function rules(wish: Partial<SessionEgress> = {}, setting: Partial<EgressSetting> = {}): EgressRules {
  return new EgressRules({ ...SETTING, ...setting }, { forward: [], egress: {}, ...wish });
}

t.test('Localhost by any name reaches forwarded ports only, and never the service', async (t) => {
  const forwarding = rules({ forward: [3000, 4444] });
  for (const host of ['localhost', 'LOCALHOST.', 'shop.localhost', '127.0.0.1', '127.8.8.8', '::1', '0.0.0.0', '::']) {
    t.match(forwarding.route(host, 3000), { kind: 'loopback' }, host);
    t.match(forwarding.route(host, 3001), { kind: 'refused', reason: /not forwarded/ }, host);
    t.match(forwarding.route(host, 4444), { kind: 'refused', reason: /the service itself/ }, host);
  }
  t.match(forwarding.route('::ffff:127.0.0.1', 22), { kind: 'refused' });
  t.match(rules({}, { forward: [5000] }).route('localhost', 5000), { kind: 'loopback' }, 'for all sessions');
});

t.test('Metadata addresses are blocked in every spelling, and no list opens them', async (t) => {
  const open = rules({ egress: { allow: ['169.254.169.254', '0.0.0.0/0', '::/0', '*.internal'] } });
  for (const address of [
    '169.254.169.254',
    '169.254.170.2',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    'fd00:ec2::254',
    'fe80::1%eth0',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
  ]) {
    t.match(open.refusal(address, 'metadata.google.internal', 80), /metadata/, address);
  }
});

t.test('A name that resolves to this machine is blocked, whatever it is', async (t) => {
  for (const address of ['127.0.0.1', '::1', '0.0.0.0', '::ffff:127.0.0.1']) {
    t.match(rules().refusal(address, 'innocent.test', 80), /this machine/, address);
  }
  t.match(rules().route('troupe.test', 443), { kind: 'refused', reason: /the service itself/ });
  t.match(rules().route('host.docker.internal', 8080), { kind: 'address', address: '172.17.0.1' });
  t.match(rules({}, { hostAddress: null }).route('host.docker.internal', 8080), { kind: 'refused' });
});

t.test('Private and public addresses are open by default', async (t) => {
  for (const address of ['10.1.2.3', '172.20.0.5', '192.168.1.1', '192.0.2.1', '2001:db8::1', 'fd12::1']) {
    t.equal(rules().refusal(address, 'shop.test', 80), null, address);
  }
  t.match(rules().route('shop.test', 443), { kind: 'name', name: 'shop.test' });
});

t.test('A denied host is blocked by its name and by the address that a name resolves to', async (t) => {
  const denying = rules(
    { egress: { deny: ['*.bad.test'] } },
    { egress: { deny: ['10.0.0.0/8', 'worse.test', '2001:db8::/32'] } },
  );
  for (const host of ['a.bad.test', 'A.b.BAD.test.', 'worse.test'])
    t.match(denying.route(host, 80), { kind: 'refused' });
  for (const host of ['bad.test', 'notbad.test', 'worse.test.example'])
    t.match(denying.route(host, 80), { kind: 'name' });
  for (const address of ['10.9.9.9', '::ffff:10.9.9.9', '2001:db8::7']) {
    t.match(denying.refusal(address, 'shop.test', 80), /denied/, address);
  }
  t.equal(denying.refusal('11.0.0.1', 'shop.test', 80), null);
});

t.test('With an allow list only its entries are open, and a session can only narrow it', async (t) => {
  const narrow = rules(
    { egress: { allow: ['shop.test', '192.168.0.0/16'] } },
    { egress: { allow: ['*.test', '192.168.1.0/24'] } },
  );
  t.equal(narrow.refusal('192.0.2.1', 'shop.test', 80), null);
  t.equal(narrow.refusal('192.168.1.7', '192.168.1.7', 80), null);
  for (const [address, host] of [
    ['192.0.2.1', 'other.test'],
    ['192.168.2.7', '192.168.2.7'],
    ['192.0.2.1', 'elsewhere.example'],
  ] as const) {
    t.match(narrow.refusal(address, host, 80), /not on the allow list/, host);
  }
  t.match(narrow.refusal('169.254.169.254', 'shop.test', 80), /metadata/);
});

t.test(
  'A server that the service itself uses is closed by name and address, at its port alone, and no list opens it',
  async (t) => {
    const closed = [{ name: 's3.test', addresses: ['10.0.0.9'], port: 443 }];
    const open = rules({ egress: { allow: ['s3.test', '10.0.0.9', '*.test'] } }, { egress: { closed } });
    t.match(open.route('S3.test.', 443), { kind: 'refused', reason: /the service itself uses/ });
    t.match(open.refusal('10.0.0.9', 'innocent.test', 443), /the service itself uses/);
    t.match(open.refusal('::ffff:10.0.0.9', 'innocent.test', 443), /the service itself uses/);
    t.match(open.route('s3.test', 8443), { kind: 'name' });
    t.equal(open.refusal('10.0.0.9', 's3.test', 8443), null);
    const local = [{ name: null, addresses: ['127.0.0.1'], port: 9000 }];
    const own = rules({ forward: [9000] }, { egress: { closed: local } });
    for (const host of ['localhost', '127.0.0.1', '::1', 'x.localhost'])
      t.match(own.route(host, 9000), { kind: 'refused' });
  },
);

t.test('Names, domains, addresses and ranges are patterns; nothing else is', async (t) => {
  for (const pattern of ['shop.test', '*.shop.test', '10.0.0.0/8', '::1', 'fd00::/8', 'localhost', 'a_b.test']) {
    t.ok(isHostPattern(pattern), pattern);
  }
  for (const pattern of ['', '*', 'http://shop.test', 'shop.test/x', '10.0.0.0/33', '10.0.0.0/8/8', 'a b', 'shop.*']) {
    t.notOk(isHostPattern(pattern), pattern);
  }
});
