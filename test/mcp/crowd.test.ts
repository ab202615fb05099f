import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { connectMcp } from '../support/mcp-client.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

/** `TROUPE_MCP_CLIENTS=50` for the full number: each needs a browser. */
const CLIENTS = Number(process.env.TROUPE_MCP_CLIENTS ?? 4);
const ROUNDS = 3;

const form = (n: number): string => {
  const html = `<title>Client ${n}</title><label>Name <input></label><button onclick="this.textContent += ${n}">Go`;
  return JSON.stringify(`data:text/html,${encodeURIComponent(html)}`);
};

t.test('Concurrent clients have a browser each, and none sees what another does', async (t) => {
  const service = await startTestService(t, {
    maxSessions: CLIENTS,
    warmSessions: 0,
    createTimeout: 60 + CLIENTS * 5,
    evalTimeout: 120,
  });
  const running = async () => (await service.call('GET', '/api/sessions?state=running&limit=1000')).body;
  const names = Array.from({ length: CLIENTS }, (_, n) => `client ${n}`);
  const clients = await Promise.all(names.map((name) => connectMcp(t, service.url, name)));

  const seen = await Promise.all(
    clients.map(async ({ text }, n) => {
      const told = [await text(`let mine = ${n}; agent.go(${form(n)}); agent.look()`)];
      for (let round = 0; round < ROUNDS; round += 1) {
        const act = `agent.act("{input}Name", "input", mine + " " + ${round}); agent.act("{^button}Go", "click")`;
        told.push(await text(`${act}; mine + ": " + agent.value("{input}Name") + ", " + agent.text("button")`));
      }
      return told;
    }),
  );
  for (const [n, [look, ...rounds]] of seen.entries()) {
    t.match(look, new RegExp(`^Client ${n} · `));
    const marks = (round: number) => String(n).repeat(round + 1);
    t.same(
      rounds,
      rounds.map((_, round) => `${n}: ${n} ${round}, Go${marks(round)}`),
    );
  }
  const records: { name: string }[] = await running();
  t.same(new Set(records.map(({ name }) => name)), new Set(names.map((name) => `MCP: ${name}`)));
  t.equal(records.length, CLIENTS, 'no client has two');
  await Promise.all(clients.map(({ transport }) => transport.terminateSession()));
  t.same(await running(), []);
});
