import t from 'tap';
import { LiveRequest } from '#troupe/protocol/session.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const accepts = (request: object) => LiveRequest.safeParse(request).success;

t.test(
  'a proxy is a scheme, a host and a port, and nothing that would reach the command line of a browser',
  async (t) => {
    for (const server of [
      '10.0.0.1:3128',
      'http://proxy.local:3128',
      'socks5://[::1]:1080',
      'https://proxy',
      'proxy',
    ]) {
      t.ok(accepts({ proxy: { server } }), server);
    }
    for (const server of [
      '',
      'ftp://a:1',
      'http://ada:secret@proxy:1',
      'a:0',
      'a:65536',
      'a b',
      'a:1/path',
      'a;b',
      'direct://',
      'http=a;https=b',
      'a,b',
    ]) {
      t.notOk(accepts({ proxy: { server } }), server);
    }
  },
);

t.test('a locale and a time zone must be ones that there are', async (t) => {
  for (const locale of ['de', 'de-DE', 'zh-Hant-TW']) t.ok(accepts({ locale }), locale);
  for (const locale of ['deutsch!', 'de_DE', '--lang=x', 'x y']) t.notOk(accepts({ locale }), locale);
  t.ok(accepts({ timezone: 'Europe/Berlin' }));
  t.notOk(accepts({ timezone: 'Mars/Olympus' }));
});
