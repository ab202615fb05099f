// Fastify's side of bench/proxy and bench/server: a route that answers what the service says of itself, and one that checks its body against a schema and answers a member of it as JSON.
import { parentPort } from 'node:worker_threads';
import fastify from 'fastify';

const app = fastify();
const body = { type: 'object', required: ['js'], properties: { js: { type: 'string' } }, additionalProperties: false };
app.post('/sessions/:id/proxy', { schema: { body } }, async (request) => ({ js: request.body.js }));
const capacity = { max: 33, running: 33, queued: 0, warm: 0 };
const health = { status: 'ok', version: 'bench', driver: 'process', uptimeSeconds: 1, capacity, server: 'node' };
app.get('/api/health', async () => health);
await app.listen({ port: 0, host: '127.0.0.1' });
parentPort.postMessage(app.server.address().port);
