import { setTimeout as pause } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as SessionClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as SessionTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import t from 'tap';
import { z } from 'zod';
import { eventually } from '../support/eventually.js';
import { freePorts } from '../support/free-ports.js';
import { guardLeaks } from '../support/leaks.js';
import { client, makeHome } from '../support/service.js';
import { spawnService } from '../support/service-process.js';

guardLeaks(t);

const CLIENTS = Number(process.env.TROUPE_MCP_CLIENTS ?? 200);
const BROWSERS = Number(process.env.TROUPE_MCP_BROWSERS ?? 4);
/** One client in this many is gone in the middle of a script, without a word. */
const MORTAL = 10;
const ROUNDS = 3;
const RETRY_MS = 200;
const CLIENT_MS = 600_000;

const Result = z.looseObject({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ text: z.string().optional() })),
  _meta: z.looseObject({}).optional(),
});

/** A connection to the service as one generation of the protocol makes it. */
interface Hand {
  evaluate(js: string): Promise<z.infer<typeof Result>>;
  leave(): Promise<void>;
}

async function sessionHand(url: string, name: string, signal: AbortSignal): Promise<Hand> {
  const sdk = new SessionClient({ name, version: '1' });
  const transport = new SessionTransport(new URL('/mcp', url));
  await sdk.connect(transport as Parameters<SessionClient['connect']>[0]);
  return {
    evaluate: async (js) =>
      Result.parse(
        await sdk.callTool({ name: 'agent_eval', arguments: { js } }, undefined, { timeout: CLIENT_MS, signal }),
      ),
    async leave() {
      await transport.terminateSession().catch(() => undefined);
      await sdk.close();
    },
  };
}

async function statelessHand(url: string, name: string, signal: AbortSignal): Promise<Hand> {
  const sdk = new Client({ name, version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await sdk.connect(new StreamableHTTPClientTransport(new URL('/mcp', url)));
  let sessionId: string | undefined;
  return {
    async evaluate(js) {
      const given = { js, ...(sessionId === undefined ? {} : { sessionId }) };
      const called = await sdk.callTool({ name: 'agent_eval', arguments: given }, { timeout: CLIENT_MS, signal });
      const result = Result.parse(called);
      const named = result._meta?.['io.github.troupe/sessionId'];
      if (typeof named === 'string') sessionId = named;
      return result;
    },
    async leave() {
      await sdk.close();
      if (sessionId !== undefined)
        await fetch(`${url}/api/sessions/${sessionId}`, { method: 'DELETE' }).catch(() => undefined);
    },
  };
}

t.test('Many clients of both generations keep to themselves while the service and clients are killed', async (t) => {
  const home = makeHome(t, {
    maxSessions: BROWSERS,
    createTimeout: 600,
    idleTimeout: 10,
    evalTimeout: 30,
  });
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const start = async () => {
    const service = spawnService(home, '--port', String(port));
    await service.listening;
    return service;
  };
  let service = await start();
  t.teardown(() => service.end('SIGKILL'));

  let [finished, mortal, tries] = [0, 0, 0];
  const crossed: string[] = [];
  // The SDK's clients do not notice that an answer can no longer come: those of sessions would wait for their time limit.
  let lost = new AbortController();
  const useOnce = async (n: number): Promise<boolean> => {
    const make = n % 2 === 0 ? sessionHand : statelessHand;
    const hand = await make(url, `client ${n}`, lost.signal);
    try {
      const page = `data:text/html,<title>${n}</title><h1>page ${n}</h1>`;
      const first = await hand.evaluate(`let mine = ${n}; agent.go(${JSON.stringify(page)}); mine + agent.text('h1')`);
      if (first.isError) return false;
      for (let round = 0; round < ROUNDS; round += 1) {
        if (n % MORTAL === 3 && round === 1) {
          // It is gone in the middle of a script: nobody ends its session.
          void hand.evaluate('agent.wait(3000)').catch(() => undefined);
          await pause(100);
          mortal += 1;
          return true;
        }
        const { isError, content } = await hand.evaluate(`mine + ' ' + agent.text('h1')`);
        if (isError) return false;
        if (content[0]?.text !== `${n} page ${n}`) crossed.push(`${n}: ${content[0]?.text}`);
      }
      return true;
    } finally {
      if (n % MORTAL !== 3) await hand.leave().catch(() => undefined);
    }
  };
  const use = async (n: number): Promise<void> => {
    const deadline = performance.now() + CLIENT_MS;
    for (;;) {
      tries += 1;
      if (await useOnce(n).catch(() => false)) break;
      if (performance.now() > deadline) throw new Error(`client ${n} did not come to an end`);
      await pause(RETRY_MS);
    }
    finished += 1;
  };

  const all = Promise.all(Array.from({ length: CLIENTS }, (_, n) => use(n)));
  for (const share of [0.25, 0.6]) {
    await eventually(`${share} of the clients have ended`, () => finished >= CLIENTS * share, CLIENT_MS);
    await service.end('SIGKILL');
    lost.abort();
    lost = new AbortController();
    service = await start();
  }
  await all;
  t.equal(finished, CLIENTS);
  t.same(crossed, [], 'none saw what another one has');
  const { call } = client(url);
  const running = async () => (await call('GET', '/api/sessions?state=running')).body.length;
  await eventually('no browser is left', async () => (await running()) === 0, 180_000);
  t.comment(`${CLIENTS} clients, ${tries} tries, ${mortal} left without a word, 2 kills of the service`);
  await service.end('SIGTERM');
});
