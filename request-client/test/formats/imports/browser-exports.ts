import { json, type WrittenExport } from './written-exports.js';

const entry = (request: object, status = 200): object => ({
  startedDateTime: '2026-01-02T03:04:05.678Z',
  time: 12,
  request: {
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: [],
    queryString: [],
    headersSize: -1,
    bodySize: -1,
    ...request,
  },
  response: { status, statusText: 'OK', headers: [], cookies: [], content: { size: 0, mimeType: '' }, redirectURL: '' },
  cache: {},
  timings: { send: 0, wait: 1, receive: 0 },
});
const har = (...entries: object[]): string =>
  json({ log: { version: '1.2', creator: { name: 'browser', version: '1' }, pages: [], entries } });

/** HTTP archives, and `fetch` calls as browsers copy them. */
export const BROWSER_EXPORTS: readonly WrittenExport[] = [
  {
    what: 'HAR of a page',
    format: 'har',
    text: har(
      entry({
        method: 'GET',
        url: 'https://shop.example/items?page=2',
        headers: [
          { name: ':authority', value: 'shop.example' },
          { name: 'Host', value: 'shop.example' },
          { name: 'accept', value: 'application/json' },
        ],
      }),
      entry({ method: 'GET', url: 'data:text/plain,x' }),
    ),
    requests: ['GET https://shop.example/items?page=2'],
  },
  {
    what: 'HAR with bodies',
    format: 'har',
    text: har(
      entry({
        method: 'POST',
        url: 'https://shop.example/orders',
        headers: [{ name: 'Content-Type', value: 'application/json' }],
        postData: { mimeType: 'application/json', text: '{"item":1}' },
      }),
      entry({
        method: 'POST',
        url: 'https://shop.example/login',
        postData: {
          mimeType: 'application/x-www-form-urlencoded',
          params: [{ name: 'user', value: 'a%20b' }],
        },
      }),
      entry({
        method: 'POST',
        url: 'https://shop.example/upload',
        headers: [{ name: 'content-type', value: 'multipart/form-data; boundary=x' }],
        postData: {
          mimeType: 'multipart/form-data; boundary=x',
          params: [
            { name: 'title', value: 'T' },
            { name: 'file', fileName: 'a.png', contentType: 'image/png' },
          ],
        },
      }),
    ),
    requests: [
      'POST https://shop.example/orders',
      'POST https://shop.example/login',
      'POST https://shop.example/upload',
    ],
    warns: ['fileName'],
  },
  {
    what: 'HAR of a proxy, with cookies apart',
    format: 'har',
    text: har(entry({ method: 'DELETE', url: 'http://127.0.0.1:8080/a', cookies: [{ name: 's', value: '1' }] }, 0)),
    requests: ['DELETE http://127.0.0.1:8080/a'],
  },
  {
    what: 'fetch, as Chrome copies it',
    format: 'fetch',
    text: `fetch("https://shop.example/api/orders", {
  "headers": { "accept": "*/*", "content-type": "application/json" },
  "referrer": "https://shop.example/",
  "body": "{\\"item\\":1}",
  "method": "POST",
  "mode": "cors",
  "credentials": "include"
});`,
    requests: ['POST https://shop.example/api/orders'],
  },
  {
    what: 'fetch, as Firefox copies it',
    format: 'fetch',
    text: `await fetch("https://shop.example/cart", {
    "credentials": "omit",
    "headers": { "User-Agent": "Mozilla/5.0", "X-Requested-With": "XMLHttpRequest" },
    "method": "GET"
});`,
    requests: ['GET https://shop.example/cart'],
  },
  {
    what: 'fetch, as documentation writes it',
    format: 'fetch',
    text: `const response = await fetch(\`https://api.example/users/\${userId}\`, {
  method: 'PATCH',
  headers: { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' },
  body: JSON.stringify({ name: 'ada', tags: ['a', 1, true, null], boss: bossId }),
  redirect: 'manual',
  dispatcher: agent,
});
console.log(await response.json());
await fetch('https://api.example/form', { method: 'post', body: new URLSearchParams({ a: '1', b: two }) });`,
    requests: ['PATCH https://api.example/users/{{userId}}', 'POST https://api.example/form'],
    variables: { userId: '', token: '', bossId: '', two: '' },
    warns: ['dispatcher'],
  },
];
