import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { stretched } from '#troupe/base/deadline.js';
import { readConfig } from '#troupe/config.js';
import type { Driver } from '#troupe/containers/driver.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { startService } from '#troupe/service.js';
import { type ValueSchema, valuesOf } from '../support/json-schema-values.js';
import { guardLeaks } from '../support/leaks.js';
import { SEED } from '../support/seed.js';
import { testedServer } from '../support/tested-server.js';

guardLeaks(t);

/** `npm run fuzz` sends many more. */
const CASES = Number(process.env.TROUPE_FUZZ_CASES ?? 400);
const TOKEN = 'correct-horse';
const ANSWER_MS = stretched(60_000);
/** What a service may grow by over all cases of `npm run fuzz`: sessions on record, and garbage that was not collected. */
const GROWTH_BYTES = 96 * 1024 * 1024;

/** Browsers that cannot be started: everything before and after them belongs to the service. */
const noBrowsers: Driver = {
  name: 'process',
  browser: null,
  offers: new Set(),
  lease: async () => {
    throw new TroupeError('UNAVAILABLE', 'There is no browser in this test');
  },
  adopt: async () => null,
  sweep: async () => [],
};

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: ValueSchema }[];
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly schema?: ValueSchema } } };
  readonly responses: { readonly [status: string]: unknown };
}

interface Case {
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | undefined;
}

t.test(`${CASES} requests of every kind cause no fault, no hang, and no undocumented answer`, async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'troupe-fuzz-'));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(
    join(home, 'troupe.json'),
    JSON.stringify({ token: 'FUZZ_TOKEN', server: testedServer(), createTimeout: 1 }),
  );
  const faults: string[] = [];
  const service = await startService(readConfig({ port: '0' }, { TROUPE_HOME: home, FUZZ_TOKEN: TOKEN }), {
    version: '0',
    log: (line, about) => about?.audit || faults.push(line),
    driver: { driver: noBrowsers, description: 'none' },
  });
  t.teardown(() => service.stop({ drainMs: 0 }));
  const document = await (
    await fetch(`${service.url}/api/openapi.json`, { headers: { authorization: `Bearer ${TOKEN}` } })
  ).json();
  const { paths, components } = Object(document);
  const operations: [string, string, Operation][] = [];
  for (const [path, methods] of Object.entries<{ [method: string]: Operation }>(paths)) {
    for (const [method, operation] of Object.entries(methods)) operations.push([method, path, operation]);
  }
  const cases = fc
    .constantFrom(...operations)
    .chain(([method, path, operation]) =>
      caseOf(method, path, operation, components.schemas).map((made) => ({ made, operation, path })),
    );
  const before = settledHeap();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ({ made, operation, path }) => {
      count += 1;
      const { status, code } = await ask(service.port, made);
      const label = `${made.method} ${made.path} ${made.body}: ${status} ${code}`;
      if (status === 500) throw new Error(label);
      // A name with a slash may be another path, or none.
      const elsewhere = status === 405 || (path.includes('{') && status === 404);
      if (!elsewhere && operation.responses[String(status)] === undefined) throw new Error(`not documented: ${label}`);
    }),
    { numRuns: CASES, seed: SEED, endOnFailure: true },
  );
  t.equal(count, CASES);
  t.same(
    faults.filter((line) => /^[A-Z]+ \//.test(line)),
    [],
  );
  const grown = settledHeap() - before;
  const says = `the heap grew by ${Math.round(grown / 1024)} KiB`;
  if (process.env.TROUPE_FUZZ_CASES === undefined) t.comment(says);
  else t.ok(grown < GROWTH_BYTES, says);
  t.equal((await ask(service.port, { method: 'get', path: '/api/health', headers: {}, body: undefined })).status, 200);
});

function caseOf(
  method: string,
  template: string,
  operation: Operation,
  components: { readonly [name: string]: ValueSchema },
): fc.Arbitrary<Case> {
  const { parameters = [] } = operation;
  const part = (where: string) =>
    fc.record(
      Object.fromEntries(
        parameters.filter((one) => one.in === where).map((one) => [one.name, valuesOf(one.schema, components)]),
      ),
      { requiredKeys: where === 'path' ? parameters.filter((one) => one.in === where).map(({ name }) => name) : [] },
    );
  const [content] = Object.values(operation.requestBody?.content ?? {});
  const body =
    content === undefined
      ? fc.constant(undefined)
      : fc.oneof(
          {
            weight: 9,
            arbitrary: valuesOf(content.schema ?? {}, components).map((value) => JSON.stringify(quick(value))),
          },
          { weight: 1, arbitrary: fc.string() },
        );
  return fc.record({ path: part('path'), query: part('query'), header: part('header'), body }).map((made) => {
    const path = template.replace(/\{(\w+)\}/g, (_, name) => encoded(Reflect.get(made.path, name)));
    const query = new URLSearchParams(
      Object.entries(made.query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const headers = Object.entries(made.header).map(([name, value]) => [
      name,
      String(value).replace(/[^\x20-\x7e]/g, ''),
    ]);
    return {
      method,
      path: query.size > 0 ? `${path}?${query}` : path,
      headers: Object.fromEntries(headers),
      body: made.body,
    };
  });
}

function encoded(value: unknown): string {
  // Half of a surrogate pair has no encoding.
  return encodeURIComponent(Buffer.from(String(value)).toString());
}

/** The cases do not wait for the end of a job. */
function quick(value: unknown): unknown {
  const waits = typeof value === 'object' && value !== null && typeof Reflect.get(value, 'waitTimeout') === 'number';
  return waits ? { ...value, waitTimeout: 0 } : value;
}

function ask(port: number, { method, path, headers, body }: Case): Promise<{ status: number; code: unknown }> {
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const sent = request({
      host: '127.0.0.1',
      port,
      method: method.toUpperCase(),
      path,
      headers: { ...headers, ...bytes, authorization: `Bearer ${TOKEN}` },
      agent: false,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    sent.on('error', (error) => reject(new Error(`${method} ${path} ${body}: ${error.message}`)));
    sent.on('response', (response) => {
      const status = response.statusCode ?? 0;
      if (status < 400) {
        response.destroy();
        return resolve({ status, code: null });
      }
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status, code: text.slice(0, 300) }));
    });
    sent.end(body);
  });
}

function settledHeap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
