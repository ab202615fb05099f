import { devices } from 'playwright-core';
import t from 'tap';
import { openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

t.test(
  'a session is a device: its size, scale, touch, and user agent are those of Playwright, in new tabs too',
  async (t) => {
    const service = await startTestService(t, { maxSessions: 3, warmSessions: 1 });
    const site = await openSite(t);
    const page = site.set('/', '<meta name=viewport content="width=device-width"><a href="/" target=_blank>More</a>');
    const { id } = await service.live({
      device: 'iPhone 15',
      colorScheme: 'dark',
      forward: [new URL(page).port].map(Number),
    });
    const wanted = devices['iPhone 15'];
    const seen = `agent.page(\`({
    width: innerWidth, height: innerHeight, scale: devicePixelRatio, touch: navigator.maxTouchPoints > 0,
    coarse: matchMedia('(pointer: coarse)').matches, dark: matchMedia('(prefers-color-scheme: dark)').matches,
    agent: navigator.userAgent })\`)`;
    const expected = {
      ...wanted.viewport,
      scale: wanted.deviceScaleFactor,
      touch: true,
      coarse: true,
      dark: true,
      agent: wanted.userAgent,
    };
    t.same((await service.run(id, `agent.go('${page}'); ${seen}`)).body, expected);
    t.same((await service.run(id, `agent.act('{a}More', 'click'); agent.wait('{a}More'); ${seen}`)).body, expected);
    const own = await service.live({ device: 'iPhone 15', viewport: { width: 400, height: 500 }, userAgent: 'mine' });
    t.match(
      (await service.run(own.id, `agent.go('about:blank'); ${seen}`)).body,
      { agent: 'mine', scale: 3 },
      'an option wins over the device',
    );
  },
);

t.test('a page has the permissions and the place that its session was given, and no others', async (t) => {
  const service = await startTestService(t, { maxSessions: 2 });
  const site = await openSite(t);
  const page = site.set('/', '<title>Here</title>');
  const forward = [Number(new URL(page).port)];
  const place = `agent.page(\`new Promise((done) => navigator.geolocation.getCurrentPosition(
    ({ coords }) => done([coords.latitude, coords.longitude, coords.accuracy]), ({ message }) => done(message)))\`)`;
  const granted = (name: string) =>
    `agent.page("navigator.permissions.query({ name: '${name}' }).then(({ state }) => state)")`;
  const geolocation = { latitude: 48.2, longitude: 16.37, accuracy: 20 };
  const { id } = await service.live({ permissions: ['geolocation', 'notifications'], geolocation, forward });
  t.same((await service.run(id, `agent.go('${page}'); ${place}`)).body, [48.2, 16.37, 20]);
  t.equal((await service.run(id, granted('notifications'))).body, 'granted');
  t.not((await service.run(id, granted('camera'))).body, 'granted');
});

t.test('an unknown device, permission or place is refused before a browser starts', async (t) => {
  const service = await startTestService(t, { maxSessions: 1 });
  const refused = (request: object) => service.call('POST', '/api/sessions', request);
  t.match(await refused({ device: 'iPhone 1500' }), {
    status: 400,
    body: { code: 'INVALID_REQUEST', error: /There is no device 'iPhone 1500'; similar: iPhone/ },
  });
  for (const request of [
    { permissions: ['flying'] },
    { geolocation: { latitude: 91, longitude: 0 } },
    { colorScheme: 'pink' },
  ])
    t.match(await refused(request), { status: 400, body: { code: 'INVALID_REQUEST' } });
});

t.end();
