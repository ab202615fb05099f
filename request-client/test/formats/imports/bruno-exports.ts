import { json, type WrittenExport } from './written-exports.js';

const bruno = (items: object[], more: object = {}): string =>
  json({
    name: 'Shop',
    version: '1',
    items,
    environments: [],
    brunoConfig: { version: '1', name: 'Shop', type: 'collection' },
    ...more,
  });
const request = (more: object): object => ({
  url: 'https://a.example',
  method: 'GET',
  headers: [],
  params: [],
  body: { mode: 'none' },
  auth: { mode: 'inherit' },
  script: {},
  vars: {},
  assertions: [],
  tests: '',
  docs: '',
  ...more,
});

/** Files of Bruno, and its JSON exports. */
export const BRUNO_EXPORTS: readonly WrittenExport[] = [
  {
    what: 'a .bru request with JSON',
    format: 'bru',
    text: `meta {
  name: Create user
  type: http
  seq: 1
}

post {
  url: {{host}}/users/:id?active=true
  body: json
  auth: bearer
}

params:query {
  active: true
  ~page: 2
}

params:path {
  id: 7
}

headers {
  content-type: application/json
  ~x-off: 1
  "key with spaces": x
}

auth:bearer {
  token: {{token}}
}

body:json {
  {
    "name": "ada"
  }
}

assert {
  res.status: eq 201
}

tests {
  test("has a name", function () {
    expect(res.getBody().name).to.eql("ada");
  });
}
`,
    requests: ['POST {{host}}/users/7?active=true'],
  },
  {
    what: 'a .bru request with a form and unknown calls',
    format: 'bru',
    text: `meta {
  name: Upload
}

put {
  url: https://a.example/{{process.env.STAGE}}
  body: multipart-form
  auth: none
}

body:multipart-form {
  title: Hello
  ~off: 1
  file: @file(/tmp/a.png) @contentType(image/png)
}

script:pre-request {
  await bru.sleep(10);
}
`,
    requests: ['PUT https://a.example/{{STAGE}}'],
    warns: ['STAGE', 'bru.sleep'],
  },
  {
    what: 'a .bru environment',
    format: 'bru',
    text: 'vars {\n  host: https://a.example\n  ~off: 1\n}\nvars:secret [\n  token,\n  ~old\n]\n',
    requests: [],
    environments: { 'Bruno environment': { host: 'https://a.example', off: '1', token: '', old: '' } },
  },
  {
    what: 'a Bruno collection with folders',
    format: 'bruno',
    text: bruno(
      [
        { type: 'http', name: 'Last', seq: 2, request: request({ url: 'https://a.example/last' }) },
        {
          type: 'http',
          name: 'First',
          seq: 1,
          request: request({
            url: 'https://a.example/first?x=1',
            params: [{ name: 'x', value: '1', type: 'query', enabled: true }],
          }),
        },
        {
          type: 'folder',
          name: 'Folder',
          root: {
            request: {
              auth: { mode: 'basic', basic: { username: 'a', password: 'b' } },
              headers: [{ name: 'X', value: '1', enabled: true }],
            },
          },
          items: [
            {
              type: 'graphql',
              name: 'Graph',
              request: request({
                method: 'POST',
                body: { mode: 'graphql', graphql: { query: '{ a }', variables: '{}' } },
              }),
            },
          ],
        },
      ],
      {
        environments: [
          { name: 'Local', variables: [{ name: 'host', value: 'h', enabled: true, secret: false, type: 'text' }] },
        ],
      },
    ),
    requests: ['POST https://a.example', 'GET https://a.example/first?x=1', 'GET https://a.example/last'],
    environments: { Local: { host: 'h' } },
    warns: ['headers'],
  },
  {
    what: 'a Bruno collection with all kinds of items',
    format: 'bruno',
    text: bruno([
      { type: 'grpc', name: 'Call', request: {} },
      { type: 'http', name: 'Wsse', request: request({ auth: { mode: 'wsse', wsse: { username: 'u' } } }) },
      {
        type: 'http',
        name: 'File',
        request: request({ method: 'PUT', body: { mode: 'file', file: [{ filePath: 'a.bin', selected: true }] } }),
      },
    ]),
    requests: ['GET https://a.example', 'PUT https://a.example'],
    warns: ['grpc', 'wsse'],
  },
  {
    what: 'a Bruno collection with variables and OAuth 2.0',
    format: 'bruno',
    text: bruno(
      [
        {
          type: 'http-request',
          name: 'Token',
          request: request({
            auth: {
              mode: 'oauth2',
              oauth2: {
                grantType: 'client_credentials',
                accessTokenUrl: 'https://t.example',
                clientId: 'c',
                clientSecret: 's',
                scope: 'r',
                refreshTokenUrl: 'https://t.example/refresh',
                autoRefreshToken: true,
                state: '',
                callbackUrl: 'https://c.example',
                additionalParameters: { authorization: [], token: [{ name: 'audience', value: 'a' }], refresh: [] },
              },
            },
          }),
        },
      ],
      { root: { request: { vars: { req: [{ name: 'base', value: 'https://a.example', enabled: true }] } } } },
    ),
    requests: ['GET https://a.example'],
    variables: { base: 'https://a.example' },
    warns: ['additionalParameters', 'callbackUrl'],
  },
];
