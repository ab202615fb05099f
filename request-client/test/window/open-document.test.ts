import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { importAny } from '#request-client/formats/imports/import-any.js';
import type { RequestEdit, TreeItem } from '#request-client/protocol/request-window.js';
import { OpenDocument } from '#request-client/window/open-document.js';
import { openFolder } from '../../../test/containers/driver-fixture.js';
import { guardLeaks } from '../../../test/support/leaks.js';
import { SEED } from '../../../test/support/seed.js';

guardLeaks(t);
const folder = openFolder(t);
let files = 0;

async function opened(value: unknown): Promise<OpenDocument> {
  const path = join(folder, `${++files}.json`);
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value, null, '\t'));
  return await OpenDocument.open(path);
}

const INFO = { name: 'Odd', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' };

t.test('an edit of one field changes only its own characters', async (t) => {
  const text = `{"info":{"name":"o" , "schema":"v2.1.0"},"_n":1.50,"item":[
  {"name":"a","request":{"method":"GET","header":[{"key":"A","value":"1","description":"why"},{"key":"B","value":"2","disabled":true}],
    "url":{"raw":"http://h/:id?x=1","host":["h"],"path":[":id"],"query":[{"key":"x","value":"1","description":"d"},{"key":"off","value":"0","disabled":true}],"variable":[{"key":"id","value":"7","_x":1.0}]},
    "_own": 1e3},"response":[{"id":"r"}]}]}`;
  const edits: readonly (readonly [RequestEdit, string, string])[] = [
    [{ name: 'b' }, '"name":"a"', '"name":"b"'],
    [{ method: 'PUT' }, '"GET"', '"PUT"'],
    [
      {
        headers: [
          { name: 'A', value: '9', enabled: true },
          { name: 'B', value: '2', enabled: false },
        ],
      },
      '"value":"1","description":"why"',
      '"value":"9","description":"why"',
    ],
    [{ pathVariables: [{ name: 'id', value: '8', enabled: true }] }, '"value":"7"', '"value":"8"'],
  ];
  for (const [edit, before, after] of edits) {
    const document = await opened(text);
    document.edit('i1', edit);
    t.equal(document.collection.text, text.replace(before, after), Object.keys(edit)[0] ?? '');
    document.edit('i1', document.form('i1'));
    t.equal(document.collection.text, text.replace(before, after), 'what is the same stays as it is written');
    document.undo();
    t.equal(document.collection.text, text);
    t.equal(document.changed, false);
  }
});

t.test('a written form is read again unchanged', async (t) => {
  const document = await opened({ info: INFO, item: [{ name: 'a', request: 'http://h/' }] });
  const rows = [
    { name: 'a', value: '{{v}}', enabled: true },
    { name: 'a', value: '', enabled: false },
  ];
  const bodies: RequestEdit['body'][] = [
    { mode: 'raw', text: '{"a": 1}\n', language: 'json' },
    { mode: 'urlencoded', rows },
    { mode: 'formdata', rows: rows.map((row) => ({ ...row, file: row.enabled })) },
    { mode: 'file', path: './x' },
    { mode: 'graphql', query: '{ a }', variables: '{}' },
    { mode: 'none' },
  ];
  for (const body of bodies) {
    const edit = {
      name: 'né "quoted"',
      method: 'PATCH',
      url: 'https://h:1/p/:id?a={{v}}&b&c=#f',
      params: [
        { name: 'off', value: '1', enabled: false },
        { name: 'a', value: '{{v}}', enabled: true },
        { name: 'b', value: null, enabled: true },
        { name: 'c', value: '', enabled: true },
      ],
      pathVariables: [{ name: 'id', value: '7', enabled: true }],
      headers: rows,
      ...(body === undefined ? {} : { body }),
      auth: { type: 'oauth2', settings: { grant_type: 'client_credentials', url: 'https://h/token', scope: 'a b' } },
      before: 'one();\ntwo();',
      after: 'match(response, {})',
      followRedirects: false,
      verifyTls: false,
      httpVersion: 'http2' as const,
    };
    document.edit('i1', edit);
    t.match(document.form('i1'), edit, body?.mode ?? '');
  }
  document.edit('i1', { auth: { type: 'inherit', settings: {} }, before: '', after: '', followRedirects: true });
  t.match(document.form('i1'), { auth: { type: 'inherit' }, before: '', after: '', followRedirects: true });
});

t.test('OAuth settings are written under the keys of this client, and under Postman’s if they exist', async (t) => {
  const oauth2 = [
    { key: 'authUrl', value: 'https://old/auth', type: 'string' },
    { key: 'tokenName', value: 'mine', type: 'string' },
  ];
  const request = { method: 'GET', url: 'http://h/', auth: { type: 'oauth2', oauth2 } };
  const document = await opened({ info: INFO, item: [{ name: 'a', request }] });
  t.strictSame(document.form('i1').auth, { type: 'oauth2', settings: { authorizationUrl: 'https://old/auth' } });
  document.edit('i1', { auth: { type: 'oauth2', settings: { authorizationUrl: 'https://new/auth', client_id: 'x' } } });
  t.strictSame(document.collection.at(['item', 0, 'request', 'auth', 'oauth2']), [
    { key: 'authUrl', value: 'https://new/auth', type: 'string' },
    { key: 'tokenName', value: 'mine', type: 'string' },
    { key: 'authorizationUrl', value: 'https://new/auth', type: 'string' },
    { key: 'client_id', value: 'x', type: 'string' },
  ]);
});

t.test('ids stay with their items through adding, moving, copying, removing, importing and undoing', async () => {
  const step = fc.record({
    what: fc.constantFrom('add', 'folder', 'move', 'move', 'duplicate', 'remove', 'import', 'undo'),
    one: fc.nat(),
    other: fc.nat(),
    place: fc.nat({ max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const document = OpenDocument.create();
      const names = new Map<string, string>();
      let count = 0;
      const all = (): TreeItem[] => {
        const flat = (items: readonly TreeItem[]): TreeItem[] =>
          items.flatMap((item) => [item, ...flat(item.children)]);
        return flat(document.view.items);
      };
      for (const { what, one, other, place } of steps) {
        const items = all();
        const id = items[one % (items.length || 1)]?.id ?? null;
        const folders = [null, ...items.filter(({ method }) => method === null).map((item) => item.id)];
        const parent = folders[other % folders.length] ?? null;
        if (what === 'add' || what === 'folder') {
          const name = `n${++count}`;
          names.set(document.add(parent, what === 'add' ? 'request' : 'folder', name), name);
        } else if (what === 'import') document.addImported(importAny('curl http://h/1; curl http://h/2'), parent);
        else if (what === 'undo') document.undo();
        else if (id === null) continue;
        else if (what === 'remove') document.remove(id);
        else if (what === 'duplicate') document.duplicate(id);
        else {
          try {
            document.move(id, parent, place);
          } catch (error) {
            if (!(error instanceof Error) || !/into itself/.test(error.message)) throw error;
          }
        }
      }
      const after = all();
      if (new Set(after.map(({ id }) => id)).size !== after.length) throw new Error('two items have one id');
      for (const { id, name } of after) {
        const wanted = names.get(id);
        if (wanted !== undefined && wanted !== name) throw new Error(`${id} was ${wanted} and is ${name}`);
        if (document.node(id).name !== name) throw new Error(`${id} leads elsewhere`);
      }
    }),
    { numRuns: 60, seed: SEED },
  );
});
