import t from 'tap';
import { isLoopback, isMetadata } from '#troupe/net-policy/blocked-addresses.js';
import { EgressRules, type EgressSetting } from '#troupe/net-policy/egress.js';
import { HostPatterns, isHostPattern } from '#troupe/net-policy/host-pattern.js';
import { readHost } from '#troupe/net-policy/read-host.js';
import { assertSupported } from '#troupe/supervisor/jobs/request-check.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const OWN = 4444;
const SOCKS = 5555;

/** An IPv4 address in every way that IPv6 has to say it. */
function inIPv6(address: string): readonly string[] {
  const bytes = address.split('.').map(Number);
  const hex = (at: number) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16);
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const two = (one: number, other: number) => ((one << 8) | other).toString(16);
  const turned = [hex(0), hex(2)].map((group) => (Number.parseInt(group, 16) ^ 0xffff).toString(16)).join(':');
  return [
    `::ffff:${address}`,
    `::ffff:${hex(0)}:${hex(2)}`,
    `0:0:0:0:0:ffff:${hex(0)}:${hex(2)}`,
    `0000:0000:0000:0000:0000:FFFF:${hex(0).padStart(4, '0')}:${hex(2).padStart(4, '0')}`,
    `::${address}`,
    `::${hex(0)}:${hex(2)}`,
    `::ffff:0:${address}`,
    `::ffff:0:${hex(0)}:${hex(2)}`,
    `64:ff9b::${address}`,
    `64:ff9b::${hex(0)}:${hex(2)}`,
    `64:ff9b:0:0:0:0:${hex(0)}:${hex(2)}`,
    `0064:FF9B::${hex(0)}:${hex(2)}`,
    `64:ff9b:1::${address}`,
    `64:ff9b:1:fffe::${hex(0)}:${hex(2)}`,
    `64:ff9b:1:${two(a, b)}:${two(0, c)}:${two(d, 0)}::`,
    `64:ff9b:1:${two(9, a)}:${two(0, b)}:${two(c, d)}::`,
    `64:ff9b:1:9:${two(0, a)}:${two(b, c)}:${two(d, 0)}:0`,
    `2002:${hex(0)}:${hex(2)}::`,
    `2002:${hex(0)}:${hex(2)}::1`,
    `2002:${hex(0)}:${hex(2)}:1:2:3:4:5`,
    `2001:0:${hex(0)}:${hex(2)}::1`,
    `2001::${turned}`,
    `2001:0:c000:201:8000:63bf:${turned}`,
    `2001:db8::5efe:${address}`,
    `2001:db8::200:5efe:${hex(0)}:${hex(2)}`,
    `::ffff:${address}%eth0`,
    `64:ff9b::${hex(0)}:${hex(2)}%1`,
  ];
}

/** An IPv4 address in the spellings of URL parsers and of `inet_aton`, for hosts as people write them. */
function spelled(address: string): readonly string[] {
  const bytes = address.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (value: number) => `0x${value.toString(16)}`;
  const octal = (value: number) => `0${value.toString(8)}`;
  const wide = (text: string) => text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
  const circled = (text: string) => text.replace(/[1-9]/g, (digit) => String.fromCodePoint(0x2460 + Number(digit) - 1));
  return [
    address,
    `${address}.`,
    `${address}..`,
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    String(number),
    `${number}.`,
    hex(number),
    hex(number).toUpperCase().replace('X', 'x'),
    `0X${number.toString(16)}`,
    octal(number),
    bytes.map(hex).join('.'),
    bytes.map(octal).join('.'),
    bytes.map((byte) => `000${byte.toString(8)}`).join('.'),
    bytes.map((byte) => `0x0${byte.toString(16)}`).join('.'),
    `${hex(a)}.${octal(b)}.${c}.${d}`,
    `${hex(a)}.${(b * 256 + c) * 256 + d}`,
    wide(address),
    wide(String(number)),
    circled(address),
    address.replaceAll('.', '\u3002'),
    address.replaceAll('.', '\uff0e'),
    address.replaceAll('.', '\uff61'),
    `${wide(address)}\u3002`,
    address.replace('.', '\u00ad.'),
    [...address].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join(''),
    ` ${address} `,
    `[::ffff:${address}]`,
    `[::${address}]`,
    `[64:ff9b::${address}]`,
  ];
}

const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.0.23',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
];
const LOCAL = ['127.0.0.1', '127.0.0.2', '127.255.255.254', '0.0.0.0', '0.1.2.3'];
const IPV6_METADATA = [
  'fe80::1',
  'fe80::1%eth0',
  'fe80::a9fe:a9fe',
  'FE80:0000:0000:0000:0000:0000:0000:0001',
  'febf:ffff::1',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'FD00:0EC2:0:0::254',
  'fd00:0ec2:ffff::',
  'fd20:ce::254',
  'fd20:00ce:0:0:0:0:0:254',
  'fd00:42::42',
];
const IPV6_LOCAL = [
  '::1',
  '::',
  '0:0:0:0:0:0:0:1',
  '0000:0000:0000:0000:0000:0000:0000:0001',
  '::0:1',
  '0::',
  '::1%lo',
  '::0.0.0.1',
];
const SETTING: EgressSetting = {
  ownPort: OWN,
  ownNames: ['troupe.test'],
  hostAddress: null,
  forward: [3000],
  egress: {},
  loopback: 'forwarded',
};
const WISH = { forward: [], egress: {} };
const EVERYTHING = { allow: ['0.0.0.0/0', '::/0', 'localhost', '*.localhost', ...METADATA, ...LOCAL] };
const forwarded = new EgressRules({ ...SETTING, egress: EVERYTHING }, WISH);
const open = new EgressRules({ ...SETTING, loopback: 'open' }, WISH, new Set([SOCKS]));
const openToAll = new EgressRules({ ...SETTING, egress: EVERYTHING, loopback: 'open' }, WISH, new Set([SOCKS]));
const ALL = [forwarded, open, openToAll];

/** As a browser's request goes: by its host, then by the address where it is one. */
function closed(rules: EgressRules, host: string, port: number): boolean {
  const route = rules.route(host, port);
  if (route.kind === 'refused') return true;
  return route.kind === 'address' && rules.refusal(route.address, host, port) !== null;
}

t.test('Metadata addresses are closed in every spelling, under every policy, and no list opens them', async (t) => {
  const addresses = [...METADATA, ...IPV6_METADATA, ...METADATA.flatMap(inIPv6)];
  for (const address of addresses) {
    t.ok(isMetadata(address), address);
    for (const rules of ALL) t.match(rules.refusal(address, 'shop.test', 80), /metadata/, address);
  }
  for (const host of [
    ...METADATA.flatMap(spelled),
    ...addresses.flatMap((one) => (one.includes(':') ? [`[${one}]`, one] : [one])),
  ]) {
    for (const rules of ALL) t.ok(closed(rules, host, 80), host);
  }
});

t.test('Loopback is one place in every spelling', async (t) => {
  const addresses = [...LOCAL, ...IPV6_LOCAL, ...LOCAL.slice(0, 3).flatMap(inIPv6)];
  for (const address of addresses) {
    t.ok(isLoopback(address), address);
    t.match(forwarded.refusal(address, 'shop.test', 80), /this machine/, address);
    for (const port of [OWN, SOCKS]) t.match(open.refusal(address, 'shop.test', port), /the service itself/, address);
    t.equal(open.refusal(address, 'shop.test', 80), null, address);
  }
  const hosts = [
    ...LOCAL.flatMap(spelled),
    ...addresses.flatMap((one) => (one.includes(':') ? [`[${one}]`, one] : [one])),
    ...[
      'localhost',
      'LOCALHOST',
      'localhost.',
      'LocalHost..',
      'shop.localhost',
      'a.b.localhost.',
      'ｌｏｃａｌｈｏｓｔ',
      'loc\u00adalhost',
    ],
    ...['ⓛocalhost', 'localhost\u3002', '%6cocalhost'],
  ];
  for (const host of hosts) {
    t.match(forwarded.route(host, 3000), { kind: 'loopback', addresses: ['127.0.0.1', '::1'] }, host);
    t.match(forwarded.route(host, 3001), { kind: 'refused', reason: /not forwarded/ }, host);
    for (const rules of ALL) t.match(rules.route(host, OWN), { kind: 'refused', reason: /the service itself/ }, host);
    t.match(open.route(host, SOCKS), { kind: 'refused' }, host);
    t.match(open.route(host, 3001), { kind: 'loopback' }, host);
  }
});

t.test('Open loopback keeps the address that was asked for', async (t) => {
  for (const [host, address] of [
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.2', '127.0.0.2'],
    ['2130706434', '127.0.0.2'],
    ['::1', '::1'],
    ['[0:0:0:0:0:0:0:1]', '::1'],
    ['::ffff:127.0.0.3', '127.0.0.3'],
    ['0.0.0.0', '0.0.0.0'],
  ] as const) {
    t.same(open.route(host, 80), { kind: 'loopback', addresses: [address] }, host);
  }
  t.same(open.route('shop.localhost', 80), { kind: 'loopback', addresses: ['127.0.0.1', '::1'] });
});

t.test('Lists hold for open loopback too', async (t) => {
  const denying = (...deny: string[]) => new EgressRules({ ...SETTING, loopback: 'open', egress: { deny } }, WISH);
  const allowing = (...allow: string[]) =>
    new EgressRules({ ...SETTING, loopback: 'open' }, { forward: [], egress: { allow } });
  const every = [
    'localhost',
    'x.localhost',
    '127.0.0.1',
    '127.0.0.9',
    '::1',
    '0.0.0.0',
    '::',
    '2130706433',
    '::ffff:7f00:1',
  ];
  for (const entry of [
    '127.0.0.0/8',
    'localhost',
    '127.0.0.1',
    '::1',
    '0.0.0.0/0',
    '::/0',
    '127.1',
    '2130706433',
    '0x7f.1',
  ]) {
    for (const host of every) t.match(denying(entry).route(host, 80), { kind: 'refused' }, `${entry}: ${host}`);
    t.ok(denying(entry).refusal('127.0.0.1', 'harmless.test', 80), entry);
  }
  for (const host of ['localhost', '127.0.0.1', '::1'])
    t.match(denying('127.0.0.9').route(host, 80), { kind: 'loopback' });
  t.match(denying('127.0.0.9').route('127.0.0.9', 80), { kind: 'refused' });
  t.match(denying('*.localhost').route('x.localhost', 80), { kind: 'refused' });
  for (const host of every)
    t.match(allowing('shop.test').route(host, 80), { kind: 'refused', reason: /allow list/ }, host);
  t.same(allowing('localhost').route('localhost', 80), { kind: 'loopback', addresses: ['127.0.0.1', '::1'] });
  t.match(allowing('localhost').route('127.0.0.1', 80), { kind: 'refused' });
  t.same(allowing('127.0.0.1').route('localhost', 80), { kind: 'loopback', addresses: ['127.0.0.1'] });
  t.match(allowing('127.0.0.1').route('127.0.0.2', 80), { kind: 'refused' });
  t.match(allowing('0.0.0.0/0', '::/0', 'localhost').route('localhost', OWN), { kind: 'refused' });
});

t.test('A connection to a closed port of this machine shows by its addresses', async (t) => {
  for (const port of [OWN, SOCKS]) {
    for (const [local, remote] of [
      ['127.0.0.1', '127.0.0.1'],
      ['127.0.0.1', '127.0.0.2'],
      ['::1', '::1'],
      ['::ffff:127.0.0.1', '::ffff:127.0.0.1'],
      ['192.168.1.5', '192.168.1.5'],
      ['2001:db8::7', '2001:db8::7'],
      ['fd12::1', 'fd12::1'],
      [undefined, undefined],
    ] as const) {
      t.ok(open.isOwn(port, local, remote), `${local} ${remote}`);
      t.notOk(open.isOwn(port + 1, local, remote));
    }
    t.notOk(open.isOwn(port, '192.168.1.5', '192.168.1.6'));
  }
});

t.test(
  'What is closed by a range is closed behind every tunnel; what is open is open by its own address alone',
  async (t) => {
    const denied = new HostPatterns(['10.0.0.0/8', '2001:db8:5::/48']);
    for (const address of ['10.9.9.9', ...inIPv6('10.9.9.9'), '2001:db8:5::1', '2001:0DB8:0005:0:0::']) {
      t.ok(denied.mayReach(address), address);
    }
    const direct = new Set(['::ffff:10.9.9.9', '::ffff:a09:909', '0:0:0:0:0:ffff:a09:909', '64:ff9b::10.9.9.9']);
    for (const address of direct) t.ok(denied.hasAddress(address), address);
    for (const address of [
      '2002:a09:909::1',
      '2001:db8::5efe:a09:909',
      '64:ff9b:1::a09:909',
      '::10.9.9.9',
      '2001::f5f6:f6f6',
    ]) {
      t.notOk(denied.hasAddress(address), address);
    }
  },
);

t.test('Other places stay open, however they are written', async (t) => {
  const places = [
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '192.0.2.1',
    '198.51.100.7',
    '100.64.0.1',
    '100.100.100.201',
    '128.0.0.1',
  ];
  for (const address of [
    ...places,
    ...places.flatMap(inIPv6),
    '2001:db8::1',
    'fd12:3456::1',
    'fc00::1',
    '2606:4700::1111',
    'ff02::1',
  ]) {
    t.notOk(isMetadata(address), address);
    t.notOk(isLoopback(address), address);
    t.equal(open.refusal(address, address, OWN), null, address);
  }
  for (const name of [
    'shop.test',
    'localhost.shop.test',
    'notlocalhost',
    'a_b.test',
    'r3---sn-x.test',
    'localhost.localdomain',
  ]) {
    t.same(open.route(name, 80), { kind: 'name', name }, name);
  }
  t.same(open.route('MÜNCHEN.test.', 80), { kind: 'name', name: 'xn--mnchen-3ya.test' });
  t.match(open.route('TROUPE.test.', 443), { kind: 'refused', reason: /the service itself/ });
});

t.test('What is no host is refused, and an address that is none is closed', async (t) => {
  for (const host of [
    '',
    '.',
    '..',
    'a b',
    'a/b',
    'a?b',
    'a#b',
    'a@127.0.0.1',
    'a:80',
    'a\\b',
    '1.2.3.256',
    '0x100000000',
    '1.2.3.4.5',
    '[::1',
    '::1]',
    'a\nb',
    'a%00b',
  ]) {
    t.equal(readHost(host), null, JSON.stringify(host));
    for (const rules of ALL) t.match(rules.route(host, 80), { kind: 'refused' }, JSON.stringify(host));
  }
  for (const address of ['', 'localhost', '127.1', '1.2.3', ':::'])
    t.ok(open.refusal(address, 'shop.test', 80), address);
});

t.test('An entry of a list that can never match is refused, and an odd spelling matches', async (t) => {
  for (const entry of [
    '1.2.3.256',
    '1.2.3.4.5',
    '0x100000000',
    '*.127.0.0.1',
    '*.10',
    '10.0.0.0/33',
    '10.1/8',
    '*',
    'a b',
    'http://a',
  ]) {
    t.notOk(isHostPattern(entry), entry);
  }
  for (const entry of ['127.1', '0x7f000001', '2130706433', '0177.0.0.1', '127.0.0.1']) {
    t.ok(isHostPattern(entry), entry);
    t.ok(new HostPatterns([entry]).hasAddress('127.0.0.1'), entry);
  }
});

t.test('A proxy at a metadata address is refused', async (t) => {
  const offers = new Set(['desktop'] as const);
  const hosts = [
    ...METADATA.flatMap((address) => [...spelled(address).slice(0, 17), `[::ffff:${address}]`]),
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[fd20:ce::254]',
  ];
  for (const host of hosts) {
    for (const server of [host, `${host}:3128`, `http://${host}`, `socks5://${host}:1080`, `HTTPS://${host}:443`]) {
      t.throws(
        () => assertSupported({ mode: 'live', proxy: { server } }, offers),
        { code: 'INVALID_REQUEST', message: /proxy: .*metadata/ },
        server,
      );
    }
  }
  for (const server of ['proxy.test:3128', 'http://127.0.0.1:3128', '10.0.0.1:80', 'socks5://[2001:db8::1]:1080']) {
    t.doesNotThrow(() => assertSupported({ mode: 'live', proxy: { server } }, offers), server);
  }
});
