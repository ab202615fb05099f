// Fastify's side of bench/proxy: a route that checks its body against a schema and answers a member of it as JSON.
import { parentPort } from 'node:worker_threads';
import fastify from 'fastify';

const app = fastify();
const body = { type: 'object', required: ['js'], properties: { js: { type: 'string' } }, additionalProperties: false };
app.post('/sessions/:id/proxy', { schema: { body } }, async (request) => ({ js: request.body.js }));
await app.listen({ port: 0, host: '127.0.0.1' });
parentPort.postMessage(app.server.address().port);
