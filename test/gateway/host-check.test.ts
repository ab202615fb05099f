import t from 'tap';
import type { Gateway } from '#troupe/gateway/server.js';
import { openHouse } from '../support/house.js';
import { httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';
import { ROUTES } from '../support/routes.js';
import { everyServer } from '../support/tested-server.js';

guardLeaks(t);

const house = await openHouse(t);

/** The status of GET /api/health with these headers; `PORT` in them is replaced by the gateway's. */
async function statusWith(gateway: Gateway, headers: { [name: string]: string }): Promise<number> {
  const filled = Object.entries(headers).map(([name, value]) => [name, value.replace('PORT', String(gateway.port))]);
  const call = { method: 'GET', path: '/api/health', headers: Object.fromEntries(filled) };
  return (await httpCall(gateway.url, call)).status;
}

for (const server of await everyServer()) {
  t.test(`A foreign Host or Origin is refused on every path, also without a route (${server})`, async (t) => {
    const gateway = await house.listen({ server });
    const places = [...ROUTES, { method: 'GET', path: '/nope' }, { method: 'OPTIONS', path: '/api/sessions' }];
    for (const { method, path } of places) {
      for (const headers of [{ host: 'evil.test' }, { host: 'localhost', origin: 'http://evil.test' }]) {
        const answer = await httpCall(gateway.url, { method, path: path.replace(/[{}]/g, ''), headers });
        t.equal(answer.status, 403, `${method} ${path}`);
        t.match(answer.json, { code: 'FORBIDDEN_ORIGIN' });
        t.match(Reflect.get(Object(answer.json), 'error'), /evil\.test/);
        t.equal(answer.headers['access-control-allow-origin'], undefined);
      }
    }
  });

  t.test(`With a configured token every route requires it (${server})`, async (t) => {
    const gateway = await house.listen({ server, token: 'correct-horse' });
    const guarded = ROUTES.filter(({ role }) => role !== null);
    for (const { method, path } of [...guarded, { method: 'GET', path: '/nope' }]) {
      const answer = await httpCall(gateway.url, { method, path: path.replace(/[{}]/g, '') });
      t.equal(answer.status, 401, `${method} ${path}`);
      t.match(answer.json, { code: 'UNAUTHORIZED' });
      t.equal(answer.headers['www-authenticate'], 'Bearer');
    }
    const tokens: { [authorization: string]: number } = {
      'Bearer correct-horse': 200,
      'bearer correct-horse': 200,
      'Bearer correct-hors': 401,
      'Bearer correct-horse2': 401,
      'Bearer ': 401,
      'Basic correct-horse': 401,
      'correct-horse': 401,
    };
    for (const [authorization, status] of Object.entries(tokens)) {
      t.equal(await statusWith(gateway, { authorization }), status, authorization);
    }
  });

  t.test(`A browser that signs in once is admitted by its cookie, on this port only (${server})`, async (t) => {
    const gateway = await house.listen({ server, token: 'correct-horse' });
    const open = ROUTES.filter(({ role }) => role === null).map(({ method, path }) => `${method} ${path}`);
    t.same(open.sort(), [
      'DELETE /api/login',
      'GET /',
      'GET /api/proof',
      'GET /assets/{name}',
      'GET /shared/{link}',
      'POST /api/login',
    ]);
    const signIn = (token: string) =>
      httpCall(gateway.url, { method: 'POST', path: '/api/login', body: JSON.stringify({ token }) });
    t.match(await signIn('wrong-horse'), { status: 401, json: { code: 'UNAUTHORIZED' } });
    const [setCookie = ''] = [(await signIn('correct-horse')).headers['set-cookie']].flat();
    t.match(setCookie, /^troupe\d+=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/);
    t.notMatch(setCookie, 'correct-horse');
    const [cookie = ''] = setCookie.split(';');
    const cookies: { [cookie: string]: number } = {
      [cookie]: 200,
      [`a=b; ${cookie}; c=d`]: 200,
      [`${cookie}x`]: 401,
      [cookie.replace(/\d+=/, '1=')]: 401,
      [`${cookie.split('=')[0]}=correct-horse`]: 401,
    };
    for (const [header, status] of Object.entries(cookies)) {
      t.equal(await statusWith(gateway, { cookie: header }), status, header);
    }
    t.equal(await statusWith(gateway, { cookie, origin: 'http://evil.test' }), 403);
    const left = await httpCall(gateway.url, { method: 'DELETE', path: '/api/login' });
    t.match(left.headers['set-cookie'], [/=; Path=\/; Max-Age=0;/]);
  });
}
