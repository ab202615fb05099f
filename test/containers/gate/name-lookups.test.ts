import { once, setMaxListeners } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { LookUpLanes } from '#troupe/containers/gate/lookup-lanes.js';
import { NameLookUps } from '#troupe/containers/gate/name-lookups.js';
import { ProxyListeners } from '#troupe/containers/gate/proxy-listeners.js';
import { NameResolver, type SystemLookUp } from '#troupe/containers/gate/resolve-name.js';
import { SystemNames } from '#troupe/containers/gate/system-names.js';
import { type DnsReply, startDnsServer } from '../../support/dns-server.js';
import { eventually } from '../../support/eventually.js';
import { guardLeaks } from '../../support/leaks.js';
import { inTime, openFolder } from '../driver-fixture.js';

guardLeaks(t);

const HERE: DnsReply = { addresses: ['127.0.0.9'], ttlS: 60 };

interface Files {
  hosts?: string;
  resolvConf?: string;
  nsswitch?: string;
}

async function fixture(
  t: Test,
  reply: (name: string) => DnsReply,
  { files = {}, system = async () => [] }: { files?: Files; system?: SystemLookUp } = {},
) {
  const folder = openFolder(t);
  const paths = { hosts: join(folder, 'hosts'), resolvConf: join(folder, 'resolv'), nsswitch: join(folder, 'nss') };
  const write = (texts: Files) => {
    for (const [name, text] of Object.entries(texts)) writeFileSync(paths[name as keyof Files], text);
  };
  write({ hosts: '', resolvConf: 'search .', nsswitch: 'hosts: files dns', ...files });
  const dns = await startDnsServer(t, reply);
  const clock = { now: 0 };
  const names = new SystemNames(paths);
  const resolver = new NameResolver(names, { servers: [dns.address] }, system);
  const lookUps = new NameLookUps({ resolver, now: () => clock.now });
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  t.teardown(() => over.abort());
  const ask = (session: string, name: string, signal = over.signal) => lookUps.of(session)(name, signal);
  return { dns, clock, lookUps, ask, write, signal: over.signal };
}

const isDead = (name: string) => name.endsWith('.dead.test');
const live = (name: string): DnsReply => (isDead(name) ? 'silence' : HERE);
const deadNames = (count: number) => Array.from({ length: count }, (_, index) => `n${index}.dead.test`);

t.test('Names of servers that do not answer hold up the session that asks for them, and no other', async (t) => {
  const { ask, dns } = await fixture(t, live);
  for (const name of deadNames(60)) ask('crowded', name).catch(() => undefined);
  await eventually('its names are asked for', async () => dns.asked.length >= 8);
  t.same(await inTime(ask('neighbour', 'shop.test')), ['127.0.0.9']);
});

t.test(
  'Of one session 8 names are looked up at a time and 64 wait; a further one is unreachable at once',
  async (t) => {
    const { ask, dns } = await fixture(t, live);
    const left = new AbortController();
    setMaxListeners(0, left.signal);
    const ends = deadNames(72).map((name) => ask('one', name, left.signal).catch(() => 'given up'));
    t.same(await inTime(ask('one', 'shop.test')), []);
    await eventually('as many as may be are asked for', async () => new Set(dns.asked).size === 8);
    left.abort();
    t.same(new Set(await inTime(Promise.all(ends))), new Set(['given up']));
    t.equal(new Set(dns.asked).size, 8, 'of those that waited none was asked for');
    t.same(await inTime(ask('one', 'shop.test')), ['127.0.0.9'], 'and there is room again');
  },
);

t.test('Who asks for a name that is being looked up shares the look-up, also when the first one leaves', async (t) => {
  const { ask, dns } = await fixture(t, live);
  const left = new AbortController();
  const first = ask('a', 'shop.test', left.signal);
  const others = ['a', 'b', 'c'].map((session) => ask(session, 'shop.test'));
  left.abort();
  await t.rejects(first);
  t.same(await inTime(Promise.all(others)), [['127.0.0.9'], ['127.0.0.9'], ['127.0.0.9']]);
  t.same(dns.asked, ['shop.test']);
});

t.test('An answer is remembered as long as it holds, from 1 s to 5 min, and that there is none for 5 s', async (t) => {
  const ttls: Record<string, DnsReply> = {
    'now.test': { addresses: ['127.0.0.9'], ttlS: 0 },
    'minute.test': { addresses: ['127.0.0.9'], ttlS: 60 },
    'year.test': { addresses: ['127.0.0.9'], ttlS: 31_536_000 },
  };
  const { ask, dns, clock } = await fixture(t, (name) => ttls[name] ?? 'no such name');
  const lasting = async (name: string) => {
    const begun = clock.now;
    for (const ms of [0, 999, 1_000, 4_999, 5_000, 59_999, 60_000, 299_999, 300_000]) {
      clock.now = begun + ms;
      const before = dns.asked.length;
      await ask('one', name);
      if (ms > 0 && dns.asked.length > before) return ms;
    }
    return null;
  };
  t.equal(await lasting('now.test'), 1_000);
  t.equal(await lasting('minute.test'), 60_000);
  t.equal(await lasting('year.test'), 300_000);
  t.equal(await lasting('none.test'), 5_000);
});

t.test('The hosts file goes first, in every spelling of its lines, and is read again when it changes', async (t) => {
  const hosts =
    '# of this machine\n127.0.0.1 localhost\n 10.1.2.3\tShop.test  shop # front\n::1 shop.test\nfe80::1%lo far.test\n';
  const { ask, dns, write } = await fixture(t, () => HERE, { files: { hosts } });
  t.same(await ask('one', 'shop.test'), ['10.1.2.3', '::1']);
  t.same(await ask('one', 'shop'), ['10.1.2.3']);
  t.same(dns.asked, []);
  t.same(await ask('one', 'far.test'), ['127.0.0.9'], 'an address with a zone is none');
  write({ hosts: '10.4.5.6 shop.test' });
  t.same(await ask('one', 'shop.test'), ['10.4.5.6']);
  write({ hosts: '' });
  t.same(await ask('one', 'shop.test'), ['127.0.0.9']);
});

t.test(
  'Search domains are tried as resolv.conf says: before a name of few dots, and after one of enough',
  async (t) => {
    const known = new Set(['shop.two.test', 'a.b.shop.one.test']);
    const reply = (name: string) => (known.has(name) ? HERE : 'no such name');
    const resolvConf = 'nameserver 127.0.0.1\nsearch one.test two.test.\noptions ndots:2 timeout:1\n';
    const { ask, dns } = await fixture(t, reply, { files: { resolvConf } });
    t.same(await ask('one', 'shop'), ['127.0.0.9']);
    t.same(dns.asked, ['shop.one.test', 'shop.two.test']);
    t.same(await ask('one', 'a.b.shop'), ['127.0.0.9']);
    t.same(dns.asked.slice(2), ['a.b.shop', 'a.b.shop.one.test']);
  },
);

t.test('A server that fails for one spelling of a name is no reason to ask for no other', async (t) => {
  const reply = (name: string): DnsReply => (name === 'shop.two.test' ? HERE : 'server failure');
  const { ask } = await fixture(t, reply, { files: { resolvConf: 'search one.test two.test' } });
  t.same(await ask('one', 'shop'), ['127.0.0.9']);
});

t.test('Names that other sources of nsswitch.conf know are asked of the system, and only those', async (t) => {
  const asked: string[] = [];
  const system = async (name: string) => {
    asked.push(name);
    return ['127.0.0.7'];
  };
  const own = hostname().toLowerCase();
  const cases: [hosts: string, resolvConf: string, name: string, expected: string][] = [
    ['files dns', '', 'printer.local', '127.0.0.9'],
    ['files mdns4_minimal [NOTFOUND=return] dns', '', 'printer.local', '127.0.0.7'],
    ['files mdns4_minimal [NOTFOUND=return] dns', '', 'shop', '127.0.0.9'],
    ['files dns myhostname', '', own, '127.0.0.7'],
    ['files dns myhostname', '', '_gateway', '127.0.0.7'],
    ['files dns myhostname', '', 'shop', '127.0.0.9'],
    ['mymachines files dns', '', 'box', '127.0.0.7'],
    ['files resolve dns', 'nameserver 127.0.0.53', 'shop.test', '127.0.0.9'],
    ['files resolve dns', 'nameserver 127.0.0.53', 'none.test', ''],
    ['files resolve dns', 'nameserver 127.0.0.53', 'shop', '127.0.0.7'],
    ['files resolve dns', 'nameserver 10.0.0.1', 'shop.test', '127.0.0.9'],
    ['files resolve dns', 'nameserver 10.0.0.1', 'none.test', '127.0.0.7'],
    ['files ldap dns', '', 'none.test', '127.0.0.7'],
    ['files dns # ldap', '', 'none.test', ''],
  ];
  for (const [hosts, resolvConf, name, expected] of cases) {
    const files = { nsswitch: `passwd: ldap\nhosts:\t${hosts}\n`, resolvConf: `${resolvConf}\nsearch .\n` };
    const reply = (one: string) => (one === 'none.test' ? 'no such name' : HERE);
    const { ask } = await fixture(t, reply, { files, system });
    const before = asked.length;
    t.same((await ask('one', name)).join(), expected, `${name} by ${hosts}`);
    t.equal(asked.length - before, expected === '127.0.0.7' ? 1 : 0);
  }
});

t.test('The system looks up one name of a session at a time, and a neighbour has its turn meanwhile', async (t) => {
  const underWay: { readonly name: string; answer(addresses: readonly string[]): void }[] = [];
  const system = (name: string) =>
    new Promise<readonly string[]>((resolve) => underWay.push({ name, answer: resolve }));
  const { ask } = await fixture(t, () => HERE, { files: { nsswitch: 'hosts: files mdns dns' }, system });
  const crowd = ['a.local', 'b.local', 'c.local'].map((name) => ask('crowded', name));
  const neighbour = ask('neighbour', 'c.local');
  await eventually('both have a turn', async () => underWay.length === 2);
  t.same(
    underWay.map(({ name }) => name),
    ['a.local', 'c.local'],
  );
  underWay[1]?.answer(['127.0.0.7']);
  t.same(await inTime(neighbour), ['127.0.0.7']);
  for (const at of [0, 2, 3]) {
    await eventually('the next has its turn', async () => underWay.length > at);
    underWay[at]?.answer([`127.0.0.${at}`]);
  }
  // What the neighbour learned of c.local meanwhile is of no use to the one that had asked before.
  t.same(await inTime(Promise.all(crowd)), [['127.0.0.0'], ['127.0.0.2'], ['127.0.0.3']]);
});

t.test('A browser that closes its connection gives up its look-up', async (t) => {
  const { lookUps, dns, ask, signal } = await fixture(t, live);
  const folder = openFolder(t);
  const setting = { ownPort: 1, ownNames: [], hostAddress: null, forward: [], egress: {}, loopback: 'open' } as const;
  const doors = new ProxyListeners(setting, lookUps);
  const path = join(folder, 'net');
  const place = { madeAt: join(folder, 'made'), path };
  await doors.open('one', place, { kind: 'socks' });
  t.teardown(() => doors.close('one'));
  const sockets = await Promise.all(
    deadNames(72).map(async (name) => {
      const socket = connect(path);
      await once(socket, 'connect');
      socket.write(Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length, ...Buffer.from(name), 0, 80]));
      await once(socket, 'data');
      return socket;
    }),
  );
  await eventually('they are asked for', async () => new Set(dns.asked).size === 8);
  t.same(await ask('one', 'shop.test', signal), [], 'no further one waits');
  for (const socket of sockets) socket.end();
  await eventually('all of them are given up', async () => (await ask('one', 'shop.test', signal)).length === 1);
});

t.test(
  'A free place goes to the session that has the fewest, in turn, and never to one that has its share',
  async (t) => {
    const lanes = new LookUpLanes({ all: 4, each: 3, waiting: 5 });
    const { signal } = new AbortController();
    const order: string[] = [];
    const leaves: (() => void)[] = [];
    const enter = async (session: string) => {
      const leave = await lanes.enter(session, signal);
      if (leave === null) return;
      order.push(session);
      leaves.push(leave);
    };
    const all = [...'aaaaaa', ...'bbb', ...'cc'].map(enter);
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    await settled();
    t.equal(order.join(''), 'aaab');
    while (leaves.length > 0) {
      leaves.shift()?.();
      await settled();
    }
    await Promise.all(all);
    t.equal(order.join(''), 'aaabcabcaba');
  },
);
