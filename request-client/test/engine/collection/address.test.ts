import t from 'tap';
import { addressOf, editedAddress, urlParts } from '#request-client/engine/collection/address.js';
import { Collection } from '#request-client/engine/collection/collection.js';
import { readForm, writeForm } from '#request-client/engine/forms/request-form.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);

/** As people write them; each is the same after it was stored. */
const ADDRESSES = [
  'http://a.example',
  'http://a.example/',
  'a.example:8080/x',
  'https://ada:p:w@a.example/x',
  'https://ada@a.example',
  'http://[::1]:8080/x?y=1',
  'http://127.0.0.1:{{port}}/x',
  '{{base}}/x/:id.json?a=1#top',
  '{{scheme}}://{{host}}:{{port}}/{{path}}?{{query}}',
  'https://{{user}}:{{pass}}@{{sub}}.a.example/{{a/b}}/{{c?d}}',
  'http://a.example?',
  'http://a.example/x?a&b=&c=1=2&&d',
  'http://a.example/x?q={{a&b}}&{{c=d}}=1',
  'http://a.example/x?q=%26%23',
  'http://a.example/a//b/',
  'http://a.example/x#',
  'http://a.example/x#a?b#c',
  '/no/host',
  '{{only}}',
  '',
];

t.test('an address that is stored in parts is the same', async (t) => {
  for (const raw of ADDRESSES) {
    const url = urlParts(raw);
    t.strictSame(addressOf(url), { text: raw, otherwise: null, unfilled: [] }, raw);
    t.equal(addressOf({ ...url, raw: '' }).text, raw === '/no/host' ? '' : raw, `${raw} without raw`);
  }
  t.match(urlParts('https://ada:p@a.example:{{port}}/x'), {
    protocol: 'https',
    auth: { user: 'ada', password: 'p' },
    host: ['a', 'example'],
    port: '{{port}}',
    path: ['x'],
  });
});

t.test('parts of earlier versions that could not be right leave the address to raw', async (t) => {
  const login = { raw: 'https://ada:p@a.example/x', protocol: 'https', host: ['ada'], path: ['p@a.example', 'x'] };
  t.equal(addressOf(login).text, login.raw);
  const port = {
    raw: 'http://a.example:{{port}}/x',
    protocol: 'http',
    host: ['a', 'example'],
    path: ['{{port}}', 'x'],
  };
  t.strictSame(addressOf(port), { text: port.raw, otherwise: null, unfilled: [] });
  t.equal(addressOf({ ...port, path: ['other'] }).text, 'http://a.example/other');
});

t.test('path variables that are switched off, and the names of older files', async (t) => {
  const variable = [
    { key: 'a', value: '1' },
    { id: 'b', value: '2' },
    { key: 'c', value: '3', disabled: true },
    { key: 'd', value: '4', enabled: false },
  ];
  t.equal(
    addressOf({ raw: 'h/:a/:b/:c/:d', host: ['h'], path: [':a', ':b', ':c', ':d'], variable }).text,
    'h/1/2/:c/:d',
  );
});

t.test('an editor shows the address that is sent', async (t) => {
  t.equal(
    editedAddress({ raw: 'http://a/old', host: ['a'], path: ['new', ':id'], variable: [{ key: 'id', value: '1' }] }),
    'a/new/:id',
  );
  t.equal(editedAddress({ raw: 'http://a/x#top', protocol: 'http', host: ['a'], path: ['x'] }), 'http://a/x#top');
  t.equal(editedAddress('http://a/:id'), 'http://a/:id');
});

const opened = (item: object, own: object = {}) =>
  Collection.parse(JSON.stringify({ info: { name: 'c' }, ...own, item: [item] }));
const form = (collection: Collection) => readForm(collection, ['item', 0], () => '');

t.test('a value with reserved characters is edited as it is, and sent as one value', async (t) => {
  const collection = opened({
    request: { url: { raw: 'http://a?c=#f', protocol: 'http', host: ['a'], query: [{ key: 'c', value: '#f' }] } },
  });
  const { url, params } = form(collection);
  t.equal(url, 'http://a?c=%23f');
  t.strictSame(params, [{ name: 'c', value: '#f', enabled: true }]);
  const edited = writeForm(collection, ['item', 0], {
    params: [{ name: 'c', value: '#f&g', enabled: true }],
    url: 'http://a?c=%23f%26g',
  });
  t.equal(addressOf(edited.at(['item', 0, 'request', 'url'])).text, 'http://a?c=%23f%26g');
});

t.test('an edit of the address replaces the parts, also a user name', async (t) => {
  const collection = opened({ request: { url: { raw: 'http://u:p@a/old', ...urlParts('http://u:p@a/older') } } });
  const edited = writeForm(collection, ['item', 0], { url: 'http://b/new' });
  t.strictSame(edited.at(['item', 0, 'request', 'url']), {
    raw: 'http://b/new',
    protocol: 'http',
    host: ['b'],
    path: ['new'],
  });
});

t.test('a setting that a folder gives is shown, and only what differs from it is written', async (t) => {
  const collection = opened(
    { request: { url: 'http://a' } },
    { protocolProfileBehavior: { followRedirects: false, protocolVersion: 'http1' } },
  );
  t.match(form(collection), { followRedirects: false, httpVersion: 'http1', verifyTls: true });
  const on = writeForm(collection, ['item', 0], { followRedirects: true, httpVersion: 'auto' });
  t.strictSame(on.at(['item', 0, 'protocolProfileBehavior']), { followRedirects: true, protocolVersion: 'auto' });
  t.match(form(on), { followRedirects: true, httpVersion: 'auto' });
  const back = writeForm(on, ['item', 0], { followRedirects: false, httpVersion: 'http1' });
  t.strictSame(back.at(['item', 0, 'protocolProfileBehavior']), {});
});
