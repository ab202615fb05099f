import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { limitSignal } from '#troupe/base/deadline.js';
import { ForwardClient } from '#troupe/cluster/forward-client.js';
import type { ServerName } from '#troupe/gateway/http/http-server.js';
import { readYaml } from '../../scripts/support/read-yaml.mjs';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-ports.js';
import { type HttpAnswer, httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';
import { startTestService } from '../support/service.js';
import { everyServer } from '../support/tested-server.js';

guardLeaks(t);

const TOKEN = 'the-token-of-the-admin-0123456789';
process.env.TROUPE_PROXY_TOKEN = TOKEN;
const PUBLIC = { host: 'troupe.example', origin: 'https://troupe.example', authorization: `Bearer ${TOKEN}` };
const DOCUMENT = readFileSync('docs/deployment.md', 'utf8');
const deadline = () => ({ signal: limitSignal(60_000) });

/** The code blocks of a language below a heading of docs/deployment.md. */
function blocksOf(heading: string, language: string): readonly string[] {
  const [, section = ''] = DOCUMENT.split(new RegExp(`\n#+ ${heading}\n`));
  const [own = ''] = section.split(/\n#+ /);
  return [...own.matchAll(new RegExp(`\n\`\`\`${language}\n([^]*?)\n\`\`\``, 'g'))].map(([, code = '']) => code);
}

/** A text with its parts replaced, all of which it must have. */
function replaced(given: string, parts: readonly (readonly [RegExp, string])[]): string {
  return parts.reduce((settings, [part, by]) => {
    if (!part.test(settings)) throw new Error(`The settings have no ${part}`);
    return settings.replace(part, by);
  }, given);
}

/** A connection that the proxy made to the service. */
interface Made {
  /** The head of the last request. */
  sent: string;
  endedBy: 'proxy' | 'service' | null;
}

/** Stands between a proxy and a service, and notes which of them ends a connection first. */
async function relayTo(t: Test, target: number): Promise<{ readonly port: number; readonly made: readonly Made[] }> {
  const made: Made[] = [];
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (proxy) => {
    const one: Made = { sent: '', endedBy: null };
    made.push(one);
    const service = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    proxy.on('data', (chunk) => {
      const [head = ''] = chunk.toString('latin1').split('\r\n\r\n', 1);
      if (/^[A-Z]+ \/\S* HTTP/.test(head)) one.sent = head;
    });
    for (const [from, to, name] of [
      [proxy, service, 'proxy'],
      [service, proxy, 'service'],
    ] as const) {
      open.add(from);
      const ended = () => {
        one.endedBy ??= name;
        to.end();
      };
      from.on('end', ended).on('error', ended);
      from.on('close', () => {
        ended();
        open.delete(from);
      });
      from.pipe(to, { end: false });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, made };
}

/** A connection that the service ended while the proxy could have sent it one more request: the request would be lost. */
const isRisk = ({ sent, endedBy }: Made): boolean => endedBy === 'service' && !/^connection: close\r?$/im.test(sent);
/** One that carries a stream, which nobody ends. */
const isStream = ({ sent }: Made): boolean => /\/api\/(events|stream) /.test(sent);

interface Proxy {
  readonly program: 'nginx' | 'haproxy';
  /** The documented settings, with these ports. */
  readonly settings: (listen: number, upstream: number) => string;
  /** The same with idle connections that are kept for longer than the service keeps them. */
  readonly careless: (settings: string) => string;
  readonly start: (folder: string, settings: string) => readonly string[];
}

const nginx: Proxy = {
  program: 'nginx',
  settings: (listen, upstream) =>
    replaced(blocksOf('nginx', 'nginx').join('\n'), [
      [/listen 443 ssl;/, `listen 127.0.0.1:${listen};`],
      [/server 127\.0\.0\.1:4444;/, `server 127.0.0.1:${upstream};`],
      [/ssl_certificate .*\n *ssl_certificate_key .*\n/, ''],
    ]),
  careless: (settings) => replaced(settings, [[/keepalive_timeout 5s;/, 'keepalive_timeout 60s;']]),
  start: (folder, settings) => {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const file = join(folder, 'nginx.conf');
    writeFileSync(
      file,
      `daemon off;\nmaster_process off;\npid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${temporary.join('\n')}\n${settings}\n}\n`,
    );
    return ['-p', folder, '-e', 'stderr', '-c', file];
  },
};

const withHaproxy = (given: string): Proxy => ({
  program: 'haproxy',
  settings: (listen, upstream) =>
    replaced(given, [
      [/\n *bind :\d+.*/, `\n  bind 127.0.0.1:${listen}`],
      [/(server \S+) 127\.0\.0\.1:4444/, `$1 127.0.0.1:${upstream}`],
      [/"Bearer [^"]+"/, `"Bearer ${TOKEN}"`],
    ]),
  careless: (settings) => replaced(settings, [[/ *option http-server-close\n/, '']]),
  start: (folder, settings) => {
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, `${settings}\n`);
    return ['-db', '-f', file];
  },
});

const [haproxySettings = ''] = blocksOf('HAProxy', 'haproxy');
/** The backend of several nodes, with one of them. */
const severalNodes = blocksOf('Several machines', 'haproxy')
  .map((code) =>
    replaced(code, [
      [/10\.0\.0\.7:4444/, '127.0.0.1:4444'],
      [/\n *server b .*/, ''],
    ]),
  )
  .join('');
/** The balancer of a Swarm, whose name server only a Swarm has. */
const swarmBalancer = replaced(readFileSync('deploy/stack/balancer.cfg', 'utf8'), [
  [/resolvers swarm\n(?: +.*\n)+/, ''],
  [/ resolvers swarm init-addr none/, ''],
  [/server-template node 1-100 tasks\.troupe:4444/, 'server node 127.0.0.1:4444'],
]);

/** Runs a proxy in front of a service until the test is over; answers when it passes on requests. */
async function runProxy(t: Test, { program, start }: Proxy, listen: number, settings: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-proxy-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const child = spawn(program, start(folder, settings), { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (words: string) => {
      said += words;
    });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const url = `http://127.0.0.1:${listen}`;
  await eventually(`${program} passes on requests`, async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`);
    const asked = httpCall(url, { method: 'GET', path: '/api/health', headers: PUBLIC });
    return (await asked.catch(() => null))?.status === 200;
  });
  return url;
}

const serviceOf = (t: Test, server: ServerName) =>
  startTestService(t, { server, publicUrl: PUBLIC.origin, token: 'TROUPE_PROXY_TOKEN' });

/** The status of a POST over the agent's connection. */
function post(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { ...PUBLIC, 'content-type': 'application/json' };
    const sent = request(`${url}/api/login`, { method: 'POST', agent, headers, ...deadline() }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.once('error', reject);
    sent.end(JSON.stringify({ token: TOKEN }));
  });
}

/**
 * Two POSTs on each of many connections. Their pauses are around the times after which the proxy and the service end idle
 * connections: 4.5 to 12.5 s.
 */
async function pacedPosts(t: Test, url: string): Promise<readonly number[]> {
  const pairs = Array.from({ length: 40 }, async (_, index) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    const first = await post(url, agent);
    await pause(4_500 + index * 200);
    return [first, await post(url, agent)];
  });
  return (await Promise.all(pairs)).flat();
}

async function openStream(url: string): Promise<IncomingMessage> {
  const sent = request(`${url}/api/events`, { headers: PUBLIC, agent: false });
  sent.on('error', () => undefined);
  sent.end();
  const [answer] = await once(sent, 'response', deadline());
  return answer;
}

/** Nobody asks again for what was lost, so the settings must keep every request from it. */
async function checkProxy(t: Test, proxy: Proxy, server: ServerName): Promise<void> {
  const service = await serviceOf(t, server);
  const relay = await relayTo(t, Number(new URL(service.url).port));
  const listen = await freePort();
  const url = await runProxy(t, proxy, listen, proxy.settings(listen, relay.port));
  const ask = (path: string, more: object = {}, method = 'GET', body?: Buffer): Promise<HttpAnswer> =>
    httpCall(url, { method, path, headers: { ...PUBLIC, ...more }, ...(body === undefined ? {} : { body }) });
  t.match((await ask('/api/health')).json, { server }, server);
  t.equal((await ask('/api/health', { host: 'other.example' })).status, 403, 'the Host header is passed on');
  t.equal(
    (await ask('/api/health', { origin: 'https://other.example' })).status,
    403,
    'the Origin header is passed on',
  );
  const document = await httpCall(service.url, { method: 'GET', path: '/api/openapi.json', headers: PUBLIC });
  t.equal((await ask('/api/openapi.json')).text, document.text, 'a large answer is whole');
  const upload = await ask('/api/sessions/abcdefghijkl/files/a', {}, 'PUT', Buffer.alloc(4 * 1024 * 1024));
  t.match(upload, { status: 404, json: { code: 'NOT_FOUND' } }, 'uploads reach the service');

  const events = await openStream(url);
  t.teardown(() => events.destroy());
  t.match(events, { statusCode: 200, headers: { 'content-type': /^text\/event-stream/ } });
  let bytes = 0;
  events.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength;
  });
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/stream`, { headers: PUBLIC });
  t.teardown(() => socket.terminate());
  await once(socket, 'open', deadline());

  const statuses = await pacedPosts(t, url);
  t.same(new Set(statuses), new Set([200]), 'every request is answered');
  await eventually('idle connections are ended', () =>
    relay.made.every((one) => isStream(one) || one.endedBy !== null || one.sent === ''),
  );
  t.same(relay.made.filter(isRisk), [], 'and none by the service while the proxy could use it');
  t.match(
    relay.made.filter(isStream).map(({ endedBy }) => endedBy),
    [null, null],
    'the streams are open',
  );
  const before = bytes;
  await eventually('the event stream goes on', () => bytes > before);
  socket.ping();
  await once(socket, 'pong', deadline());
}

const CASES: readonly (readonly [name: string, proxy: Proxy])[] = [
  ['nginx, as documented', nginx],
  ['HAProxy, as documented', withHaproxy(haproxySettings)],
  [
    'HAProxy before several nodes, as documented',
    withHaproxy(
      replaced(haproxySettings, [
        [/\nbackend troupe\n.*/s, `\n${severalNodes}`],
        [/ *option http-server-close\n/, ''],
      ]),
    ),
  ],
  ['the balancer of the Swarm', withHaproxy(swarmBalancer)],
];

for (const [name, proxy] of CASES) {
  t.test(
    `Behind ${name}, no request meets a connection that the service ends, and streams stay open`,
    { skip: skipWithout(proxy.program) },
    async (t) => {
      await Promise.all((await everyServer()).map((server) => checkProxy(t, proxy, server)));
    },
  );
}

for (const proxy of [nginx, withHaproxy(haproxySettings)]) {
  t.test(
    `If ${proxy.program} keeps idle connections for longer than uWebSockets.js does, this is noticed`,
    { skip: skipWithout(proxy.program) || (!(await everyServer()).includes('uws') && 'uWebSockets.js is not here') },
    async (t) => {
      const service = await serviceOf(t, 'uws');
      const relay = await relayTo(t, Number(new URL(service.url).port));
      const listen = await freePort();
      const url = await runProxy(t, proxy, listen, proxy.careless(proxy.settings(listen, relay.port)));
      // HAProxy ends half of its idle connections every 5 s: of many, some are left.
      const agents = Array.from({ length: 32 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
      t.teardown(() => {
        for (const agent of agents) agent.destroy();
      });
      t.same(new Set(await Promise.all(agents.map((agent) => post(url, agent)))), new Set([200]));
      await eventually('the service ends what the proxy keeps', () => relay.made.some(isRisk));
    },
  );
}

t.test('A node ends an idle connection to another one before that one does', async (t) => {
  for (const server of await everyServer()) {
    const service = await serviceOf(t, server);
    const relay = await relayTo(t, Number(new URL(service.url).port));
    const nodes = new ForwardClient();
    t.teardown(() => nodes.close());
    const headers = Object.entries({ ...PUBLIC, 'content-type': 'application/json' });
    const body = Readable.from([JSON.stringify({ token: TOKEN })]);
    const url = `http://127.0.0.1:${relay.port}`;
    const sent = { url, method: 'POST', path: '/api/login', headers, body, ...deadline() };
    const answer = await nodes.send(sent);
    t.equal(answer.status, 200);
    await text(answer.body);
    await eventually('the connection is ended', () => relay.made[0]?.endedBy !== null);
    t.equal(relay.made[0]?.endedBy, 'proxy', server);
  }
});

const Probe = z.object({
  httpGet: z.object({
    path: z.string(),
    port: z.int(),
    httpHeaders: z.array(z.object({ name: z.string(), value: z.string() })),
  }),
});
const Probes = z.object({ readinessProbe: Probe, livenessProbe: Probe });
const Manifest = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
});
const Ingress = Manifest.extend({
  metadata: z.object({ namespace: z.string(), annotations: z.record(z.string(), z.string()) }),
  spec: z.object({
    rules: z.tuple([
      z.object({
        host: z.string(),
        http: z.object({
          paths: z.tuple([
            z.object({
              backend: z.object({ service: z.object({ name: z.string(), port: z.object({ name: z.string() }) }) }),
            }),
          ]),
        }),
      }),
    ]),
  }),
});
const ServiceManifest = Manifest.extend({
  spec: z.object({ ports: z.array(z.object({ name: z.string(), port: z.int() })) }),
});

t.test('The probes of Kubernetes are admitted with their Host header, and refused with that of kubelet', async (t) => {
  const [, probes = ''] = blocksOf('Kubernetes', 'yaml');
  const { readinessProbe, livenessProbe } = Probes.parse(readYaml(probes)[0]);
  for (const server of await everyServer()) {
    const service = await serviceOf(t, server);
    for (const [name, { httpGet }] of Object.entries({ readinessProbe, livenessProbe })) {
      const own = { 'user-agent': 'kube-probe/1.34', accept: '*/*', connection: 'close' };
      const headers = Object.fromEntries(
        httpGet.httpHeaders.map(({ name, value }) => [name.toLowerCase(), value.replace('TOKEN', TOKEN)]),
      );
      const probe = (host: string) =>
        httpCall(service.url, { method: 'GET', path: httpGet.path, headers: { ...headers, ...own, host } });
      t.equal((await probe(headers.host ?? '')).status, 200, `${name} (${server})`);
      t.match(
        await probe('10.1.2.3:4444'),
        { status: 403, json: { code: 'FORBIDDEN_ORIGIN' } },
        `${name} with the pod's address (${server})`,
      );
    }
  }
});

t.test('The Ingress leads to the Service of deploy/kubernetes, with the times of nginx', (t) => {
  const [manifests = '', probes = ''] = blocksOf('Kubernetes', 'yaml');
  const [map, ingress] = readYaml(manifests);
  const [settings = ''] = blocksOf('nginx', 'nginx');
  const [, idle] = /keepalive_timeout (\d+)s;/.exec(settings) ?? [];
  t.match(map, { kind: 'ConfigMap', data: { 'upstream-keepalive-timeout': idle } });
  const { metadata, spec } = Ingress.parse(ingress);
  const { annotations } = metadata;
  t.equal(
    annotations['nginx.ingress.kubernetes.io/proxy-body-size'],
    /client_max_body_size (\w+);/.exec(settings)?.[1],
    'uploads',
  );
  const [, hours] = /proxy_read_timeout (\d+)h;/.exec(settings) ?? [];
  t.equal(annotations['nginx.ingress.kubernetes.io/proxy-read-timeout'], String(Number(hours) * 3600));
  const [{ backend }] = spec.rules[0].http.paths;
  const services = readYaml(readFileSync('deploy/kubernetes/services.yaml', 'utf8')).map((one) =>
    ServiceManifest.parse(one),
  );
  const service = services.find(({ metadata }) => metadata.name === backend.service.name);
  const port = service?.spec.ports.find(({ name }) => name === backend.service.port.name)?.port;
  t.ok(port, 'the Service has the port');
  const { readinessProbe, livenessProbe } = Probes.parse(readYaml(probes)[0]);
  t.same([readinessProbe.httpGet.port, livenessProbe.httpGet.port], [port, port]);
  const kustomization = readFileSync('deploy/kubernetes/namespace.yaml', 'utf8');
  t.match(readYaml(kustomization)[0], { metadata: { name: metadata.namespace } });
  t.end();
});
