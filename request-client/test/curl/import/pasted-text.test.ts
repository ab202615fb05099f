import fc from 'fast-check';
import t from 'tap';
import { importAnswer } from '#request-client/curl/import/import-answer.js';
import { importCurl } from '#request-client/curl/import/import-curl.js';
import { importAny } from '#request-client/formats/imports/import-any.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { SEED } from '../../../../test/support/seed.js';
import { generatedCommand } from './generated-commands.js';
import { doubledQuoteForms, surrounded, typographicForm } from './pasted-forms.js';

guardLeaks(t);

/** Requests in short: the method, the address, the headers without the form's own type, and the body. */
function inShort(text: string): string[] {
  const { requests, errors } = importAnswer(importCurl(text));
  return [
    ...requests.map(({ method, url, headers, body }) =>
      [
        method,
        url,
        ...headers
          .filter(({ value }) => value !== 'application/x-www-form-urlencoded')
          .map(({ name, value }) => `${name}: ${value}`),
        ...(body === null ? [] : [typeof body === 'string' ? body : JSON.stringify(body)]),
      ].join(' | '),
    ),
    ...errors.map(({ message }) => `error: ${message}`),
  ];
}

const warned = (text: string): string[] =>
  importCurl(text).warnings.flatMap(({ level, about }) => (level === 'warning' ? [about] : []));

type Row = readonly [text: string, requests: readonly string[], warnings: readonly string[]];

function table(name: string, rows: readonly Row[]): void {
  t.test(name, async (t) => {
    for (const [text, requests, warnings] of rows) {
      t.strictSame(inShort(text), requests, text);
      t.strictSame(warned(text), warnings, text);
    }
  });
}

table('a quote that is written twice inside of quotes is one quote, with a warning', [
  [
    'curl "http://h/" -H "content-type: application/json" --data "{""a"":{""b"":""c d""}}"',
    ['POST | http://h/ | content-type: application/json | {"a":{"b":"c d"}}'],
    ['""'],
  ],
  ['curl "http://h/" -H "If-None-Match: ""abc"""', ['GET | http://h/ | If-None-Match: "abc"'], ['""']],
  ['curl "http://h/" -d "[""1"",2]" -d "x"', ['POST | http://h/ | ["1",2]&x'], ['""']],
  ['curl "http://h/" -d "{""a"":""\\""b\\""""}"', ['POST | http://h/ | {"a":""b""}'], ['""']],
  // A percent sign leaves the quotes: 100%
  ['curl "http://h/" -d "{""a"":""100"%""" }"', ['POST | http://h/ | {"a":"100%" }'], ['""']],
  // PowerShell has single quotes as well.
  ['curl -H \'A: b\' -d "{""a"":1}" http://h/', ['POST | http://h/ | A: b | {"a":1}'], ['""']],
  ['PS C:\\> curl.exe -d \'{""a"": ""b c""}\' `\n>> http://h/', ['POST | http://h/ | {"a": "b c"}'], ['""']],
  // A caret, a prompt or a program's name leaves no doubt.
  ['curl "http://h/" ^\n -d "{""a"":1}"', ['POST | http://h/ | {"a":1}'], []],
  ['C:\\>curl "http://h/" -d "{""a"":1}"', ['POST | http://h/ | {"a":1}'], []],
  ['curl.exe "http://h/" -d "{""a"":1}"', ['POST | http://h/ | {"a":1}'], []],
  // Each command is read as its own shell does.
  [
    'curl \'http://a/\' -d \'{"a":""}\'\ncurl "http://b/" -d "{""b"":2}"\ncurl \'http://c/\'',
    ['POST | http://a/ | {"a":""}', 'POST | http://b/ | {"b":2}', 'GET | http://c/'],
    ['""'],
  ],
]);

table('quotes that a POSIX shell joins stay joined', [
  ['curl http://h/ --data ""', ['POST | http://h/ | '], []],
  ['curl http://h/ -d "" -d a ""', ['POST | http://h/ | &a'], ["''"]],
  ['curl http://h/ -H "Authorization: Bearer ""$TOKEN"', ['GET | http://h/ | Authorization: Bearer {{TOKEN}}'], []],
  ['curl http://h/ -d "{\\"a\\":\\"""$A""\\"}"', ['POST | http://h/ | {"a":"{{A}}"}'], []],
  ['curl http://h/ -d "{\\"a\\":\\"\\"}"', ['POST | http://h/ | {"a":""}'], []],
  ['curl http://h/ -d \'{"a":""}\'', ['POST | http://h/ | {"a":""}'], []],
  ['curl http://h/ -d @- <<EOF\n{"a":"","b":"x""y"}\nEOF', ['POST | http://h/ | {"a":"","b":"x""y"}'], []],
  // The shell is certain, and its reading loses quotes.
  ['curl http://h/ \\\n  -d "{""a"":1}"', ['POST | http://h/ | {a:1}'], ['""']],
  ['```bash\ncurl "http://h/" -H "A: b""c"\n```', ['GET | http://h/ | A: bc'], ['""']],
]);

t.test('what Firefox copied for cmd before it used carets gives the request of the browser', async (t) => {
  const rows = doubledQuoteForms();
  t.ok(rows.length > 5);
  for (const { name, text, method, target, headers, body } of rows) {
    const [request] = importCurl(text).requests;
    const given = request?.headers.map((header) => [header.name, header.value]) ?? [];
    t.equal(request?.method, method, name);
    t.equal(request?.url, `http://capture.invalid${target}`, name);
    t.strictSame(given.sort(), [...headers].sort(), name);
    t.strictSame(request?.body, body === null ? { kind: 'none' } : { kind: 'text', text: body }, name);
  }
});

table('the commands of Markdown are read, each as its code block says', [
  ['```bash\ncurl http://h/ \\\n  -d a\n```', ['POST | http://h/ | a'], []],
  ['~~~\ncurl http://h/ -d a\n~~~', ['POST | http://h/ | a'], []],
  [
    "Don't worry:\n\n```sh session\n$ curl http://a/\n```\n\nOr on Windows:\n\n```powershell\ncurl.exe http://b/ `\n  -d 'x y'\n```\n\nIt answers:\n\n```json\n{ \"curl\": 1 }\n```\n",
    ['GET | http://a/', 'POST | http://b/ | x y'],
    [],
  ],
  ['```cmd\ncurl "http://h/" -d "{""a"":1}"\n```', ['POST | http://h/ | {"a":1}'], []],
  [
    '- a list:\n  ```bash\n  curl http://h/ -d \'{\n    "a": 1\n  }\'\n  ```',
    ['POST | http://h/ | {\n  "a": 1\n}'],
    [],
  ],
  ["> ```bash\n> curl http://h/ -d 'a\n> b'\n> ```\n\nprose", ['POST | http://h/ | a\nb'], []],
  ["> curl http://h/ \\\n>   -d 'a\n> b'", ['POST | http://h/ | a\nb'], []],
  ["````\ncurl http://h/ -d '```\n'\n````", ['POST | http://h/ | ```\n'], []],
  ['```curl http://h/ \\\n  -d x```', ['POST | http://h/ | x'], []],
  ['```bash\ncurl http://h/ -d x', ['POST | http://h/ | x'], []],
  ['curl http://a/ -d x\n\n```bash\ncurl http://b/\n```', ['POST | http://a/ | x', 'GET | http://b/'], []],
  ['```bash\nexport TOKEN=t\n```\n```bash\ncurl http://h/ -H "A: $TOKEN"\n```', ['GET | http://h/ | A: {{TOKEN}}'], []],
  // A block that says another shell than its commands.
  ['```cmd\ncurl http://h/ -d \'{"a":1}\'\n```', ['POST | http://h/ | {"a":1}'], ['cmd']],
  ['```bash\ncurl "http://h/" ^\n -d x\n```', ['POST | http://h/ | x'], ['bash']],
  // Inline code.
  ['`curl http://h/ -d x`', ['POST | http://h/ | x'], []],
  ['Run `curl http://a/`, then ``curl http://b/ -d x``.', ['GET | http://a/', 'POST | http://b/ | x'], []],
  // A fence in a body, and backticks that run a command, are the shell's own.
  ["curl http://h/ -d '# A\n```js\nb\n```\n'", ['POST | http://h/ | # A\n```js\nb\n```\n'], []],
  ['curl http://h/ -d @- <<EOF\n```js\nb\n```\nEOF', ['POST | http://h/ | ```jsb```'], []],
  ['T=`date`\ncurl http://h/ \\\n  -d x', ['POST | http://h/ | x'], []],
]);

t.test('the names of variables and the places of errors are those of the whole text', async (t) => {
  const { variables, errors, failed } = importCurl(
    'a\n```bash\nexport T=t\n```\n> ```sh\n> curl http://h/ -H "A: $T"\n>   curl -d “x”\n> ```\n',
  );
  t.strictSame(variables, [{ name: 'T', value: 't' }]);
  t.match(errors, [{ message: 'The command has no URL', line: 7, column: 5 }]);
  t.equal(failed, 'curl -d "x"');
});

table('a prompt that was copied with a command is left out', [
  ...[
    '$ ',
    '% ',
    '> ',
    '# ',
    'user@host:~$ ',
    'root@host:/etc# ',
    '[me@box ~]$ ',
    '(venv) me@box:~$ ',
    'me@mac ~ % ',
    'mac:~ me$ ',
    'bash-5.1$ ',
    '❯ ',
    '➤ ',
    '➜  shop git:(main) ✗ ',
    'C:\\Users\\me>',
    'C:\\Users\\me> ',
    'PS C:\\> ',
    'PS> ',
    'PS /home/me> ',
    '- ',
    '2. ',
  ].map((prompt): Row => [`${prompt}curl http://h/ -d x`, ['POST | http://h/ | x'], []]),
  ['$ curl http://h/ \\\n> -d \'{\n>   "a": 1\n> }\'', ['POST | http://h/ | {\n  "a": 1\n}'], []],
  ["me@mac ~ % curl http://h/ -d 'a\nquote> b'", ['POST | http://h/ | a\nb'], []],
  ["PS C:\\> curl.exe http://h/ `\n>> -d 'x'", ['POST | http://h/ | x'], []],
  ['C:\\>curl "http://h/" ^\nMore? -d x', ['POST | http://h/ | x'], []],
  ['me@box:~$ export T=t\nme@box:~$ curl http://h/ -d $T', ['POST | http://h/ | {{T}}'], []],
  ["$ cat <<'EOF' | curl http://h/ -d @-\n> a\n> EOF", ['POST | http://h/ | a'], []],
  // The prompt of the first line was not copied: only the body is in doubt.
  ['curl http://h/ \\\n> -d x', ['POST | http://h/ | x'], []],
  ["curl http://h/ -d 'a\n> b'", ['POST | http://h/ | a\nb'], ['>']],
  // What looks like a prompt and is none.
  ['curl http://h/ \\\n  > out.json', ['GET | http://h/'], []],
  ['# curl http://old/\ncurl http://h/', ['GET | http://h/'], []],
  ["curl http://h/ -d '\n$ curl x\n- curl y'", ['POST | http://h/ | \n$ curl x\n- curl y'], []],
]);

t.test('a prompt in brackets is no JSON', async (t) => {
  t.match(importAny('[me@box ~]$ curl http://h/'), { format: 'curl', errors: [] });
});

table('a word that can be no address is refused by name, and the rest of the command is imported', [
  ...[
    '\\\\',
    '-',
    '|'.replace('|', '\\|'),
    "\\'",
    '...',
    '[options]',
    '“https',
    "'–X'",
    '/relative',
    'h:port/x',
    "'a b'",
  ].map((word): Row => {
    const shown = word.replace(/^\\(?=.)|^'|'$/g, '');
    return [
      `curl ${word} http://h/ -d x`,
      ['POST | http://h/ | x'],
      warned(`curl ${word} http://h/ -d x`).filter((about) => about.includes(shown) || about === '“'),
    ];
  }),
  ['curl -X POST ...', ['error: ... is not an address: a host name needs a letter or a digit'], []],
  ['curl http://a/ /b http://c/', ['GET | http://a/', 'GET | http://c/'], ['/b']],
  ['curl <url> -d x', ['error: <url> is not an address: no host name contains <'], ['<url>']],
  ['curl -X <method> http://h/', ['<method> | http://h/'], ['<method>']],
  ['curl <http://h/a> -d x', ['POST | http://h/a | x'], ['<http://h/a>']],
  // Lines that were joined into one.
  ['curl http://h/ \\ -X PUT \\ -d x', ['PUT | http://h/ | x'], ['-X', '-d']],
  // What curl asks.
  ...['localhost', 'example.com', 'host:8080/x', '[::1]:80', 'a_b', 'a|b', '端口.example'].map(
    (address): Row => [`curl '${address}'`, [`GET | http://${address}`], []],
  ),
  ['curl $HOST:$PORT/x', ['GET | {{HOST}}:{{PORT}}/x'], []],
  ["curl 'http://h/{a,b}'", ['GET | http://h/a', 'GET | http://h/b'], []],
  ['curl {{base}}/x', ['GET | http://{{base}}/x'], ['{{base}}/x']],
]);

table('typographic quotes, dashes and spaces are read as what they replaced, with a warning', [
  [
    'curl –X POST “http://h/” –H “Accept: a/b” —data ‘{“a”: “b c”}’',
    ['POST | http://h/ | Accept: a/b | {"a": "b c"}'],
    ['–', '“'],
  ],
  ['curl „http://h/“ -H »A: b« -H ‚C: d‘', ['GET | http://h/ | A: b | C: d'], ['„']],
  ['curl http://h/ –data x −H ‘A: b’ ––request PUT', ['PUT | http://h/ | A: b | x'], ['–', '‘']],
  ['curl http://h/ -d “{"a": "b" }”', ['POST | http://h/ | {"a": "b" }'], ['“']],
  ['curl http://h/ -d “say “hi” there”', ['POST | http://h/ | say "hi" there'], ['“']],
  ['curl http://h/ -d ‘it’s {“a”:1}’', ['POST | http://h/ | it’s {"a":1}'], ['‘']],
  ['curl "http://h/" \\\n -d “a=b" \\\n -d "c=d” \\\n -H "A: b"', ['POST | http://h/ | A: b | a=b&c=d'], ['“']],
  ["curl\u00a0'http://h/'\u00a0 -H 'A: b\u00a0c'", ['GET | http://h/ | A: b\u00a0c'], ['U+00A0']],
  ['\u200bcurl http://h\u200b/ \\\u00a0\n -d x', ['POST | http://h/ | x'], ['U+200B', 'U+00A0']],
  ['curl http://h/ –H “A: b” ^\n –d “x”', ['POST | http://h/ | A: b | x'], ['–', '“']],
  ['Invoke-RestMethod –Uri “http://h/” –Method Put', ['PUT | http://h/'], ['–', '“']],
  ['curl http://h/ -d “x', ['POST | http://h/ | “x'], ['“']],
]);

table('typographic characters inside of quotes are data', [
  [`curl http://h/ -d '{"name": "it’s – fine"}'`, ['POST | http://h/ | {"name": "it’s – fine"}'], []],
  [`curl http://h/ -d "“a” – b"`, ['POST | http://h/ | “a” – b'], []],
  [`curl http://h/ -d $'“a” \\' –x'`, ["POST | http://h/ | “a” ' –x"], []],
  ['curl http://h/ -d it’s -d –5', ['POST | http://h/ | it’s&–5'], []],
  ['curl http://h/ -d 👨‍👩‍👧', ['POST | http://h/ | 👨‍👩‍👧'], []],
  ['curl http://h/ --data-binary @- <<EOF\n“a” –b\nEOF', ['POST | http://h/ | “a” –b\n'], []],
  [`C:\\>curl "http://h/" -d "it’s – “fine”"`, ['POST | http://h/ | it’s – “fine”'], []],
]);

t.test('generated commands mean the same in all that may surround them', async (t) => {
  const commands = fc.sample(generatedCommand, { numRuns: 100, seed: SEED });
  for (const [name, forms] of Object.entries(surrounded(commands))) {
    const differing = forms.flatMap(({ command, pasted }) => {
      const [wanted, given] = [command, pasted].map((text) => JSON.stringify(importCurl(text).requests));
      return wanted === given ? [] : [{ pasted, wanted, given }];
    });
    t.strictSame(differing.slice(0, 3), [], name);
  }
});

t.test('generated commands mean the same with typographic quotes, dashes and spaces', async (t) => {
  for (const { command, pasted } of fc.sample(typographicForm, { numRuns: 200, seed: SEED })) {
    t.strictSame(importCurl(pasted).requests, importCurl(command).requests, pasted);
  }
});

t.test('a long text of signs and quotes alone is answered, not thrown', async (t) => {
  for (const piece of [
    '`',
    '~',
    '```\n',
    '“',
    '“a ',
    '> ',
    '> \\\n',
    "$ curl -d 'x\n",
    '–',
    'a""',
    '<<A\n',
    '[a',
    'curl <a> ',
  ]) {
    const { requests, errors } = importCurl(`curl ${piece.repeat(20_000)}`);
    t.ok(requests.length + errors.length > 0, piece);
    t.ok(importCurl(piece.repeat(20_000)).failed.length > 0, piece);
  }
});
