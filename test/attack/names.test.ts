import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { Downloads } from '#troupe/agent-js/files/downloads.js';
import { filesModule } from '#troupe/agent-js/files/files.js';
import { flowModule } from '#troupe/agent-js/flows/flow.js';
import { openArchive } from '#troupe/report/archive.js';
import { openFile, storeUpload } from '#troupe/supervisor/artifacts/session-files.js';
import { flowFileCheck } from '#troupe/supervisor/jobs/request-check.js';
import { readZip } from '../report/read-zip.js';
import { openSandbox } from '../script/open-sandbox.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** Lead out of a folder, into what programs keep for themselves, or are no names. */
const NO_PATHS: { readonly [path: string]: RegExp } = {
  '': /a path is a text/,
  '.': /the flows folder itself/,
  './': /the flows folder itself/,
  '..': /leads out/,
  '../x.js': /leads out/,
  'sub/../../x.js': /leads out/,
  'sub/../x.js': /leads out/,
  './../x.js': /leads out/,
  '/tmp/x.js': /not relative/,
  '//x.js': /not relative/,
  'C:x.js': /not relative/,
  'c:/x.js': /not relative/,
  'a\\b.js': /separated by \//,
  '..\\x.js': /separated by \//,
  'a\0b.js': /control character/,
  'a\nb.js': /control character/,
  'a\u007fb.js': /control character/,
  'a\ud800.js': /half a character/,
  '.env': /begins with a dot/,
  '.git/hooks/pre-commit': /begins with a dot/,
  'a/.b': /begins with a dot/,
  'a/.b/c.js': /begins with a dot/,
  './.hidden.js': /begins with a dot/,
  '...': /begins with a dot/,
  '.../x.js': /begins with a dot/,
  'a//.b': /begins with a dot/,
  [`${'y'.repeat(250)}.js`]: /longer than 200 bytes/,
  [`${'ü'.repeat(120)}.js`]: /longer than 200 bytes/,
  ['z/'.repeat(300)]: /longer than 500 characters/,
};

/** Can be read where they are there, and are not made. */
const NO_NEW_NAMES = [
  'a.',
  'a ',
  'sub./x.js',
  'sub /x.js',
  'x.js.',
  'x.js ',
  'con',
  'CON.js',
  'prn.md',
  'aux.js',
  'nul',
  'com1.js',
  'lpt9.txt',
  'sub/nul.js',
  'ab:c.js',
  'a|b.js',
  'a?.js',
  'a*.js',
  'a<b.js',
  'a>b.js',
  'a"b.js',
];

const NAMES = [
  'a.js',
  'sub/deep/a.js',
  './b.js',
  'c//d.js',
  'ünïcödé 日本.js',
  'with space.js',
  'a..b.js',
  'console.js',
  'com10.js',
  "it's.js",
];

async function scripts(t: Test) {
  const root = t.testdir({ 'x.js': '"outside"', flows: {} });
  const flowsDir = join(root, 'flows');
  const sandbox = await openSandbox(t, { modules: [filesModule({ flowsDir }), flowModule({ flowsDir })] });
  return { ...sandbox, root, flowsDir };
}

t.test('File.write, File.read and Flow.run refuse what is no path below flows/, and say why', async (t) => {
  const { fails, root, flowsDir } = await scripts(t);
  for (const [path, why] of Object.entries(NO_PATHS)) {
    const text = JSON.stringify(path);
    for (const call of [`File.write(${text}, "x")`, `File.read(${text})`]) {
      t.match(await fails(call), { code: 'SCRIPT_ERROR', message: why }, call.slice(0, 60));
    }
    t.match(await fails(`Flow.run(${text})`), { code: /SCRIPT_ERROR|FLOW_NOT_FOUND/ }, `Flow.run ${text.slice(0, 40)}`);
  }
  for (const path of ['5', 'null', 'undefined', '{}', '["a.js"]', '{ toString: () => "../x.js" }']) {
    t.match(await fails(`File.write(${path}, "x")`), { code: 'SCRIPT_ERROR', message: /a path is a text/ }, path);
  }
  t.same(readdirSync(root).sort(), ['flows', 'x.js']);
  t.same(readdirSync(flowsDir), []);
});

t.test('File.write makes no name that only some systems can have; what is there is read all the same', async (t) => {
  const { run, fails, flowsDir } = await scripts(t);
  for (const path of NO_NEW_NAMES) {
    const text = JSON.stringify(path);
    t.match(
      await fails(`File.write(${text}, "x")`),
      { code: 'SCRIPT_ERROR', message: /no name on every system/ },
      path,
    );
    mkdirSync(dirname(join(flowsDir, path)), { recursive: true });
    writeFileSync(join(flowsDir, path), path);
    t.equal(await run(`File.read(${text})`), path, path);
  }
  for (const path of NAMES) {
    const text = JSON.stringify(path);
    t.equal(await run(`File.write(${text}, "here"); File.read(${text})`), 'here', path);
  }
  mkdirSync(join(flowsDir, '.git'));
  writeFileSync(join(flowsDir, '.git', 'config'), 'x');
  writeFileSync(join(flowsDir, '.env'), 'x');
  for (const glob of ['**', '.env', '.git/*', '**/.*', '{.env,.git/config}']) {
    const listed = Object(await run(`File.list(${JSON.stringify(glob)})`));
    t.notOk(String(listed).includes('.env') || String(listed).includes('.git'), `list ${glob}`);
  }
});

t.test('A submit refuses a flow that is no file below flows/', async (t) => {
  const { root, flowsDir } = await scripts(t);
  writeFileSync(join(flowsDir, 'good.js'), '1');
  mkdirSync(join(flowsDir, '.git'));
  writeFileSync(join(flowsDir, '.git', 'x.js'), '1');
  const check = flowFileCheck(flowsDir);
  await check('good.js');
  for (const path of [
    ...Object.keys(NO_PATHS),
    '.git/x.js',
    'good',
    'good.js/x.js',
    'good.js/',
    'x.sh',
    `${root}/x.js`,
  ]) {
    await t.rejects(check(path), { code: /INVALID_REQUEST|FLOW_NOT_FOUND/ }, path.slice(0, 40));
  }
});

t.test(
  'An upload has any name of at most 255 bytes that is one path segment, and is found under no other',
  async (t) => {
    const dir = t.testdir({ outside: 'x', uploads: {}, downloads: {} });
    const uploadsDir = join(dir, 'uploads');
    const dirs = { uploadsDir, downloadsDir: join(dir, 'downloads') };
    const long = `${'ü'.repeat(125)}.text`;
    const names = [
      long,
      'with space.txt',
      '.hidden',
      '..evil',
      '100%.txt',
      'a"; filename=b',
      '<b>',
      'a:b',
      '日本',
      '-rf',
      '~',
    ];
    for (const name of names) {
      t.match(await storeUpload(uploadsDir, name, Readable.from(['hello'])), { name, bytes: 5, source: 'upload' });
      t.equal(readFileSync(join(uploadsDir, name), 'utf8'), 'hello');
      t.equal(String(await buffer((await openFile(dirs, name)).stream)), 'hello');
    }
    for (const name of [
      `${long}s`,
      'a'.repeat(256),
      '',
      '.',
      '..',
      '../outside',
      '../downloads/a',
      '/outside',
      'a/b',
      'a/',
      'a\\b',
      '..\\outside',
      'a\0b',
      'a\nb',
      'a\rb',
      'a\tb',
      'a\x1bb',
      'a\x7fb',
      'a\u0085b',
      '\0',
      '//',
      './a',
    ]) {
      const title = JSON.stringify(name.slice(0, 40));
      await t.rejects(storeUpload(uploadsDir, name, Readable.from(['x'])), { code: 'INVALID_REQUEST' }, title);
      await t.rejects(openFile(dirs, name), { code: 'NOT_FOUND' }, title);
    }
    t.equal(readdirSync(uploadsDir).length, names.length, 'no part is left');
    t.same(readdirSync(dir).sort(), ['downloads', 'outside', 'uploads']);
  },
);

t.test('A download stays in its folder, whatever name its site wants for it', async (t) => {
  const root = t.testdir({ downloads: {} });
  const dir = join(root, 'downloads');
  const downloads = new Downloads(dir, {
    emit: () => undefined,
    cancel: () => undefined,
    redact: (text) => text.replaceAll('hunter2', '{{it}}'),
  });
  const wanted: { readonly [suggested: string]: string } = {
    'a.txt': 'a.txt',
    '../../evil.txt': 'evil.txt',
    '/etc/passwd': 'passwd',
    '..\\..\\evil.exe': 'evil.exe',
    'C:\\evil.bat': 'evil.bat',
    'a/b/c.pdf': 'c.pdf',
    'a\\b/c.doc': 'c.doc',
    '': 'download',
    '.': 'download (1)',
    '..': 'download (2)',
    '/': 'download (3)',
    '../': 'download (4)',
    '../..': 'download (5)',
    '\\': 'download (6)',
    '\0': 'download (7)',
    'nul\0l.txt': 'null.txt',
    'line\nfeed.txt': 'linefeed.txt',
    'esc\x1b[2J.txt': 'esc[2J.txt',
    '.bashrc': '.bashrc',
    '-rf': '-rf',
    'a"b.txt': 'a"b.txt',
    'hunter2.txt': '{{it}}.txt',
    'my hunter2/hunter2 hunter2.txt': '{{it}} {{it}}.txt',
  };
  const named: string[] = [];
  for (const [index, suggestedFilename] of Object.keys(wanted).entries()) {
    const guid = `guid-${index}`;
    writeFileSync(join(dir, guid), 'content');
    const frame = { guid, url: 'https://site.test/?hunter2', suggestedFilename, frameId: 'f' };
    const session = undefined;
    downloads.observe({ method: 'Browser.downloadWillBegin', params: frame, session });
    const progress = { guid, state: 'completed', totalBytes: 7, receivedBytes: 7 } as const;
    downloads.observe({ method: 'Browser.downloadProgress', params: progress, session });
    const list = await downloads.list({ deadline: performance.now() + 60_000, signal: new AbortController().signal });
    t.equal(list.at(-1)?.url, 'https://site.test/?{{it}}');
    named.push(list.at(-1)?.name ?? '');
  }
  t.same(named, Object.values(wanted));
  t.same(readdirSync(dir).sort(), [...named].sort());
  t.same(readdirSync(root), ['downloads']);
});

t.test('No name in a zip leads out of the folder that it is unpacked into', async (t) => {
  const dir = t.testdir({ downloads: {}, 'healed-flows': {} });
  const odd = [
    '..\\evil',
    '..\\..\\evil.exe',
    'C:\\evil',
    'C:evil',
    '\\\\server\\share',
    'a. .',
    'a\\..\\..\\b',
    'a:b',
    'a|b',
    'a?b',
    'a*b',
    'a<b',
    'a>b',
    'a"b',
    'a\nb',
    'a\rb',
    'a\x1bb',
    'a\x7fb',
    '~',
    '-rf',
    '%2e%2e%2f',
    '\u202egnp.exe',
    '日本.txt',
  ];
  for (const name of odd) writeFileSync(join(dir, 'healed-flows', name), name);
  for (const name of odd) writeFileSync(join(dir, 'downloads', name), name);
  const zip = await readZip(await buffer(openArchive([{ dir, folder: 'a job' }])));
  const shown = odd.filter((name) => !name.startsWith('.')).length;
  t.equal(zip.size, 2 * shown, 'none is left out because another has its name');
  for (const name of zip.keys()) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
    t.notMatch(name, /(^|[/\\])\.+([/\\]|$)|^[/\\]|[\\:|?*<>"\u0000-\u001f\u007f]/, JSON.stringify(name));
    t.match(name, /^a job\/(downloads|healed-flows)\/[^/]+$/);
  }
  t.ok(existsSync(dir));
});
