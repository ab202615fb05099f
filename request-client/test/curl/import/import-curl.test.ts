import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import t from 'tap';
import { exportCurl } from '#request-client/curl/export/export-curl.js';
import { importCurl } from '#request-client/curl/import/import-curl.js';
import { optionOfLetter, optionOfName } from '#request-client/curl/import/options.js';
import { readRequest } from '#request-client/engine/collection/read-request.js';
import { writeItem } from '#request-client/engine/collection/write-request.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { skipWithout } from '../../../../test/support/programs.js';
import { SEED } from '../../../../test/support/seed.js';

guardLeaks(t);

fc.configureGlobal({ seed: SEED });

const bodyOf = (text: string): unknown => importCurl(text).requests[0]?.body;
const warned = (text: string): string[] => importCurl(text).warnings.map(({ about }) => about);

t.test('the option table has every option of the installed curl', { skip: skipWithout('curl') }, async (t) => {
  const help = execFileSync('curl', ['--help', 'all'], { encoding: 'utf8' });
  for (const [, letter, name = '', value] of help.matchAll(/^ {1,5}(?:-(.), )? *--([\w.-]+)( [<[][^ ]*)?/gm)) {
    const found = optionOfName(name);
    // The category after --help is optional.
    t.equal(found?.option.takesValue, name !== 'help' && value !== undefined, `--${name}`);
    if (letter !== undefined) t.equal(optionOfLetter(letter)?.name, name.replace(/^no-/, ''), `-${letter}`);
  }
});

t.test('shell variables outside single quotes become collection variables', async (t) => {
  const { requests, variables } = importCurl(
    `BASE=https://shop.example\ncurl "$BASE/x?k=\${KEY}" -H "Authorization: Bearer $TOKEN" -d 'not $this' -u "$ME:\${PW:-none}"`,
  );
  t.match(requests, [
    {
      url: '{{BASE}}/x?k={{KEY}}',
      headers: [{ name: 'Authorization', value: 'Bearer {{TOKEN}}' }, { name: 'Content-Type' }],
      body: { text: 'not $this' },
    },
  ]);
  t.strictSame(variables, [
    { name: 'BASE', value: 'https://shop.example' },
    { name: 'KEY', value: '' },
    { name: 'TOKEN', value: '' },
    { name: 'ME', value: '' },
    { name: 'PW', value: 'none' },
  ]);
  t.match(importCurl('curl ^"https://h/%USER%^" -H "X: %20%C3%A9"').requests, [{ url: 'https://h/{{USER}}' }]);
  t.match(importCurl('curl.exe "https://h/$env:USER" `\n -H \'X: $no\'').requests, [
    { url: 'https://h/{{USER}}', headers: [{ value: '$no' }] },
  ]);
});

t.test('an error has its line, its column and the marked position; the other commands are imported', async (t) => {
  const { requests, errors } = importCurl(`curl http://a/
wget http://b/
curl -X POST
  curl 'http://unclosed/
curl http://c/ -H`);
  t.strictSame(
    requests.map(({ url }) => url),
    ['http://a/'],
  );
  t.strictSame(
    errors.map(({ message, line, column }) => [message, line, column]),
    [
      ['wget is not a curl command', 2, 1],
      ['The command has no URL', 3, 1],
      ['A single quote is never closed', 4, 8],
      ['-H needs a value (header)', 5, 16],
    ],
  );
  t.equal(errors[2]?.excerpt, "  curl 'http://unclosed/\n       ^");
});

t.test('every omission has a warning that names it', async (t) => {
  t.strictSame(warned('curl http://h/ -x http://proxy:1 --cacert ca.pem --frobnicate -o out.json -b jar.txt'), [
    '-x http://proxy:1',
    '--cacert ca.pem',
    '--frobnicate',
    '-o out.json',
    '--cookie jar.txt',
  ]);
  t.strictSame(warned('curl --frob value http://h/'), ['--frob', 'value']);
  t.strictSame(warned('curl http://h/ -d "$(date)" -d @file'), ['$(date)', '--data @file']);
  t.match(importCurl("curl http://h/ -b 'a=b'").warnings, [{ level: 'note', about: '--cookie' }]);
});

t.test('the version of HTTP becomes a setting of the request, the last one given', async (t) => {
  const versions: readonly (readonly [options: string, version: string | undefined])[] = [
    ['', undefined],
    ['--http1.1', 'http1'],
    ['--http2', undefined],
    ['--http2-prior-knowledge', 'http2'],
    ['--http1.1 --http2', undefined],
    ['--http2 --http1.1 -k', 'http1'],
  ];
  for (const [options, version] of versions) {
    const { requests, warnings } = importCurl(`curl ${options} https://h/`);
    t.equal(requests[0]?.settings.httpVersion, version, options);
    t.equal(requests[0]?.settings.verifyTls, !options.endsWith(' -k'));
    t.same(warnings, [], options);
    const [first] = requests;
    if (first !== undefined)
      t.equal(readRequest(writeItem(first)).settings.httpVersion, version, 'kept in a collection');
  }
  const { requests, warnings } = importCurl('curl --http2-prior-knowledge http://h/');
  t.equal(requests[0]?.settings.httpVersion, undefined);
  t.match(warnings, [{ level: 'warning', message: /over https only/ }]);
});

t.test(
  'proxies and certificates are named with the place of their settings, and passwords are not repeated',
  async (t) => {
    const command =
      'curl https://h/ --proxy http://u:geheim@p:1 -U u:geheim --cert c.pem:geheim -E d.pem --key k.pem --pass geheim --cacert ca.pem';
    const { requests, warnings } = importCurl(command);
    t.same(
      warnings.map(({ message }) => / the settings of the request client; /.test(message)),
      warnings.map(() => true),
    );
    t.same(
      warnings.map(({ about }) => about.split(' ')[0]),
      ['--proxy', '-U', '--cert', '-E', '--key', '--pass', '--cacert'],
    );
    t.notMatch(JSON.stringify([requests, warnings.map(({ about, message }) => [about, message])]), /geheim|pem:/);
  },
);

t.test('an argument is never taken for the URL', async (t) => {
  for (const command of [
    'curl --proxy http://p:1 http://h/',
    'curl -o http://p/ http://h/',
    'curl $OPTS http://h/',
    'curl --resolve h:80:127.0.0.1 --connect-to a:b:c:d http://h/',
    'curl --unheard-of http h/'.replace('h/', 'http://h/'),
    'curl -H http://x: http://h/',
  ]) {
    t.strictSame(
      importCurl(command).requests.map(({ url }) => url),
      ['http://h/'],
      command,
    );
  }
  t.match(importCurl('curl $URL').requests, [{ url: '{{URL}}' }]);
});

t.test('commands that were never run in this form are understood', async (t) => {
  const lines = (text: string): string[] => importCurl(text).requests.map(({ method, url }) => `${method} ${url}`);
  t.strictSame(lines('$ curl http://h/ \\  \r\n  -X PUT \\\r\n  -d x\r\n'), ['PUT http://h/']);
  t.strictSame(lines('curl http://h/\n  -X PUT\n  -d x'), ['PUT http://h/']);
  t.strictSame(lines('curl http://h/?a=1&b=2 -X PUT'), ['PUT http://h/?a=1&b=2']);
  t.strictSame(
    lines('# first\ncurl http://a/ # why\n\n# second\nsudo curl http://b/ &\ncurl http://c/;curl http://d/'),
    ['GET http://a/', 'GET http://b/', 'GET http://c/', 'GET http://d/'],
  );
  t.strictSame(lines('me@box:~/x$ curl http://h/'), ['GET http://h/']);
  t.strictSame(lines('C:\\Users\\me>curl -X PUT "http://h/?a=1&b=2"'), ['PUT http://h/?a=1&b=2']);
  t.strictSame(lines('PS C:\\> curl.exe http://h/ `\n -X PUT'), ['PUT http://h/']);
  t.strictSame(lines('curl --request=PUT http://h/'), ['PUT http://h/']);
});

t.test('cmd text is read by the rules of cmd and then of the C runtime', async (t) => {
  const body = (text: string): unknown => importCurl(`curl http://h/ -d ${text}`, 'cmd').requests[0]?.body;
  t.match(body('"{\\"a\\":\\"b c\\"}"'), { text: '{"a":"b c"}' });
  t.match(body('"say ""hi"""'), { text: 'say "hi"' });
  t.match(body('a^&b^^c'), { text: 'a&b^c' });
  t.match(body('"a^b & c"'), { text: 'a^b & c' });
  t.match(body('"C:\\dir\\\\" -H x:y'), { text: 'C:\\dir\\' });
  t.match(body('^"one^\n\ntwo^"'), { text: 'one\ntwo' });
  t.match(body("'{a:1}'"), { text: "'{a:1}'" });
});

t.test("PowerShell's own commands become the same request", async (t) => {
  const { requests, warnings } = importCurl(`$headers = @{ "X-A" = "1"; Accept = 'text/html' }
$body = '{"a": 1}'
Invoke-RestMethod -Method Post -Uri "http://h/x?a[]=1" -Headers $headers -ContentType 'application/json' -Body $body -Proxy http://p`);
  t.match(requests, [
    {
      method: 'POST',
      url: 'http://h/x?a[]=1',
      headers: [
        { name: 'X-A', value: '1' },
        { name: 'Accept', value: 'text/html' },
        { name: 'Content-Type', value: 'application/json' },
      ],
      body: { text: '{{body}}' },
    },
  ]);
  t.match(warnings, [{ about: '-proxy http://p' }]);
});

t.test('bash escapes become the bytes that they represent', async (t) => {
  t.match(bodyOf("curl http://h/ -d $'\\ud83e\\uded6 \\x41\\102\\n'"), { text: '🫖 AB\n' });
  t.match(bodyOf("curl http://h/ -d $'\\xff\\x00cut'"), {
    kind: 'bytes',
    base64: Buffer.from([255]).toString('base64'),
  });
});

t.test('a megabyte is imported, and no text throws', async (t) => {
  const big = JSON.stringify({ text: 'Zoë said "hi"\n'.repeat(70_000) });
  t.equal(importCurl(`curl http://h/ -d '${big}'`).requests.length, 1);
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      'curl ',
      "'",
      '"',
      "$'",
      '\\',
      '^"',
      '^',
      '`',
      '${',
      '$(',
      '<<EOF\n',
      '-d ',
      '-F a=@',
      '-H ',
      'http://',
      '[',
      '{',
      '@{',
      '%',
      '\n',
      ' ',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const { requests, errors } = importCurl(pieces.join(''));
      return requests.length + errors.length > 0;
    }),
    { numRuns: 500 },
  );
});

t.test('the failed commands are returned, so that only they are corrected and imported again', (t) => {
  const rest = (text: string): string => importCurl(text).failed;
  t.equal(rest('curl http://h/1; curl http://h/2'), '');
  t.equal(rest("curl http://h/1; curl 'open"), "curl 'open");
  t.equal(rest('curl http://h/1 && wget http://h/2; curl -d x\ncurl http://h/3'), 'wget http://h/2\ncurl -d x');
  t.equal(rest('A=1\nhello there'), 'A=1\nhello there');
  t.equal(rest('curl http://h/1 ftp://h/2'), '', 'a command that made a request is not made twice');
  t.end();
});

t.test('what Chrome copied for cmd before it escaped the outer quotes is imported as meant', async (t) => {
  const text = [
    'curl "http://shop.example/orders?a=1^&b=^%^20x" ^',
    '  -H "sec-ch-ua: ^\\^"Chromium^\\^";v=^\\^"90^\\^"" ^',
    '  --data-raw "^{^\\^"a^\\^":^\\^"b c^\\^",^\\^"path^\\^":^\\^"C:^\\^\\^\\^\\x^\\^"^}" ^',
    '  --compressed',
  ].join('\r\n');
  const { requests, errors } = importCurl(text);
  t.strictSame(errors, []);
  t.match(requests, [
    {
      url: 'http://shop.example/orders?a=1&b=%20x',
      headers: [{ name: 'Accept-Encoding' }, { name: 'sec-ch-ua', value: '"Chromium";v="90"' }],
      body: { text: '{"a":"b c","path":"C:\\\\x"}' },
    },
  ]);
});

t.test('a caret in plain quotes of a cmd command that was typed is data', async (t) => {
  t.match(importCurl('curl.exe -X POST "http://h/" ^\r\n -d "a^b^{c"').requests, [{ body: { text: 'a^b^{c' } }]);
});

t.test('--url-query of a file is left out by name, not sent as text', async (t) => {
  const { requests, warnings } = importCurl(
    "curl 'http://h/p' --url-query 'q@terms.txt' --url-query '@all.txt' --url-query 'a=b@c'",
  );
  t.equal(requests[0]?.url, 'http://h/p?a=b%40c');
  t.match(
    warnings.map(({ message }) => message),
    [/--url-query q@terms.txt/, /--url-query @all.txt/],
  );
});

t.test('what follows the closing quote of a form value is left out, as curl does', async (t) => {
  const { requests, warnings } = importCurl(
    `curl http://h/ -F 'r="{"a":1}"' -F 's="x, y";type=text/plain' -F 't="a",b'`,
  );
  t.match(requests[0]?.body, {
    kind: 'form',
    parts: [
      { name: 'r', value: '{' },
      { name: 's', value: 'x, y', type: 'text/plain' },
      { name: 't', value: 'a' },
    ],
  });
  t.match(warnings, [{ about: '-F r', message: /follows the closing quote/ }, { about: '-F t' }]);
});

// All forms: pasted-text.test.ts.
t.test('what means something else where it is pasted than in its shell is read as meant, with a warning', async (t) => {
  const rows: readonly (readonly [text: string, body: string, warnings: readonly string[]])[] = [
    ['curl "http://h/" --data "{""a"":""b c""}"', '{"a":"b c"}', ['""']],
    ["```bash\n$ curl http://h/ \\\n> -d 'x'\n```", 'x', []],
    ['curl “http://h/” –d ‘{“a”: 1}’', '{"a": 1}', ['“', '–']],
    ["curl - http://h/ -d 'it’s – “x”'", 'it’s – “x”', ['-']],
  ];
  for (const [text, body, warnings] of rows) {
    t.match(importCurl(text).requests, [{ url: 'http://h/', body: { text: body } }], text);
    t.equal(importCurl(text).requests.length, 1);
    t.strictSame(warned(text), warnings);
  }
});

t.test('redirects do what they do in curl', async (t) => {
  const settings = (command: string) => importCurl(command).requests.map((request) => request.settings)[0];
  const kept = { followRedirects: true, keepMethod: true };
  t.match(settings('curl -L -X PUT -d a http://h'), kept);
  t.match(settings('curl -LT f http://h/'), kept);
  t.match(settings('curl --location-trusted http://h'), { followRedirects: true, keepAuthorization: true });
  for (const command of ['curl -L -d a http://h', 'curl -LX GET http://h', 'curl -X PUT http://h']) {
    t.not(settings(command)?.keepMethod, true, command);
  }
  const draft = importCurl('curl --location-trusted -d a http://h').requests[0];
  if (draft === undefined) throw new Error('it was not imported');
  const repeated = { ...draft, settings: { ...draft.settings, keepMethod: true } };
  const { command } = exportCurl(repeated, 'posix');
  for (const option of ['--location-trusted', '--post301', '--post302', '--post303']) t.match(command, option);
});
