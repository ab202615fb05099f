import { Agent, request as send } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';

parentPort.on('message', async ({ requests, everyMs, durationMs }) => {
  const agent = new Agent({ keepAlive: true });
  try {
    const samples = await Promise.all(requests.map((request) => probe(agent, request, { everyMs, durationMs })));
    parentPort.postMessage({ samples });
  } catch (error) {
    parentPort.postMessage({ error: String(error) });
  } finally {
    agent.destroy();
  }
});

async function probe(agent, request, { everyMs, durationMs }) {
  const startedAt = performance.now();
  const answers = [];
  for (let dueMs = 0; dueMs < durationMs; dueMs += everyMs) {
    await pause(Math.max(0, startedAt + dueMs - performance.now()));
    answers.push(ask(agent, request).then(() => performance.now() - startedAt - dueMs));
  }
  return Promise.all(answers);
}

function ask(agent, { port, method, path, body }) {
  return new Promise((resolve, reject) => {
    const sent = send({ agent, host: '127.0.0.1', port, method, path }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`${method} ${path} answered ${response.statusCode}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
