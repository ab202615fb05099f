import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { Collection, type CollectionNode } from '#request-client/engine/collection/collection.js';
import { CollectionRunner } from '#request-client/engine/collection-run/collection-runner.js';
import { CollectionJUnit } from '#request-client/engine/collection-run/junit.js';
import { passed, type RequestResult, resultLines } from '#request-client/engine/collection-run/result.js';
import { TokenStore } from '#request-client/engine/oauth/token-store.js';
import { junitFaults } from '../../../../test/support/junit-shape.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);

let granted = 0;

/** Answers the request as JSON; `/status/N`, `/redirect`, `/gzip` and `/slow` do what they say. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method, url = '', headers } = request;
    const status = Number(/^\/status\/(\d+)/.exec(url)?.[1] ?? 200);
    if (url === '/slow') return;
    if (url === '/token') {
      granted += 1;
      response.end(`access_token=granted-${granted}`);
      return;
    }
    if (url === '/guarded' && headers.authorization !== 'Bearer granted-2') {
      response.writeHead(401).end();
      return;
    }
    if (url === '/redirect') {
      response.writeHead(302, { location: '/landed' }).end();
      return;
    }
    const body = Buffer.from(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
    const zipped = url === '/gzip';
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(zipped ? { 'content-encoding': 'gzip' } : {}),
    });
    response.end(zipped ? gzipSync(body) : body);
  });
});
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});

const script = (listen: 'test' | 'prerequest', ...exec: string[]): object => ({ listen, script: { exec } });

async function runAll(collection: object, requestTimeoutMs = 20_000): Promise<RequestResult[]> {
  return (await run(collection, requestTimeoutMs)).results;
}

/** @returns the results, and the JUnit file of as many iterations of them, with secrets masked */
async function run(collection: object, requestTimeoutMs = 20_000) {
  const parsed = Collection.parse(
    JSON.stringify({ info: { name: 'c' }, variable: [{ key: 'base', value: base }], ...collection }),
  );
  const runner = new CollectionRunner({
    collection: parsed,
    environment: new Map([['who', 'ada']]),
    folder: '.',
    requestTimeoutMs,
    tokens: new TokenStore({ openBrowser: async () => undefined }),
  });
  const ran: (readonly [RequestResult, CollectionNode])[] = [];
  try {
    await runner.runAll(parsed.items, async (result, node) => {
      await result.response?.dispose();
      ran.push([result, node]);
      return undefined;
    });
  } finally {
    await runner.close();
  }
  const junit = (iterations = 1): string => {
    const report = new CollectionJUnit(parsed, '2026-01-02T03:04:05.000Z');
    for (let index = 0; index < iterations; index += 1) {
      for (const [result, node] of ran) report.add(result, node, index);
    }
    return report.text((text) => text.replaceAll(/tok-\d/g, '***'));
  };
  return { results: ran.map(([result]) => result), junit };
}

const failures = (results: readonly RequestResult[]): string[] =>
  results.flatMap(({ error, tests }) => [
    ...(error === null ? [] : [error.error]),
    ...tests.flatMap(({ name, status, message }) => (status === 'failed' ? [`${name}: ${message}`] : [])),
  ]);

t.test('scripts of collection, folders and requests run from the outside in and share variables', async (t) => {
  const results = await runAll({
    event: [
      script('prerequest', 'pm.collectionVariables.set("order", (pm.collectionVariables.get("order") || "") + "c");'),
    ],
    auth: {
      type: 'basic',
      basic: [
        { key: 'username', value: '{{who}}' },
        { key: 'password', value: 'pw' },
      ],
    },
    item: [
      {
        name: 'folder',
        event: [
          script('prerequest', 'pm.collectionVariables.set("order", pm.collectionVariables.get("order") + "f");'),
        ],
        item: [
          {
            name: 'one',
            event: [
              script('prerequest', 'pm.environment.set("id", 7); request.setHeader("X-Set", "by {{who}}");'),
              script(
                'test',
                'const seen = pm.response.json();',
                'pm.test("sent", () => {',
                '  pm.response.to.have.status(200);',
                '  pm.response.to.be.success;',
                '  pm.expect(seen.url).to.eql("/x/7?o=cf");',
                '  pm.expect(seen.headers).to.have.property("x-set", "by ada");',
                '  pm.expect(seen.headers.authorization).to.match(/^Basic YWRhOnB3$/);',
                '  pm.expect(JSON.parse(seen.body)).to.deep.equal({ a: ["ada"] });',
                '  pm.expect([3, 1]).to.have.members([1, 3]).and.to.have.lengthOf(2).but.not.include(2);',
                '  pm.expect(pm.response.responseTime).to.be.below(60000);',
                '});',
                'match(response, { status: 200, body: { method: "POST" }, headers: { "content-type": "#regex .*json.*" } });',
                'pm.environment.set("next", seen.url);',
              ),
            ],
            request: {
              method: 'POST',
              url: '{{base}}/x/{{id}}?o={{order}}',
              body: { mode: 'raw', raw: '{"a": ["{{who}}"]}' },
            },
          },
          {
            name: 'two',
            event: [
              script(
                'test',
                'const seen = response.json(); pm.test("kept", () => pm.expect(seen.headers["x-next"]).to.equal("/x/7?o=cf"));',
              ),
            ],
            request: {
              url: '{{base}}/',
              header: [
                { key: 'X-Next', value: '{{next}}' },
                { key: 'X-No', value: '{{nobody}}' },
              ],
            },
          },
        ],
      },
    ],
  });
  t.strictSame(failures(results), []);
  t.strictSame(
    results.map(({ path }) => path),
    [
      ['folder', 'one'],
      ['folder', 'two'],
    ],
  );
  t.strictSame(results[1]?.unresolved, ['nobody']);
});

t.test('a failed test, a broken script and a request without an answer are distinguished', async (t) => {
  const { results, junit: report } = await run({
    info: { name: 'c <&>' },
    item: [
      {
        name: 'a',
        event: [script('test', 'pm.test("no", () => pm.expect(1).to.equal(2)); pm.test.skip("later");')],
        request: '{{base}}/',
      },
      { name: 'b', event: [script('test', 'nothing.here')], request: '{{base}}/status/404' },
      { name: 'c', request: 'http://127.0.0.1:1/' },
      { name: 'd', request: '{{base}}/status/500' },
    ],
  });
  t.strictSame(results.map(passed), [false, false, false, true]);
  t.match(results, [
    { tests: [{ status: 'failed', message: 'AssertionError: expected 1 to equal 2' }, { status: 'skipped' }] },
    { error: { code: 'SCRIPT_ERROR', error: /nothing/ }, response: { status: 404 } },
    { error: { code: 'REQUEST_FAILED', error: /nothing is listening there/, details: { cause: 'ECONNREFUSED' } } },
    { response: { status: 500 } },
  ]);
  const junit = report();
  t.match(junit, /tests="5" failures="1" errors="2" skipped="1"/);
  t.match(junit, /<testsuite name="c &lt;&amp;&gt;"/);
  const file = join(t.testdir({}), 'junit.xml');
  writeFileSync(file, junit);
  t.same(await junitFaults(file), []);
});

/** What readers of the file see: in attributes, breaks and tabs are spaces. */
function namesIn(junit: string): string[] {
  return [...junit.matchAll(/<testcase name="([^"]*)" classname="([^"]*)"/g)].map(([, name = '', classname = '']) =>
    `${classname}: ${name}`.replace(/[\t\n\r]/g, ' '),
  );
}

t.test('no two test cases of a JUnit file have the same class and name', async (t) => {
  const twice = script('test', 'pm.test("is fine", () => {}); pm.test("is fine", () => {});');
  const collection = {
    item: [
      {
        name: 'F',
        item: [
          { name: 'Same', event: [twice], request: '{{base}}/1' },
          { name: 'Same', request: '{{base}}/2' },
          { name: 'Same', item: [{ name: 'in', request: '{{base}}/3' }] },
        ],
      },
      { name: 'F / Same', request: '{{base}}/4' },
      {
        name: 'Poll',
        event: [
          script(
            'test',
            'const n = Number(pm.globals.get("n") ?? 0); pm.globals.set("n", n + 1);',
            'if (n < 2) pm.execution.setNextRequest("Poll"); pm.test("Poll", () => {});',
          ),
        ],
        request: '{{base}}/5',
      },
      { name: 'Poll [run 2]', event: [script('test', 'pm.execution.setNextRequest("texts");')], request: '{{base}}/6' },
      {
        name: 'texts',
        event: [
          script(
            'test',
            'for (const name of ["a\\nb", "a b", "a\\u2028b", "\\u001b[31ma b", "tok-1", "tok-2", "a b [2]"]) pm.test(name, () => {});',
            'pm.test("long", () => { throw new Error("x".repeat(997) + "\\u001b[31mred"); });',
            'pm.test("no", () => { throw new Error("tok-3 & \\u001b[31mred"); }); pm.test("texts", () => {}); nothing.here',
          ),
        ],
        request: '{{base}}/7',
      },
    ],
  };
  const { junit: report } = await run(collection);
  const first = namesIn(report());
  t.strictSame(first, [
    'c / F / Same: is fine',
    'c / F / Same: is fine [2]',
    'c / F / Same [2]: Same',
    'c / F / Same / in: in',
    'c / F / Same [run 2]: F / Same',
    'c / Poll: Poll',
    'c / Poll [run 2]: Poll',
    'c / Poll [run 3]: Poll',
    'c / Poll [run 2] [run 2]: Poll [run 2]',
    'c / texts: a b',
    'c / texts: a b [2]',
    'c / texts: a b [3]',
    'c / texts: a b [4]',
    'c / texts: ***',
    'c / texts: *** [2]',
    'c / texts: a b [2] [2]',
    'c / texts: long',
    'c / texts: no',
    'c / texts: texts',
    'c / texts: texts [2]',
  ]);
  const junit = report(3);
  const names = namesIn(junit);
  t.equal(new Set(names).size, names.length, 'all are different');
  t.strictSame(names.slice(0, first.length), first, 'the first iteration has the names that it has alone');
  t.match(names.join('\n'), /c \/ F \/ Same \[2\] \[iteration 3\]: Same/);
  t.match(junit, 'message="*** &amp; red"', 'masked and without colors');
  t.notMatch(junit, /tok-|\[31m|\ufffd/);
  const file = join(t.testdir({}), 'junit.xml');
  writeFileSync(file, junit);
  t.same(await junitFaults(file), []);
});

t.test('nothing that servers, scripts, or files say begins a line of the output', async (t) => {
  const lie = 'x\nok     all: fine\rok     all\r\nok     more\u2028ok     last';
  const results = await runAll({
    item: [
      {
        name: lie,
        event: [
          script(
            'test',
            `const lie = ${JSON.stringify(lie)};`,
            'console.log(lie); pm.test(lie, () => { throw new Error(lie); });',
          ),
        ],
        request: { method: 'GET', url: '{{base}}/', description: lie },
      },
    ],
  });
  const lines = results.flatMap((result) => resultLines(result, 1));
  t.match(lines[0], /^FAILED x ok {5}all: fine.*\[iteration 2\]: GET .* -> 200 OK/);
  t.equal(lines.length, 1 + 4 + 7);
  t.ok(
    lines.slice(1).every((line) => /^ {7}(?:x | {2})\S/.test(line)),
    lines.join('|'),
  );
  t.notOk(lines.some((line) => /[\r\n\u2028]/.test(line)));
});

/** Rejected once, so that a second token is fetched. */
const oauth2 = Object.entries({
  grant_type: 'client_credentials',
  url: '{{base}}/token',
  client_id: '{{who}}',
  client_secret: 'secret',
}).map(([key, value]) => ({ key, value, type: 'string' }));

t.test('redirects, decoding, keys in the query, tokens and time limits', async (t) => {
  const results = await runAll(
    {
      item: [
        {
          name: 'followed',
          event: [script('test', 'match(response.body.url, "/landed")')],
          request: '{{base}}/redirect',
        },
        {
          name: 'not followed',
          protocolProfileBehavior: { followRedirects: false },
          event: [script('test', 'match(response, {status: 302, headers: {location: "/landed"}})')],
          request: '{{base}}/redirect',
        },
        { name: 'zipped', event: [script('test', 'match(response.body.url, "/gzip")')], request: '{{base}}/gzip' },
        {
          name: 'key',
          event: [script('test', 'match(response.body.url, "/k?a=1&key=v%20v")')],
          request: {
            url: '{{base}}/k?a=1',
            auth: {
              type: 'apikey',
              apikey: [
                { key: 'key', value: 'key' },
                { key: 'value', value: 'v v' },
                { key: 'in', value: 'query' },
              ],
            },
          },
        },
        {
          name: 'token',
          event: [script('test', 'match(response.body.headers.authorization, "Bearer granted-2")')],
          request: {
            url: '{{base}}/guarded',
            header: [{ key: 'authorization', value: 'Other' }],
            auth: { type: 'oauth2', oauth2 },
          },
        },
        { name: 'slow', request: '{{base}}/slow' },
      ],
    },
    3000,
  );
  t.match(failures(results), [/No complete answer from .* within 3000 ms/]);
  t.match(results[0]?.response, { redirects: [{ status: 302 }] });
});

t.test("each of Postman's dynamic variables has a value, a new one at each place", async (t) => {
  const names = [
    ...['$guid', '$timestamp', '$isoTimestamp', '$randomInt', '$randomUUID'],
    ...['$randomFirstName', '$randomEmail', '$randomCity', '$randomPrice', '$randomLoremSentence', '$randomIP'],
  ];
  const [result] = await runAll({
    item: [
      {
        name: 'made up',
        event: [script('test', 'pm.environment.set("seen", response.body.body)')],
        request: {
          method: 'POST',
          url: '{{base}}/{{$randomUserName}}',
          header: [{ key: 'X-Name', value: '{{$randomFullName}}' }],
          body: {
            mode: 'raw',
            raw: `${names.map((name) => `{{${name}}}`).join('\n')}\n{{$randomUUID}}\n{{$randomNothing}}`,
          },
        },
      },
    ],
  });
  t.same(result?.unresolved, ['$randomNothing']);
  const { request } = result ?? {};
  t.notMatch(`${request?.url} ${JSON.stringify(request?.headers)}`, /\{\{/);
  const lines = request?.body.kind === 'text' ? request.body.text.split('\n') : [];
  t.equal(lines.length, names.length + 2);
  t.same(
    lines.filter((line) => line.includes('{{')),
    ['{{$randomNothing}}'],
  );
  t.match(lines[6], /^\S+@\S+\.\S+$/);
  t.not(lines[4], lines[names.length]);
});

t.test('scripts can send requests and choose the next one', async (t) => {
  const results = await runAll({
    item: [
      {
        name: 'first',
        event: [
          script(
            'prerequest',
            'pm.sendRequest(pm.variables.replaceIn("{{base}}/other"), (error, answer) => pm.environment.set("t", answer.json().url));',
          ),
          script('test', 'postman.setNextRequest("third")'),
        ],
        request: '{{base}}{{t}}',
      },
      { name: 'second', request: '{{base}}/' },
      { name: 'third', event: [script('test', 'pm.execution.setNextRequest(null)')], request: '{{base}}/' },
      { name: 'fourth', request: '{{base}}/' },
    ],
  });
  t.strictSame(
    results.map(({ request }) => request.url.replace(base, '')),
    ['/other', '/'],
  );
});
