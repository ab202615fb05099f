import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Requests of a collection, and what must be sent for them. */
export interface PostmanCase {
  readonly name: string;
  /** Items; `{{base}}` is the server, `{{port}}` its port. */
  readonly items: readonly object[];
  /** Further members of the collection. */
  readonly collection?: object;
  /** `METHOD target body`, and headers that the case is about. */
  readonly sent: readonly string[];
  /** Why Newman sends something else; it is asked about all others. */
  readonly unlikeNewman?: string;
}

const parts = (path: string, more: object = {}) => ({
  protocol: 'http',
  host: ['127', '0', '0', '1'],
  port: '{{port}}',
  path: path.split('/'),
  ...more,
});
const get = (name: string, url: unknown, more: object = {}) => ({ name, request: { method: 'GET', url, ...more } });
const post = (name: string, body: object, more: object = {}) => ({
  name,
  request: { method: 'POST', url: '{{base}}/post', body, ...more },
});
const redirect = (method: string, status: number, behaviour: object, to = '{{base}}/to', body = 'x') => ({
  name: `${method} ${status}`,
  protocolProfileBehavior: behaviour,
  request: {
    method,
    url: `{{base}}/redirect/${status}?to=${to}`,
    header: [{ key: 'Content-Type', value: 'text/plain' }],
    body: { mode: 'raw', raw: body },
  },
});
const authorized = (behaviour: object) => ({
  name: 'authorized',
  protocolProfileBehavior: behaviour,
  request: {
    method: 'GET',
    url: '{{base}}/redirect/302?to=http://localhost:{{port}}/other',
    header: [{ key: 'Authorization', value: 'Token own' }],
  },
});

/** How requests are sent: `protocolProfileBehavior`, of the request, its folders and the collection. */
const BEHAVIOUR_CASES: readonly PostmanCase[] = [
  {
    name: 'every method but HEAD becomes GET',
    items: ['POST', 'PUT', 'DELETE'].flatMap((method) => [301, 302, 303].map((status) => redirect(method, status, {}))),
    sent: ['POST', 'PUT', 'DELETE'].flatMap((method) =>
      [301, 302, 303].flatMap((status) => [`${method} /redirect/${status}?to={{base}}/to x`, 'GET /to']),
    ),
  },
  {
    name: '307 and 308 repeat the request',
    items: [redirect('POST', 307, {}), redirect('PUT', 308, {})],
    sent: ['POST /redirect/307?to={{base}}/to x', 'POST /to x', 'PUT /redirect/308?to={{base}}/to x', 'PUT /to x'],
  },
  {
    name: 'followOriginalHttpMethod keeps method and body',
    items: [301, 302, 303].map((status) => redirect('POST', status, { followOriginalHttpMethod: true })),
    sent: [301, 302, 303].flatMap((status) => [`POST /redirect/${status}?to={{base}}/to x`, 'POST /to x']),
  },
  {
    name: 'the settings of a folder and of the collection hold for their requests',
    collection: { protocolProfileBehavior: { followRedirects: false } },
    items: [
      redirect('GET', 302, { disableBodyPruning: true }),
      {
        name: 'folder',
        protocolProfileBehavior: { followRedirects: true, followOriginalHttpMethod: true },
        item: [redirect('POST', 302, {}), redirect('POST', 302, { followOriginalHttpMethod: false })],
      },
    ],
    sent: [
      'GET /redirect/302?to={{base}}/to x',
      'POST /redirect/302?to={{base}}/to x',
      'POST /to x',
      'POST /redirect/302?to={{base}}/to x',
      'GET /to',
    ],
  },
  {
    name: 'maxRedirects ends a chain',
    items: [
      redirect('POST', 302, { maxRedirects: 1 }, '/redirect/302?to=/redirect/302?to=/to'),
      redirect('POST', 302, { maxRedirects: 0 }, '/to'),
    ],
    sent: [
      'POST /redirect/302?to=/redirect/302?to=/redirect/302?to=/to x',
      'GET /redirect/302?to=/redirect/302?to=/to',
      'POST /redirect/302?to=/to x',
    ],
  },
  {
    name: 'followAuthorizationHeader sends the header to another host, too',
    items: [authorized({}), authorized({ followAuthorizationHeader: true })],
    sent: [
      'GET /redirect/302?to=http://localhost:{{port}}/other; authorization: Token own',
      'GET /other',
      'GET /redirect/302?to=http://localhost:{{port}}/other; authorization: Token own',
      'GET /other; authorization: Token own',
    ],
  },
  {
    name: 'disableBodyPruning of a folder lets GET have a body',
    items: [
      {
        name: 'folder',
        protocolProfileBehavior: { disableBodyPruning: true },
        item: [{ name: 'in', request: { method: 'GET', url: '{{base}}/search', body: { mode: 'raw', raw: 'q' } } }],
      },
    ],
    sent: ['GET /search q'],
  },
];

/** Authorization that is not complete, or that the request has itself. */
const AUTH_CASES: readonly PostmanCase[] = [
  {
    name: 'an empty Bearer token is no authorization; an API key replaces a parameter of its name',
    items: [
      get('bearer', '{{base}}/bearer', { auth: { type: 'bearer', bearer: [{ key: 'token', value: '' }] } }),
      get('api key', '{{base}}/q?key=old&a=1', {
        auth: {
          type: 'apikey',
          apikey: [
            { key: 'key', value: 'key' },
            { key: 'value', value: 'new' },
            { key: 'in', value: 'query' },
          ],
        },
      }),
      get('token', '{{base}}/q?access_token=old', {
        auth: {
          type: 'oauth2',
          oauth2: [
            { key: 'accessToken', value: 'new' },
            { key: 'addTokenTo', value: 'queryParams' },
          ],
        },
      }),
    ],
    sent: ['GET /bearer', 'GET /q?a=1&key=new', 'GET /q?access_token=new'],
  },
];

/** Bodies that programs write in forms of their own. */
const BODY_CASES: readonly PostmanCase[] = [
  {
    name: 'GraphQL: the operation is sent, variables may be an object, and none are left out',
    items: [
      post('operation', { mode: 'graphql', graphql: { query: '{ a }', operationName: 'A', variables: '{"b": 1}' } }),
      post('object', { mode: 'graphql', graphql: { query: '{ a }', variables: { b: 1 } } }),
      post('none', { mode: 'graphql', graphql: { query: '{ a }', variables: '' } }),
    ],
    sent: [
      'POST /post {"query":"{ a }","operationName":"A","variables":{"b": 1}}',
      'POST /post {"query":"{ a }","variables":{"b":1}}',
      'POST /post {"query":"{ a }"}',
    ],
  },
  {
    name: 'comments in a JSON body are not sent',
    items: [
      post('language', {
        mode: 'raw',
        raw: '{"a": 1, /* in */ "b": "http://x" // end\n}',
        options: { raw: { language: 'json' } },
      }),
      post('text', { mode: 'raw', raw: 'a // b', options: { raw: { language: 'text' } } }),
    ],
    sent: ['POST /post {"a": 1,  "b": "http://x" \n}', 'POST /post a // b'],
  },
  {
    name: 'a form whose fields are all switched off is no body',
    items: [
      post('urlencoded', { mode: 'urlencoded', urlencoded: [{ key: 'a', value: '1', disabled: true }] }),
      post('formdata', { mode: 'formdata', formdata: [{ key: 'a', value: '1', disabled: true }] }),
    ],
    sent: ['POST /post', 'POST /post'],
  },
];

/** Where requests are sent. */
const ADDRESS_CASES: readonly PostmanCase[] = [
  {
    name: 'the parts win over raw',
    items: [
      get('path', { raw: '{{base}}/v1/old', ...parts('v2/new') }),
      get('query', {
        raw: '{{base}}/q?page=1',
        ...parts('q', {
          query: [
            { key: 'page', value: '2' },
            { key: 'size', value: '10' },
            { key: 'off', value: '1', disabled: true },
          ],
        }),
      }),
      get('host', { raw: '/rel', ...parts('rel') }),
      get('empty', { raw: '', protocol: 'http', host: '127.0.0.1', port: '{{port}}', path: '/one/text' }),
      get('host in one text', {
        raw: 'http://127.0.0.1:1/x',
        protocol: 'http',
        host: ['{{host}}'],
        port: '{{port}}',
        path: ['x'],
      }),
    ],
    sent: ['GET /v2/new', 'GET /q?page=2&size=10', 'GET /rel', 'GET /one/text', 'GET /x'],
  },
  {
    name: 'raw counts where there are no parts',
    items: [get('raw only', { raw: '{{base}}/only/raw?a=1' })],
    sent: ['GET /only/raw?a=1'],
    unlikeNewman: 'it sends nothing: "request url is empty"',
  },
  {
    name: 'a path variable ends at a dot, and is replaced within a segment',
    items: [
      get('suffix', {
        raw: '{{base}}/users/:id.json',
        ...parts('users/:id.json', { variable: [{ key: 'id', value: '7' }] }),
      }),
      get('two', {
        raw: '{{base}}/:name.tar.gz',
        ...parts(':name.tar.gz', { variable: [{ key: 'name', value: '{{who}}' }] }),
      }),
      get('no value', { raw: '{{base}}/:id/x', ...parts(':id/x', { variable: [{ key: 'id', value: '' }] }) }),
    ],
    sent: ['GET /users/7.json', 'GET /ada.tar.gz', 'GET /:id/x'],
  },
  {
    name: 'a path variable beside others, or before another colon',
    items: [
      get('two in one', {
        raw: '{{base}}/at/:lat,:lng',
        ...parts('at/:lat,:lng', {
          variable: [
            { key: 'lat', value: '1.5' },
            { key: 'lng', value: '2' },
          ],
        }),
      }),
      get('verb', {
        raw: '{{base}}/jobs/:id:cancel',
        ...parts('jobs/:id:cancel', { variable: [{ key: 'id', value: '7' }] }),
      }),
      get('name with a dot', { raw: '{{base}}/:a.b', ...parts(':a.b', { variable: [{ key: 'a.b', value: '1' }] }) }),
      get('longer name', { raw: '{{base}}/:idea', ...parts(':idea', { variable: [{ key: 'id', value: '7' }] }) }),
    ],
    sent: ['GET /at/1.5,2', 'GET /jobs/7:cancel', 'GET /1', 'GET /:idea'],
    unlikeNewman: 'it knows a variable only at the beginning of a segment, up to a dot or the end',
  },
  {
    name: 'what would end a value is encoded, what a variable brings is not',
    items: [
      get('reserved', {
        raw: '{{base}}/q?color=#fff',
        ...parts('q', {
          query: [
            { key: 'color', value: '#fff' },
            { key: 'pair', value: 'a&b=c' },
            { key: 'a=b', value: null },
          ],
        }),
      }),
      get('variable', { raw: '{{base}}/q?v={{and}}', ...parts('q', { query: [{ key: 'v', value: '{{and}}' }] }) }),
      get('odd name', { raw: '{{base}}/q?v={{a&b}}', ...parts('q', { query: [{ key: 'v', value: '{{a&b}}' }] }) }),
    ],
    sent: ['GET /q?color=%23fff&pair=a%26b=c&a%3Db', 'GET /q?v=1&w=2', 'GET /q?v=odd'],
  },
  {
    name: 'parameters in the forms of programs',
    items: [
      get('text', { ...parts('q'), query: 'a=1&b=2' }),
      get('object', { ...parts('q'), query: { a: '1', b: '2' } }),
      get('no name', {
        ...parts('q'),
        query: [
          { key: null, value: 'x' },
          { key: 'b', value: null },
          { key: 'c', value: '' },
        ],
      }),
      get('all off', { raw: '{{base}}/q?a=1', ...parts('q', { query: [{ key: 'a', value: '1', disabled: true }] }) }),
    ],
    sent: ['GET /q?a=1&b=2', 'GET /q?a=1&b=2', 'GET /q?=x&b&c=', 'GET /q'],
  },
  {
    name: 'a user name is a part of its own, and a fragment is not sent',
    items: [
      get('login', { ...parts('in'), auth: { user: 'ada', password: 'p' } }),
      get('fragment', { raw: '{{base}}/page#top', ...parts('page', { hash: 'top' }) }),
    ],
    sent: ['GET /in; authorization: Basic YWRhOnA=', 'GET /page'],
  },
  {
    name: 'pm.sendRequest: a value stays one value, and JSON stays JSON',
    items: [
      {
        name: 'script',
        event: [
          {
            listen: 'prerequest',
            script: {
              exec: [
                "pm.variables.set('text', 'a&b=c\\nd');",
                `pm.sendRequest({ url: '{{base}}/script', method: 'POST', body: { mode: 'urlencoded', urlencoded: [{ key: 'v', value: '{{text}}' }] } }, () => {`,
                `  pm.sendRequest({ url: '{{base}}/script', method: 'POST', body: { mode: 'graphql', graphql: { query: 'say "{{text}}"' } } }, () => {`,
                `    pm.sendRequest({ url: '{{base}}/script', method: 'GET', body: { mode: 'raw', raw: '{{who}}' } }, () => {});`,
                '  });',
                '});',
              ],
            },
          },
        ],
        request: { method: 'GET', url: '{{base}}/after' },
      },
    ],
    sent: [
      'POST /script v=a%26b%3Dc%0Ad',
      'POST /script {"query":"say \\"a&b=c\\nd\\""}',
      'GET /script ada',
      'GET /after',
    ],
    unlikeNewman: 'it replaces no variables in requests of scripts',
  },
];

export interface RecordingServer {
  readonly port: number;
  /** What was sent since the last call, as in {@link PostmanCase.sent}. */
  take(): string[];
  close(): Promise<void>;
}

/** Answers 200 and `{}`; `/redirect/STATUS?to=URL` redirects. */
export async function startRecordingServer(): Promise<RecordingServer> {
  let heard: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const { authorization } = request.headers;
      heard.push(
        `${request.method} ${request.url}${body === '' ? '' : ` ${body}`}${authorization === undefined ? '' : `; authorization: ${authorization}`}`,
      );
      const [, status, to] = /^\/redirect\/(\d+)\?to=(.*)$/s.exec(request.url ?? '') ?? [];
      if (status !== undefined && to !== undefined) response.writeHead(Number(status), { Location: to });
      response.end(status === undefined ? '{}' : '');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    take: () => {
      const taken = heard;
      heard = [];
      return taken;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** The collection of a case for a server, and what must be sent to it. */
export function caseFor(
  { name, items, collection = {}, sent }: PostmanCase,
  { port }: Pick<RecordingServer, 'port'>,
): {
  readonly collection: object;
  readonly environment: Readonly<Record<string, string>>;
  readonly sent: readonly string[];
} {
  const base = `http://127.0.0.1:${port}`;
  const filled = (line: string): string => line.replaceAll('{{base}}', base).replaceAll('{{port}}', String(port));
  return {
    collection: {
      info: { name, schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
      ...collection,
      item: items,
    },
    environment: { base, port: String(port), host: '127.0.0.1', who: 'ada', and: '1&w=2', 'a&b': 'odd' },
    sent: sent.map(filled),
  };
}

export const POSTMAN_CASES: readonly PostmanCase[] = [
  ...BEHAVIOUR_CASES,
  ...AUTH_CASES,
  ...BODY_CASES,
  ...ADDRESS_CASES,
];
