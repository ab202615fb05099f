import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { exportCurl } from '#request-client/curl/export/export-curl.js';
import { importCurl } from '#request-client/curl/import/import-curl.js';
import type { ShellKind } from '#request-client/curl/import/shells/detect-shell.js';
import type { RequestDraft } from '#request-client/engine/request.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { skipWithout } from '../../../../test/support/programs.js';
import { SEED } from '../../../../test/support/seed.js';
import { comparable, runInBash, WireCapture } from '../../wire-capture.js';
import { sendAll } from '../import/against-curl.js';

fc.configureGlobal({ seed: SEED });

guardLeaks(t);

const SHELLS: readonly ShellKind[] = ['posix', 'cmd', 'powershell'];
const plain = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record<T>(model, { noNullPrototype: true });
const signs = fc.string({
  unit: fc.constantFrom(...'ab1 =&+%{}[]"\'\\$`!#;|<>()*?~@^,:/-_.é東🫖'.split(/(?:)/u)),
  minLength: 1,
  maxLength: 20,
});
const text = signs.map((value) => value.trim()).filter((value) => value !== '' && !/\{\{|\}\}/.test(value));
const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,8}$/).map((value) => `X-${value}`);
const body: fc.Arbitrary<RequestDraft['body']> = fc.oneof(
  fc.constant({ kind: 'none' } as const),
  fc.array(text, { maxLength: 3 }).map((lines) => ({ kind: 'text', text: lines.join('\n') }) as const),
  fc
    .array(plain({ kind: fc.constant('text' as const), name, value: text }), { minLength: 1, maxLength: 3 })
    .map((parts) => ({ kind: 'form', parts }) as const),
);
const draft: fc.Arbitrary<RequestDraft> = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD'),
    query: fc.stringMatching(/^[a-z0-9=&%[\]{}$'()*,;!~-]{0,16}$/),
    headers: fc.array(plain({ name, value: text }), { maxLength: 3 }),
    body,
    typed: fc.boolean(),
    auth: fc.option(plain({ kind: fc.constant('basic' as const), username: name, password: text })),
    followRedirects: fc.boolean(),
    verifyTls: fc.boolean(),
  })
  .map(({ method, query, headers, body: content, typed, auth, followRedirects, verifyTls }) => ({
    name: '',
    method: method === 'HEAD' && content.kind !== 'none' ? 'POST' : method,
    url: `http://H/?${query}`,
    headers:
      typed && content.kind !== 'form' ? [...headers, { name: 'Content-Type', value: 'application/json' }] : headers,
    withoutHeaders: content.kind === 'text' && !typed ? ['content-type'] : [],
    body: content,
    auth,
    settings: { followRedirects, verifyTls, encodeUrl: true },
  }));

for (const shell of SHELLS) {
  t.test(`a request exported and imported again is the same: ${shell}`, async (t) => {
    fc.assert(
      fc.property(draft, (request) => {
        const { command } = exportCurl(request, shell);
        const { requests, errors } = importCurl(command, shell);
        const [again] = requests;
        deepStrictEqual([errors, requests.length], [[], 1], command);
        // curl keeps a method that is named, also behind redirects.
        const named = command.includes('--request ') && !/^(?:GET|HEAD)$/i.test(request.method);
        const keeps = named && request.settings.followRedirects ? { keepMethod: true } : {};
        const encoded = { ...request.settings, ...keeps, encodeUrl: again?.settings.encodeUrl };
        // The URL is written as it would be sent.
        const url = request.url.replaceAll('{', '%7B').replaceAll('}', '%7D');
        deepStrictEqual({ ...again, name: '' }, { ...request, url, settings: encoded }, command);
      }),
      { numRuns: 150 },
    );
    t.pass('150 requests');
  });
}

t.test(
  'an exported request replayed by bash and curl is the same as the client sends',
  { skip: skipWithout('bash', 'curl') },
  async (t) => {
    const capture = await WireCapture.start();
    t.teardown(() => capture.close());
    const requests = fc
      .sample(draft, { numRuns: 40, seed: SEED })
      .map((request, index) => ({ ...request, url: request.url.replace('http://H', `${capture.origin}/e${index}`) }));
    await runInBash(
      requests.map((request) => `${exportCurl(request, 'posix').command} --no-location`),
      t.testdir({}),
    );
    const byCurl = capture.take();
    await sendAll(requests, t.testdirName);
    const byUs = capture.take();
    for (const [index, request] of requests.entries()) {
      const [curl, us] = [byCurl, byUs].map((kept) => kept.get(`e${index}`)?.map(comparable));
      t.strictSame(curl, us, exportCurl(request, 'posix').command);
    }
  },
);

t.test('collection variables become shell variables, and back', async (t) => {
  const { requests } = importCurl('curl "$BASE/x" -H "Authorization: Bearer $TOKEN" -d "a $B c"');
  const [request] = requests;
  if (request === undefined) throw new Error('not imported');
  for (const shell of SHELLS) {
    const { command } = exportCurl(request, shell);
    t.match(importCurl(command, shell).requests, [{ ...request, name: String }], command);
  }
});

t.test('binary bytes are exported for bash; other shells need a file', async (t) => {
  const { requests } = importCurl("curl http://h/ -d $'\\xff\\x01'");
  const [request] = requests;
  if (request === undefined) throw new Error('not imported');
  const posix = exportCurl(request, 'posix');
  t.match(importCurl(posix.command).requests, [{ body: request.body }]);
  t.strictSame(posix.warnings, []);
  t.match(exportCurl(request, 'cmd').warnings, [/body\.bin/]);
});
