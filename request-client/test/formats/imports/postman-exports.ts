import { json, type WrittenExport } from './written-exports.js';

const v1 = (id: string, more: object): object => ({
  id,
  name: id,
  url: `https://a.example/${id}`,
  method: 'GET',
  headers: '',
  dataMode: 'params',
  data: [],
  collectionId: 'c',
  ...more,
});

/** Postman's collections of both generations, its environments, and its dump of all data. */
export const POSTMAN_EXPORTS: readonly WrittenExport[] = [
  {
    what: 'Postman v1 with folders in folders',
    format: 'postman1',
    text: json({
      id: 'c',
      name: 'Old',
      order: ['r1'],
      folders: [
        { id: 'f1', name: 'Outer', order: ['r2'], folders_order: ['f2'], collectionId: 'c' },
        { id: 'f2', name: 'Inner', order: ['r3'], folders_order: ['f1'], collectionId: 'c' },
      ],
      folders_order: ['f1'],
      requests: [
        v1('r1', { headers: 'Accept: a/b\n//X-Off: 1\n' }),
        v1('r2', {
          method: 'POST',
          dataMode: 'raw',
          rawModeData: '{"a":1}',
          headers: 'Content-Type: application/json\n',
        }),
        v1('r3', {
          method: 'POST',
          dataMode: 'urlencoded',
          data: [{ key: 'a', value: '1', type: 'text', enabled: true }],
        }),
      ],
    }),
    requests: ['POST https://a.example/r3', 'POST https://a.example/r2', 'GET https://a.example/r1'],
  },
  {
    what: 'Postman v1 with helpers, scripts, and files',
    format: 'postman1',
    text: json({
      id: 'c',
      name: 'Old',
      order: ['r1', 'r2'],
      requests: [
        v1('r1', {
          url: 'https://a.example/:id',
          pathVariables: { id: '7' },
          currentHelper: 'basicAuth',
          helperAttributes: { id: 'basic', username: 'ada', password: 'p' },
          preRequestScript: 'var a = 1;',
          tests: "tests['ok'] = true;",
        }),
        v1('r2', {
          method: 'POST',
          data: [{ key: 'f', value: 'a.png', type: 'file', enabled: true }],
          currentHelper: 'apiHelper',
        }),
      ],
    }),
    requests: ['GET https://a.example/7', 'POST https://a.example/r2'],
    warns: ['apiHelper', 'file'],
  },
  {
    what: 'a dump of all data',
    format: 'postman1',
    text: json({
      version: 1,
      collections: [
        { id: 'c', name: 'One', order: ['r1'], requests: [v1('r1', {})], variables: [{ key: 'v', value: '1' }] },
      ],
      environments: [{ id: 'e', name: 'Env', values: [{ key: 'host', value: 'h', enabled: true }] }],
      headerPresets: [{ id: 'h', name: 'Preset', headers: [] }],
      globals: [{ key: 'g', value: '2', enabled: true }],
    }),
    requests: ['GET https://a.example/r1'],
    variables: { v: '1' },
    environments: { Env: { host: 'h' }, Globals: { g: '2' } },
    warns: ['headerPresets'],
  },
  ...[
    {
      values: [{ key: 'host', value: 'https://a.example', enabled: true }],
      name: 'Staging',
      id: 'e',
      _postman_variable_scope: 'environment',
    },
    {
      values: [{ key: 'token', value: 's', type: 'secret', enabled: false }],
      name: 'Secret',
      _postman_exported_using: 'Postman/11',
    },
    { values: [{ key: 'g', value: '1', type: 'any' }], _postman_variable_scope: 'globals' },
  ].map((value, index): WrittenExport => {
    const names = ['Staging', 'Secret', 'Globals'];
    return {
      what: `Postman environment ${index + 1}`,
      format: 'postman-environment',
      text: json(value),
      requests: [],
      environments: { [names[index] ?? '']: Object.fromEntries(value.values.map((row) => [row.key, row.value])) },
    };
  }),
  ...['v2.1.0', 'v2.0.0'].map(
    (version): WrittenExport => ({
      what: `Postman ${version}`,
      format: 'postman2',
      text: json({
        info: { name: 'New', schema: `https://schema.getpostman.com/json/collection/${version}/collection.json` },
        item: [
          { name: 'Folder', item: [{ name: 'R', request: { method: 'GET', url: 'https://a.example/r', header: [] } }] },
        ],
        variable: [{ key: 'v', value: '1' }],
      }),
      requests: ['GET https://a.example/r'],
      variables: { v: '1' },
    }),
  ),
  {
    what: 'an answer of the Postman API',
    format: 'postman2',
    text: json({ collection: { info: { name: 'Api' }, item: [{ name: 'R', request: 'https://a.example/r' }] } }),
    requests: ['GET https://a.example/r'],
  },
];
