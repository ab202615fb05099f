import { json, type WrittenExport } from './written-exports.js';

const four = (...resources: object[]): string =>
  json({
    _type: 'export',
    __export_format: 4,
    __export_date: '2026-01-01T00:00:00.000Z',
    __export_source: 'insomnia',
    resources,
  });
const workspace = { _id: 'wrk_1', _type: 'workspace', parentId: null, name: 'Shop', scope: 'collection' };
const request = (id: string, parentId: string, more: object): object => ({
  _id: id,
  _type: 'request',
  parentId,
  name: id,
  method: 'GET',
  url: '',
  body: {},
  parameters: [],
  headers: [],
  authentication: {},
  ...more,
});

/** Exports of Insomnia 4 and files of Insomnia 5. */
export const INSOMNIA_EXPORTS: readonly WrittenExport[] = [
  {
    what: 'Insomnia 4 with folders and environments',
    format: 'insomnia4',
    text: four(
      request('req_2', 'fld_1', {
        url: '{{ _.base.url }}/orders',
        method: 'POST',
        metaSortKey: 2,
        body: { mimeType: 'application/json', text: '{"at": "{% now \'iso-8601\', \'\' %}"}' },
        authentication: { type: 'bearer', token: '{{ _.token }}' },
      }),
      request('req_1', 'fld_1', {
        url: '{{ _.base.url }}/orders',
        metaSortKey: 1,
        parameters: [
          { name: 'page', value: '2' },
          { name: 'off', value: '1', disabled: true },
        ],
      }),
      { _id: 'fld_1', _type: 'request_group', parentId: 'wrk_1', name: 'Orders', environment: {} },
      workspace,
      {
        _id: 'env_1',
        _type: 'environment',
        parentId: 'wrk_1',
        name: 'Base',
        data: { base: { url: 'https://a.example' } },
      },
      { _id: 'env_2', _type: 'environment', parentId: 'env_1', name: 'Staging', data: { token: 't', port: 8080 } },
    ),
    requests: ['GET {{base.url}}/orders?page=2', 'POST {{base.url}}/orders'],
    variables: { 'base.url': 'https://a.example' },
    environments: { Staging: { token: 't', port: '8080' } },
  },
  {
    what: 'Insomnia 4 with other kinds of requests and tags',
    format: 'insomnia4',
    text: four(
      workspace,
      request('req_1', 'wrk_1', {
        url: "https://a.example/{% response 'body', 'req_9', 'b64::JC5pZA==::46b' %}",
        authentication: {
          type: 'oauth2',
          grantType: 'password',
          username: 'u',
          resource: 'r',
          state: '',
          audience: 'a',
        },
      }),
      { _id: 'ws-req_1', _type: 'websocket_request', parentId: 'wrk_1', name: 'Live', url: 'wss://a.example' },
      { _id: 'greq_1', _type: 'grpc_request', parentId: 'wrk_1', name: 'Call', url: 'grpc://a.example' },
    ),
    requests: ["GET https://a.example/{% response 'body', 'req_9', 'b64::JC5pZA==::46b' %}"],
    warns: ['grpc_request', 'password', 'resource', 'response', 'websocket_request'],
  },
  {
    what: 'Insomnia 4 of one folder, with forms',
    format: 'insomnia4',
    text: four(
      request('req_1', 'fld_9', {
        method: 'POST',
        url: 'https://a.example/form',
        headers: [{ name: 'Content-Type', value: 'multipart/form-data' }],
        body: {
          mimeType: 'multipart/form-data',
          params: [
            { name: 'a', value: '1' },
            { name: 'f', type: 'file', fileName: '/tmp/a.png' },
          ],
        },
      }),
      request('req_2', 'fld_9', {
        method: 'POST',
        url: 'https://a.example/graph',
        body: { mimeType: 'application/graphql', text: '{"query":"{ a }","variables":{"x":1}}' },
      }),
    ),
    requests: ['POST https://a.example/form', 'POST https://a.example/graph'],
  },
  {
    what: 'Insomnia 5 collection',
    format: 'insomnia5',
    text: `type: collection.insomnia.rest/5.0
name: Shop
meta: {id: wrk_1, created: 1, modified: 1, description: The shop}
collection:
  - name: Orders
    meta: {id: fld_1, sortKey: -2}
    children:
      - url: "{{ _.host }}/orders/:id"
        name: Read
        meta: {id: req_1, sortKey: -1}
        method: GET
        parameters: [{name: expand, value: items, disabled: true}]
        pathParameters: [{name: id, value: "7"}]
        authentication: {type: basic, username: ada, password: "{{ _.password }}"}
        scripts: {afterResponse: "insomnia.test('ok', () => insomnia.expect(insomnia.response.code).to.eql(200));"}
        settings: {encodeUrl: true, followRedirects: off, cookies: {send: true, store: true}}
  - url: wss://a.example
    name: Live
    meta: {id: ws-req_1}
cookieJar: {name: Default, meta: {id: jar_1}, cookies: []}
environments:
  name: Base
  meta: {id: env_1}
  data: {host: https://a.example}
  subEnvironments:
    - {name: Staging, meta: {id: env_2}, data: {password: p}}
`,
    requests: ['GET {{host}}/orders/7'],
    variables: { host: 'https://a.example' },
    environments: { Staging: { password: 'p' } },
    warns: ['WebSocket requests'],
  },
  {
    what: 'Insomnia 5 API design',
    format: 'insomnia5',
    text: `type: spec.insomnia.rest/5.0
name: Design
meta: {id: wrk_2}
collection:
  - url: https://a.example/key
    name: Key
    meta: {id: req_1}
    method: POST
    body: {mimeType: application/x-www-form-urlencoded, params: [{name: a, value: b c}]}
    headers: [{name: X-Off, value: "1", disabled: true}]
    authentication: {type: apikey, key: k, value: v, addTo: queryParams}
spec: {contents: {openapi: 3.0.0}}
testSuites: [{name: Suite, meta: {id: uts_1}, tests: []}]
`,
    requests: ['POST https://a.example/key'],
    warns: ['spec', 'testSuites'],
  },
  {
    what: 'Insomnia 5 environment',
    format: 'insomnia5',
    text: `type: environment.insomnia.rest/5.0
name: Global
meta: {id: wrk_3}
environments:
  name: Base
  meta: {id: env_1}
  data: {a: 1, deep: {b: true}}
`,
    requests: [],
    environments: { Global: { a: '1', 'deep.b': 'true' } },
  },
];
