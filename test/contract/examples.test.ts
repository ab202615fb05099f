import t from 'tap';
import { z } from 'zod';
import { EXAMPLES } from '#troupe/gateway/openapi/examples.js';
import { openApiDocument } from '#troupe/gateway/openapi/openapi-document.js';
import { guardLeaks } from '../support/leaks.js';
import { ROUTES } from '../support/routes.js';

guardLeaks(t);

/** Answers that are files: bytes that no document can show. */
const FILES = /^(application\/(zip|octet-stream)|image\/png|text\/html; charset=utf-8)$/;

const Shown = z.object({ content: z.record(z.string(), z.object({ example: z.unknown().optional() })) });

t.test('Each operation has examples that its schemas accept, and the document shows them', (t) => {
  const names = ROUTES.map(({ method, path }) => `${method} ${path}`);
  t.same(Object.keys(EXAMPLES).sort(), [...names].sort());
  const document = openApiDocument(ROUTES, 'test');
  const paths = z.record(z.string(), z.record(z.string(), z.looseObject({}))).parse(document.paths);
  for (const route of ROUTES) {
    const name = `${route.method} ${route.path}`;
    const { request, answer } = EXAMPLES[name] ?? {};
    t.equal(request !== undefined, route.bodySchema !== null || name === 'POST /mcp', `${name}: a request`);
    if (route.bodySchema !== null) t.same(route.bodySchema.safeParse(request).error?.issues ?? [], [], name);
    if (typeof route.answer !== 'string') t.same(route.answer.safeParse(answer).error?.issues ?? [], [], name);
    else if (!FILES.test(route.answer) && name !== 'DELETE /mcp') t.ok(answer, `${name}: an answer`);
    const operation = paths[route.path.replace('...', '')]?.[route.method.toLowerCase()] ?? {};
    const responses = z.record(z.string(), z.unknown()).parse(operation.responses);
    const [response] = Object.values(Shown.parse(responses[route.status]).content);
    t.same(response?.example, answer, `${name}: shown`);
  }
  t.end();
});
