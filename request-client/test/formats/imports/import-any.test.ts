import t from 'tap';
import { authAt } from '#request-client/engine/collection/auth.js';
import { Collection } from '#request-client/engine/collection/collection.js';
import { readRequest } from '#request-client/engine/collection/read-request.js';
import { requestsBelow } from '#request-client/engine/collection-run/collection-runner.js';
import { addImported } from '#request-client/formats/imports/add-imported.js';
import { importAny } from '#request-client/formats/imports/import-any.js';
import type { Imported } from '#request-client/formats/imports/imported.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { API_EXPORTS } from './api-exports.js';
import { BROWSER_EXPORTS } from './browser-exports.js';
import { BRUNO_EXPORTS } from './bruno-exports.js';
import { INSOMNIA_EXPORTS } from './insomnia-exports.js';
import { POSTMAN_EXPORTS } from './postman-exports.js';
import type { WrittenExport } from './written-exports.js';

guardLeaks(t);
const ALL: readonly WrittenExport[] = [
  ...BROWSER_EXPORTS,
  ...API_EXPORTS,
  ...INSOMNIA_EXPORTS,
  ...BRUNO_EXPORTS,
  ...POSTMAN_EXPORTS,
];

function collectionOf(imported: Imported): Collection {
  return addImported(Collection.create('Test', 'id'), imported);
}

function itemNamed(
  text: string,
  name: string,
): { item: unknown; collection: Collection; path: readonly (string | number)[] } {
  const collection = collectionOf(importAny(text));
  const node = collection.items.flatMap(requestsBelow).find((one) => one.name === name);
  if (node === undefined) throw new Error(`no ${name}`);
  return { item: node.value, collection, path: node.path };
}

function textOf(what: string): string {
  const found = ALL.find((one) => one.what === what);
  if (found === undefined) throw new Error(`no ${what}`);
  return found.text;
}

for (const { what, text, format, requests, variables = {}, environments = {}, warns = [] } of ALL) {
  t.test(`${what} is recognized and imported, and what is left out is named`, async (t) => {
    const imported = importAny(text);
    t.strictSame(imported.errors, []);
    t.equal(imported.format, format);
    const made = collectionOf(imported)
      .items.flatMap(requestsBelow)
      .map(({ value }) => readRequest(value));
    t.strictSame(
      made.map(({ method, url }) => `${method} ${url}`),
      requests,
    );
    t.strictSame(Object.fromEntries(imported.variables.map(({ name, value }) => [name, value])), variables);
    t.strictSame(
      Object.fromEntries(
        imported.environments.map(({ name, rows }) => [
          name,
          Object.fromEntries(rows.map((row) => [row.name, row.value])),
        ]),
      ),
      environments,
    );
    const warned = imported.warnings.filter(({ level }) => level === 'warning').map(({ about }) => about);
    t.strictSame(warned.sort(), [...warns].sort());
  });
}

t.test('each format has three exports', async (t) => {
  const formats = new Set(ALL.map(({ format }) => format));
  for (const format of formats) t.ok(ALL.filter((one) => one.format === format).length >= 3, format);
});

t.test('bodies keep their kind and content', async (t) => {
  const bodies = (what: string): unknown[] =>
    collectionOf(importAny(textOf(what)))
      .items.flatMap(requestsBelow)
      .map(({ value }) => readRequest(value).body);
  t.match(bodies('HAR with bodies'), [
    { kind: 'text', text: '{"item":1}' },
    { kind: 'text', text: 'user=a%20b' },
    {
      kind: 'form',
      parts: [
        { name: 'title', value: 'T' },
        { kind: 'file', name: 'file', path: 'a.png', type: 'image/png' },
      ],
    },
  ]);
  t.match(bodies('Insomnia 4 of one folder, with forms'), [
    { kind: 'form', parts: [{ name: 'a' }, { path: '/tmp/a.png' }] },
    { text: /"query":"\{ a \}"/ },
  ]);
  t.match(bodies('a .bru request with a form and unknown calls'), [
    {
      kind: 'form',
      parts: [
        { name: 'title', value: 'Hello' },
        { path: '/tmp/a.png', type: 'image/png' },
      ],
    },
  ]);
  t.strictSame(
    bodies('fetch, as documentation writes it').map((body) => JSON.stringify(body)),
    [
      JSON.stringify({
        kind: 'text',
        text: JSON.stringify({ name: 'ada', tags: ['a', 1, true, null], boss: '{{bossId}}' }, null, 2),
      }),
      JSON.stringify({ kind: 'text', text: 'a=1&b={{two}}' }),
    ],
  );
  t.match(bodies('OpenAPI 3.0 as YAML')[1], { text: /"note": "hello"/ });
  t.match(bodies('OpenAPI 3.1 as JSON, with references to files and addresses')[0], {
    kind: 'form',
    parts: [{ name: 'title' }],
  });
});

t.test('authorization is imported, and inherited from a folder', async (t) => {
  const auth = (what: string, name: string): unknown => {
    const { collection, path } = itemNamed(textOf(what), name);
    return authAt(collection, path);
  };
  t.match(auth('Insomnia 4 with folders and environments', 'req_2'), { kind: 'bearer', token: '{{token}}' });
  t.match(auth('Insomnia 5 collection', 'Read'), { kind: 'basic', username: 'ada', password: '{{password}}' });
  t.match(auth('Insomnia 5 API design', 'Key'), { kind: 'apikey', key: 'k', in: 'query' });
  t.match(auth('OpenAPI 3.0 as YAML', 'Read an order'), { kind: 'bearer', token: '{{bearerToken}}' });
  t.match(auth('Swagger 2 as YAML', 'List'), { kind: 'apikey', key: 'X-Key', value: '{{apiKey}}' });
  t.match(auth('a Bruno collection with folders', 'Graph'), { kind: 'basic', username: 'a' });
  t.match(auth('Postman v1 with helpers, scripts, and files', 'r1'), { kind: 'basic', username: 'ada' });
  const login = auth('OpenAPI 3.0 with OAuth 2.0, cookies, and schemas that contain each other', 'POST /a.{ext}');
  t.match(login, { kind: 'oauth2', settings: new Map([['scope', 'read write']]) });
  t.match(auth('Insomnia 4 with other kinds of requests and tags', 'req_1'), {
    settings: new Map([['audience', 'a']]),
  });
  const refreshed = { settings: new Map([['refreshTokenUrl', 'https://t.example/refresh']]) };
  t.match(auth('a Bruno collection with variables and OAuth 2.0', 'Token'), refreshed);
});

t.test('a Postman collection keeps its description, as the folder that it becomes', async (t) => {
  const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
  for (const description of ['What it is **for**', { content: 'What it is **for**', type: 'text/markdown' }]) {
    const { items } = importAny(JSON.stringify({ info: { name: 'Api', schema, description }, item: [] }));
    t.match(items, [{ name: 'Api', description: 'What it is **for**' }]);
  }
});

t.test('a text of no known format, and broken ones, are errors that say why', async (t) => {
  for (const [text, why] of [
    ['{"a": 1', /begins as JSON, but is not valid/],
    ['{"a": 1}', /of an unknown kind/],
    ['openapi: 3.0.0\npaths: [', /begins as YAML, but is not valid/],
    ['openapi: 3.0.0\npaths: {}', /no request/],
    ['fetch("https://a.example", {', /not valid JavaScript/],
    ['get {\n  url: x\n', /'get' of line 1 is not closed/],
    ['hello', /'hello'|curl/],
    [`{"openapi":"3.0.0","paths":${'{"a":'.repeat(600)}1${'}'.repeat(601)}`, /nested more than 500 deep/],
    ['openapi: 3.0.0\npaths: &a\n  /x: *a\n', /nested more than|not valid|no request/],
  ] as const) {
    const imported = importAny(text);
    t.strictSame(imported.items, [], text.slice(0, 40));
    t.match(imported.errors[0]?.message, why, text.slice(0, 40));
    t.equal(imported.failed, text);
  }
});

t.test('a YAML file of aliases that would become gigabytes is refused', async (t) => {
  const lines = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}*a${at}]`);
  const imported = importAny(`openapi: 3.0.0\na0: &a0 [x]\n${lines.join('\n')}\npaths: {}\n`);
  t.match(imported.errors[0]?.message, /not valid|nested/);
});
