import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { makeHome } from '../support/service.js';
import { startServiceProcess } from '../support/service-process.js';

guardLeaks(t);

interface Ended {
  readonly code: number;
  readonly out: string;
  /** Without the next. */
  readonly err: string;
  /** The line that says whose service it is. */
  readonly whose: string | undefined;
}

function command(env: NodeJS.ProcessEnv) {
  return (...words: string[]): Promise<Ended> =>
    new Promise((done) => {
      const all = { ...process.env, TROUPE_URL: '', TROUPE_SESSION: '', ...env };
      const child = execFile(process.execPath, ['dist/cli.js', ...words], { env: all }, (_, out, err) =>
        done({ code: child.exitCode ?? -1, out, err: err.replace(WHOSE, ''), whose: WHOSE.exec(err)?.[0] }),
      );
    });
}

const WHOSE = /^(?:Using|Started) the service of .* at .*\n/m;

const page = (html: string) => `data:text/html,${encodeURIComponent(html)}`;

t.test('An agent drives a browser from a shell', async (t) => {
  const home = makeHome(t, { maxSessions: 3 });
  const service = await startServiceProcess(t, home);
  const troupe = command({ TROUPE_HOME: home });

  t.match(await troupe('look'), {
    code: 2,
    out: '',
    err: /^NOT_FOUND: There is no session yet: begin with node dist\/cli\.js go URL/,
  });
  const shop = page(
    '<title>Shop</title><input aria-label=Search><button>Go</button><button>Buy</button><button>Buy</button>',
  );
  const first = await troupe('go', shop, '--look');
  t.match(first, { code: 0, err: /^session [a-z0-9]{12}\n$/ });
  t.match(first.out, /^Shop · data:.*\n\{input\}Search\n\{button\}Go\n\{button:1\}Buy\n\{button:2\}Buy\n$/);
  t.match(await troupe('act', '{input}Search', 'input', 'lamp', '--look'), {
    code: 0,
    out: /^[\s\S]*~ \{input\}Search = lamp\n= 3 unchanged\n$/,
  });
  t.match(await troupe('look', '--full'), { code: 0, out: /\n\{input\}Search = lamp\n/ });
  t.match(await troupe('text', '{button}Go'), {
    code: 0,
    out: 'Go\n',
    err: '',
    whose: `Using the service of ${home} at ${service.url}\n`,
  });
  const ambiguous = await troupe('act', '{button}Buy', 'click', '--timeout', '500');
  t.match(ambiguous, { code: 1, out: '', err: /^LOCATOR_AMBIGUOUS [\s\S]*\{button:2\}Buy[\s\S]*\npage: Shop · data:/ });

  await t.test('Flows are checked against a page for numbers that count otherwise than before', async (t) => {
    const rows = '<button style="display:block;height:30px">Edit</button>'.repeat(4);
    const banner = '<p style="position:fixed;top:0;left:0;width:200px;height:38px;margin:0;background:white">New</p>';
    const list = page(`<body style="margin:0;padding-top:8px">${rows}${banner}`);
    const folder = t.testdir({ flows: { 'edit.js': "() => agent.act('{button:3}Edit', 'click')" } });
    const checked = await troupe('flow', 'check', join(folder, 'flows/edit.js'), '--url', list);
    t.match(checked, {
      code: 1,
      out: /^edit\.js:1:17: .*\{button:3\}Edit matched the element that is \{button:4\}Edit now/,
    });
    t.match(await troupe('flow', 'check', join(folder, 'flows/edit.js'), '--url', shop), { code: 0 });
  });

  await t.test('Pictures are saved where the caller says', async (t) => {
    const file = join(t.testdir(), 'a b.png');
    t.match(await troupe('shot', file), { code: 0, out: `${file}\n` });
    t.same((await readFile(file)).subarray(1, 4).toString(), 'PNG');
    t.match(await troupe('shot', join(file, 'x.png')), { code: 2, err: /^INVALID_REQUEST: .* cannot be written/ });
  });

  await t.test('Values are text, or JSON where an action takes more', async (t) => {
    const choice = page('<select multiple aria-label=Colours><option>Red<option>Blue<option>Green</select>');
    await troupe('go', choice);
    t.match(await troupe('act', '{select}Colours', 'select', '["Red", "Blue"]', '--look'), {
      code: 0,
      out: /= Red, Blue/,
    });
  });

  await t.test('The session is the named one, that of TROUPE_SESSION, or the one that was made last', async (t) => {
    const other = (
      await troupe('session', 'create', '--name', 'other', '--viewport', '800x600', '--idle-timeout', '60')
    ).out.trim();
    t.match(other, /^[a-z0-9]{12}$/);
    const own = /[a-z0-9]{12}/.exec(first.err)?.[0] ?? '';
    t.match(await troupe('text'), { code: 0, out: '\n' }, 'the newest');
    t.match(await troupe('text', '--session', own), { out: /Red/ });
    t.match(await command({ TROUPE_HOME: home, TROUPE_SESSION: own })('text'), { out: /Red/ });
    t.match(await troupe('eval', '--session', 'last', 'agent.page("innerWidth")'), { code: 0, out: '800\n' });
    const elsewhere = command({ TROUPE_HOME: t.testdir(), TROUPE_URL: service.url });
    t.match(await elsewhere('text', '--session', own), { code: 0, out: /Red/ });
    t.match(await elsewhere('text'), { code: 2, err: /There is no session yet/ });
    const { out } = await troupe('session', 'list');
    t.match(out, new RegExp(`^\\* {2}${other}  running .*other$`, 'm'));
    t.match(out, new RegExp(`^ {3}${own}  running`, 'm'));

    t.match(await troupe('session', 'delete'), { code: 0, out: `${other}\n` });
    t.match(await troupe('text'), { code: 2, err: /There is no session yet/ });
    t.match(await troupe('text', '--session', other), { code: 2, err: /^SESSION_ENDED/ });
    t.match(await troupe('session', 'delete', own), { code: 0 });
    t.match(await troupe('session', 'list'), { code: 0, out: '', err: 'There are no sessions.\n' });
  });

  await t.test('Going somewhere replaces a session that has ended, unless it is named', async (t) => {
    const id = (await troupe('session', 'create')).out.trim();
    await fetch(`${service.url}/api/sessions/${id}`, { method: 'DELETE' });
    t.match(await troupe('go', 'about:blank', '--session', id), { code: 2, err: /^SESSION_ENDED/ });
    const again = await troupe('go', 'about:blank');
    t.match(again, { code: 0, err: /^session [a-z0-9]{12}/ });
    t.notMatch(again.err, id);
  });

  await t.test('A service that cannot be used is exit code 2, and a wrong call too', async (t) => {
    const none = command({ TROUPE_HOME: home, TROUPE_URL: 'http://127.0.0.1:1', TROUPE_SESSION: 'aaaaaaaaaaaa' });
    const calls: [Promise<Ended>, RegExp][] = [
      [troupe('act', '{button}Go'), /Missing argument: ACTION\nRun 'node dist\/cli\.js act --help'/],
      [troupe('go'), /Missing argument: URL/],
      [troupe('text', 'a', 'b'), /Unexpected argument 'b': put text with spaces in quotes/],
      [troupe('look', '--ful'), /Did you mean '--full'/],
      [troupe('session', 'crate'), /Unknown subcommand 'crate'. Use one of: create, list, delete/],
      [troupe('session', 'create', '--viewport', 'big'), /such as 1280x720/],
      [troupe('skill', 'flows', 'x'), /Unexpected argument 'x'\nRun/],
      [troupe('session', 'delete', 'a', 'b'), /Unexpected argument 'b'\nRun/],
      [troupe('skill', 'flow'), /Did you mean 'flows'/],
      [none('text'), /^UNAVAILABLE: No service answers at http:\/\/127.0.0.1:1/],
      [troupe('act', 'body', 'wheel', 'x', '--json'), /The value is not JSON: x/],
    ];
    for (const [call, err] of calls) t.match(await call, { code: 2, err });
    await service.end('SIGTERM');
  });
});

t.test('The skill of this version is printed, with its reference files', async (t) => {
  const troupe = command({});
  const [skill, flows] = await Promise.all([troupe('skill'), troupe('skill', 'flows')]);
  const asTyped = (text: string) => text.replace(/(?<![\w./-])troupe (?=[a-z])/g, 'node dist/cli.js ');
  t.equal(skill.out, asTyped(await readFile('skills/troupe/SKILL.md', 'utf8')));
  t.match(skill.out, '\nnode dist/cli.js go ', 'its commands can be typed as they are');
  t.equal(flows.out, asTyped(await readFile('skills/troupe/references/flows.md', 'utf8')));
});
