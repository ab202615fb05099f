import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Secrets } from '#troupe/agent-js/secrets.js';
import { openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

const base64 = (value: string, before = 0, encoding: 'base64' | 'base64url' = 'base64') =>
  Buffer.concat([Buffer.alloc(before, 'x'), Buffer.from(value), Buffer.from('yy')]).toString(encoding);
const between = (value: string, gap: string) => [...value].join(gap);
const percent = (value: string) => Buffer.from(value).toString('hex').replace(/../g, '%$&');
const entities = (value: string) => [...value].map((one) => `&#${one.codePointAt(0)};`).join('');

/** How a page, a script or a server may write a value that it was given. */
const WAYS: { readonly [way: string]: (value: string) => string } = {
  'as it is': (value) => value,
  'in capitals': (value) => value.toUpperCase(),
  'in small letters': (value) => value.toLowerCase(),
  'in an address': encodeURIComponent,
  'in an address, with small digits': (value) => encodeURIComponent(value).replace(/%../g, (one) => one.toLowerCase()),
  'in an address, all of it': percent,
  'in an address twice': (value) => encodeURIComponent(encodeURIComponent(value)),
  'in an address three times': (value) => encodeURIComponent(encodeURIComponent(encodeURIComponent(value))),
  'in a form': (value) => new URLSearchParams({ v: value }).toString(),
  'in JSON': (value) => JSON.stringify(value),
  'in JSON twice': (value) => JSON.stringify(JSON.stringify(value)),
  'in JSON three times': (value) => JSON.stringify(JSON.stringify(JSON.stringify(value))),
  'in JSON of ASCII alone': (value) =>
    JSON.stringify(value).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'in a string of escapes': (value) =>
    [...value].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  'in markup': (value) =>
    value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;').replace(/'/g, '&#39;'),
  'in markup twice': (value) => value.replace(/&/g, '&amp;amp;').replace(/</g, '&amp;lt;').replace(/"/g, '&amp;quot;'),
  'in numeric entities': entities,
  'in base64': (value) => base64(value),
  'in base64 after one byte': (value) => base64(value, 1),
  'in base64 after two bytes': (value) => base64(value, 2),
  'in base64 after three bytes': (value) => base64(value, 3),
  'in base64 for addresses': (value) => base64(value, 1, 'base64url'),
  'in base64 without padding': (value) => Buffer.from(value).toString('base64').replace(/=+$/, ''),
  'in base64 with padding': (value) => Buffer.from(value).toString('base64'),
  'in base64 in an address': (value) => encodeURIComponent(base64(value)),
  'as a basic authorization': (value) => `Basic ${Buffer.from(`ada:${value}`).toString('base64')}`,
  'in hexadecimal digits': (value) => Buffer.from(value).toString('hex'),
  'in capital hexadecimal digits': (value) => Buffer.from(value).toString('hex').toUpperCase(),
  backwards: (value) => [...value].reverse().join(''),
  'as the name of a file': (value) => value.replace(/["*/:<>?\\|]/g, '_'),
  'with spaces between': (value) => between(value, ' '),
  'with no-break spaces between': (value) => between(value, '\u00a0'),
  'with line feeds between': (value) => between(value, '\n'),
  'with dashes between': (value) => between(value, '-'),
  'with long dashes between': (value) => between(value, '\u2013'),
  'with dots between': (value) => between(value, '.'),
  'with underscores between': (value) => between(value, '_'),
  'with spaced dashes between': (value) => between(value, ' - '),
  'with zero-width spaces between': (value) => between(value, '\u200b'),
  'with soft hyphens between': (value) => between(value, '\u00ad'),
  'with byte order marks between': (value) => between(value, '\ufeff'),
  'with joiners between': (value) => between(value, '\u2060'),
  'with one soft hyphen in it': (value) => `${value.slice(0, 4)}\u00ad${value.slice(4)}`,
  'with its spaces folded': (value) => value.replace(/\s+/g, ' ').trim(),
  'with its characters decomposed': (value) => value.normalize('NFD'),
};

const VALUES = [
  'Tr0ub4dor&3x',
  'c4n4ry "quoted" & <sp aced>/é',
  "o'br\\ien?=+/",
  '4929123456781234',
  'correct horse  battery',
];

t.test('A secret is found however it is written, wherever it stands', async (t) => {
  for (const value of VALUES) {
    const secrets = new Secrets({ other: 'something else', it: value });
    for (const [way, write] of Object.entries(WAYS)) {
      const text = `before ${write(value)} after`;
      const hidden = secrets.redact(text);
      t.match(hidden, /^before .*\{\{it\}\}.* after$/s, `${value} ${way}`);
      t.same(hidden.replace(/\{\{it\}\}/g, '').match(/[^\s"'\\{}:;]{9,}/g) ?? [], [], `${value} ${way}: ${hidden}`);
      const data = { list: [text, { [text]: 1 }] };
      t.same(secrets.redact(data), { list: [hidden, { [hidden]: 1 }] }, `${value} ${way}, in data`);
      const answered = await secrets.hideJson(async () => JSON.stringify(data));
      t.same(JSON.parse(answered), { list: [hidden, { [hidden]: 1 }] }, `${value} ${way}, in an answer`);
    }
  }
});

t.test('What is no secret stays as it is', async (t) => {
  const data = { text: 'Add to cart', list: [1, true, null, 'ab'] };
  t.equal(new Secrets({ it: 'Tr0ub4dor&3x' }).redact(data), data, 'without a copy');
  const short = new Secrets({ pin: '49x!', word: 'a-b-c' });
  for (const text of [
    '4 9x!',
    '49X!',
    '4-9-x-!',
    Buffer.from('49x!').toString('base64'),
    '!x94',
    'abc',
    'A-B-C',
    'a b c',
  ]) {
    t.equal(short.redact(text), text, 'a short value is looked for as it is');
  }
  for (const text of ['49x!', '49x%21', '49x&#33;', 'a-b-c']) t.match(short.redact(text), /^\{\{(pin|word)\}\}$/, text);
  const innocent = new Secrets({ it: 'secret-word 7' });
  for (const text of ['secret', 'the word 7', 'secretary word 7', 'secret word', '7', 'c2VjcmV0']) {
    t.equal(innocent.redact(text), text);
  }
  t.equal(new Secrets({ it: '123456' }).redact(1234567), '{{it}}7');
  t.equal(new Secrets({ it: '123456' }).redact(12345), 12345);
});

t.test('A long secret, many of them and a page that knows them are searched in bounded time', async (t) => {
  const long = 'x1'.repeat(5_000);
  t.equal(new Secrets({ it: long }).redact(`a ${long} b`), 'a {{it}} b');
  t.equal(new Secrets({ it: '\ud800half a pair' }).redact('\ufffdhalf a pair'), '{{it}}');
  const value = 'a - b + c . d _ e   f%g&h\\i';
  // Each some 10 ms; one that backtracks would take hours.
  const secrets = new Secrets({ it: value, other: 'aaaaaaaaaaaaaaaaaaaaaaab' });
  for (const piece of [
    'a',
    'a -',
    'a - b + c . d _ e   f%g&h\\',
    ' ',
    '\u200b',
    '%25',
    '&amp;',
    '\\',
    'a   ',
    'a+-._',
  ]) {
    secrets.redact(piece.repeat(200_000 / piece.length));
  }
});

const CANARY = 'Canary-7f3e & "Wing"/é';

t.test('A job leaves its secret in nothing that it leaves, whatever its page does with it', async (t) => {
  const site = await openSite(t);
  site.set('/file', (_, response) => {
    response
      .writeHead(200, {
        'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(CANARY)}.txt`,
      })
      .end('a file');
  });
  const posted: string[] = [];
  site.set('/post', async (request, response) => {
    for await (const chunk of request) posted.push(String(chunk));
    response.writeHead(200, { 'x-said': encodeURIComponent(CANARY) }).end('{}');
  });
  const page = site.set(
    '/',
    `<meta charset=utf-8><title>Form</title><form><input aria-label=Say></form><p></p><a href=/file>File</a><button type=button>Go</button>
     <script>
       const utf8 = (text) => String.fromCharCode(...new TextEncoder().encode(text));
       document.querySelector('button').onclick = async () => {
         const said = document.querySelector('input').value;
         const ways = [said, said.toUpperCase(), btoa(utf8(said)), btoa('x' + utf8(said)), btoa('xx' + utf8(said)),
           [...said].join('\\u200b'), [...said].join(' '), [...said].reverse().join(''), encodeURIComponent(encodeURIComponent(said)),
           [...utf8(said)].map((one) => one.charCodeAt(0).toString(16)).join('')];
         document.title = ways[2];
         document.querySelector('p').innerText = ways.join('\\n');
         history.replaceState(null, '', '?said=' + encodeURIComponent(said) + '#' + ways[4]);
         for (const way of ways) console.error(way);
         await fetch('/post?' + new URLSearchParams({ said }), { method: 'POST', body: said, headers: { 'x-said': encodeURIComponent(said) } });
         setTimeout(() => { throw new Error(ways[0] + ways[2]) });
       };
     </script>`,
  );
  const home = makeHome(t, { forward: [Number(new URL(site.origin).port)], actTimeout: 2 });
  writeFileSync(
    join(home, 'flows', 'say.js'),
    `() => {
      agent.go('${page}');
      agent.act('{input}Say', 'input', '{{canary}}');
      agent.act('{button}Go', 'click');
      agent.wait('idle');
      const text = agent.text('p');
      for (const line of text.split('\\n')) console.log(line);
      console.log(agent.page('document.title'), agent.page('location.href'), JSON.stringify(agent.look({ full: true })));
      agent.screenshot(text.split('\\n')[0]);
      agent.act('{a}File', 'click');
      const [file] = agent.downloads();
      console.log(file.name);
      File.write('said/' + text.split('\\n')[0].replace(/[^\\w{}]/g, '') + '.js', '// ' + text);
      agent.act(text.split('\\n')[1], 'click');
    }`,
  );
  const service = await startTestService(t, {}, home);
  const record = await service.job({ flowFiles: ['say.js'], secrets: { canary: CANARY } });
  t.match(record, { state: 'failed', error: { code: 'FLOW_FAILED' } });
  t.same(posted, [CANARY], 'the page had it');
  const at = `/api/sessions/${record.id}`;
  const seen = new Map<string, string | Buffer>();
  for (const [name, content] of await readZip(service.url + record.links.download)) {
    seen.set(`name in the zip ${name}`, name);
    seen.set(`zip ${name}`, content);
  }
  for (const path of [at, `${at}/events`, `${at}/files`, `${at}/report`, '/api/sessions', '/api/flows', '/metrics']) {
    seen.set(path, JSON.stringify((await service.call('GET', path)).body));
  }
  t.match(seen.get(`${at}/files`), /\{\{canary\}\}\.txt/, 'the file is listed by a name that says which secret it had');
  t.match(seen.get(`${at}/events`), /\{\{canary\}\}/);
  const file = /"name":"([^"]+)"/.exec(String(seen.get(`${at}/files`)))?.[1] ?? '';
  t.match(await service.call('GET', `${at}/files/${encodeURIComponent(file)}`), { status: 200, body: 'a file' });
  await service.stop(0);
  seen.set('log', [...service.logged, ...service.audited].map((line) => JSON.stringify(line)).join('\n'));
  for (const entry of readdirSync(home, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    seen.set(`name ${path}`, path);
    if (entry.isFile()) seen.set(`file ${path}`, readFileSync(path));
  }
  t.ok(
    [...seen.keys()].some((name) => name.endsWith('network.har')) &&
      [...seen.keys()].some((name) => name.endsWith('troupe.db')),
  );
  t.same(
    [...seen].flatMap(([name, content]) => leaksIn(name, content.toString())),
    [],
  );
});

/** What was found, with what stands around it. It knows nothing of how the service looks for it. */
function leaksIn(name: string, content: string): readonly string[] {
  const plain = content.toLowerCase().replace(/[\s\u200b]/g, '');
  const utf8 = Buffer.from(CANARY);
  const cores = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before, 'x'), utf8])
      .toString('base64')
      .slice(4, -4),
  );
  const needles = [
    'canary-7f3e',
    'e3f7-yranac',
    utf8.subarray(0, 8).toString('hex'),
    ...cores.map((one) => one.toLowerCase()),
  ];
  return needles.flatMap((needle) => {
    const at = plain.indexOf(needle);
    return at === -1 ? [] : [`${name}: ${plain.slice(Math.max(0, at - 60), at + needle.length + 20)}`];
  });
}
