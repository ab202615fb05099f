// A CI machine of the benchmark `shards`: it runs its part of the flows, or claims flows from a service, one at a time. A flow
// is a wait.
import { setTimeout as wait } from 'node:timers/promises';

process.once('message', async ({ url, flows }) => {
  process.send(
    url === undefined ? await runPart(flows) : await runClaimed(url, new Map(flows.map((f) => [f.name, f.ms]))),
  );
});
process.send('ready');

async function runPart(flows) {
  for (const { ms } of flows) await wait(ms);
  return flows.length;
}

async function runClaimed(url, ms) {
  for (let ran = 0; ; ran += 1) {
    const claim = await post(`${url}/claim`, { machine: String(process.pid) });
    // Others run the last ones; a machine that has a flow does not ask.
    if (claim.state !== 'claimed') return ran;
    const startedAt = new Date().toISOString();
    await wait(ms.get(claim.job.name));
    await post(`${url}/claims/${claim.token}/result`, {
      state: 'completed',
      startedAt,
      durationMs: ms.get(claim.job.name),
      sessionId: null,
      failure: null,
      mayPassAgain: false,
    });
  }
}

async function post(url, body) {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
  return response.json();
}
