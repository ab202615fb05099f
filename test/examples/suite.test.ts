import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { hasAllCases, sampled } from '../support/sampled.js';
import { makeHome } from '../support/service.js';
import { startCommandWith } from '../support/service-process.js';

guardLeaks(t);
process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';

const SUITE = 'examples/suite';
const whole = hasAllCases;

/** Every flow of the suite, by its path without extension. */
const FLOWS = readdirSync(join(SUITE, 'flows'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.js'))
  .map((path) => path.slice(0, -'.js'.length))
  .sort();
const isBroken = (name: string) => name.startsWith('broken/');
const isFlaky = (name: string) => name.startsWith('flaky/');

/** What the terminal says of each broken flow: the cause, which nobody has to guess. */
const CAUSES: Readonly<Record<string, RegExp>> = {
  'broken/ambiguous-locator': /LOCATOR_AMBIGUOUS: .*\{button\}Edit: .*\{button:6\}Edit/,
  'broken/covered-element': /ACTION_FAILED: \{button\}Accept order is covered by \{div\}We have new terms\./,
  'broken/late-text':
    /MATCH_FAILED: #pieces .*"12", but it has "loading" \(waited \d+ ms\)[\s\S]*Still pending:\n\s+a timer, due in \d+\.\d s/,
  'broken/missing-element': /LOCATOR_NOT_FOUND: .*\{button\}Publish\. Did you mean \{button\}Publish now/,
  'broken/page-exception': /Page errors:\n\s+TypeError: .*undefined.*\n.*office\.js:\d+:\d+\) \(step \d+\)/,
  'broken/server-error':
    /Failed requests:\n\s+POST \S+\/office\/broken\/save 500 \(step \d+\): \{ ?"error": ?"the database is read-only" ?\}/,
  'broken/syntax-error':
    /SCRIPT_ERROR: SyntaxError: Unexpected token ';': .*\n\s+at \S*flows\/broken\/syntax-error\.js:5:43/,
  'broken/timeout':
    /WAIT_TIMEOUT: \{a\}Download did not appear; .* says "Preparing the report …" \(waited \d+ ms\)[\s\S]*Still pending: no request, no timer/,
  'broken/wrong-dialog': /but it has "Archive 3 orders\? This cannot be undone\."/,
  'broken/wrong-text': /Expected: €39\.90\n\s+Received: €34\.90/,
};

/** The suite with its shop at a free port. */
async function suiteCopy(t: Test): Promise<string> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  const folder = mkdtempSync(join(tmpdir(), 'suite-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  cpSync(join(SUITE, 'flows'), join(folder, 'flows'), { recursive: true });
  const url = `http://127.0.0.1:${port}`;
  const command = `${JSON.stringify(process.execPath)} ${JSON.stringify(resolve(SUITE, 'office/main.mjs'))} ${port}`;
  writeFileSync(
    join(folder, 'flows/troupe-run.json'),
    JSON.stringify({ serve: { command, url }, args: { base: url }, forward: [port] }),
  );
  return folder;
}

async function runSuite(t: Test, names: readonly string[], words: readonly string[]) {
  const folder = await suiteCopy(t);
  const out = (name: string) => join(folder, 'out', name);
  const files = names.map((name) => join(folder, 'flows', `${name}.js`));
  const env = { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: folder, GITHUB_STEP_SUMMARY: join(folder, 'summary.md') };
  const reports = ['--report', out('reports'), '--junit', out('junit.xml'), '--ctrf', out('ctrf.json')];
  const { child, output } = startCommandWith(env, makeHome(t), 'run', ...files, '--own', ...reports, ...words);
  const [code] = await once(child, 'close');
  return { code, output: output(), folder, out };
}

t.test('The suite has 60 flows: 10 fail, and 5 are flaky', async (t) => {
  t.equal(FLOWS.length, 60);
  t.same(FLOWS.filter(isBroken), Object.keys(CAUSES));
  t.equal(FLOWS.filter(isFlaky).length, 5);
});

t.test(
  'Each flow of the suite ends as it should, and the terminal names the causes',
  { timeout: 900_000 },
  async (t) => {
    const names = [
      ...sampled(FLOWS.filter(isBroken), { name: 'broken', count: 2 }),
      ...sampled(FLOWS.filter(isFlaky), { name: 'flaky', count: 1 }),
      ...sampled(
        FLOWS.filter((name) => !isBroken(name) && !isFlaky(name)),
        { name: 'passing', count: 3 },
      ),
    ];
    const words = ['--retries', '1', '--parallel', '2', '--act-timeout', '20', ...(whole ? ['--har-bodies'] : [])];
    const { code, output, folder, out } = await runSuite(t, names, words);
    t.equal(code, 1, output);
    const broken = names.filter(isBroken);
    const flaky = names.filter(isFlaky);
    const passed = names.length - broken.length;
    t.match(output, `${passed} passed (${flaky.length} flaky), ${broken.length} failed, in`);
    const [, ...failures] = output.slice(output.indexOf('\nFailed\n')).split(/\n {2}\d+\) /);
    for (const [index, name] of [...broken].sort().entries()) {
      t.match(failures[index] ?? '', new RegExp(`^${name} {2}Failed in `), `failure ${index + 1} is ${name}`);
      t.match(failures[index] ?? '', CAUSES[name] ?? /^$/, name);
    }
    for (const name of flaky) t.match(output, new RegExp(`\n {2}${name} {2}\\(attempt 2 of \\d\\)\n`));
    t.equal(output.match(/^::error /gm)?.length, broken.length, 'an annotation for each failure');
    t.match(readFileSync(join(folder, 'summary.md'), 'utf8'), `${broken.length} failed · ${passed} passed`);
    const index = readFileSync(out('reports/index.html'), 'utf8');
    t.same(
      names.filter((name) => !index.includes(name)),
      [],
      'the index has every flow',
    );

    const ctrf: { results: { tests: { name: string; message?: string; stderr?: string[] }[] } } = JSON.parse(
      readFileSync(out('ctrf.json'), 'utf8'),
    );
    const failed = ctrf.results.tests.find(({ name }) => name === 'broken/server-error');
    if (failed !== undefined) t.match((failed.stderr ?? []).join('\n'), /Failed requests:\n +POST .* 500/);

    if (!whole) return;
    await t.test('its reports are read by the libraries of collectors', async (t) => {
      const { checkCtrf, checkHar, checkJunit } = await import('../support/report-collectors.js');
      t.same(checkCtrf(out('ctrf.json')), { tests: 60, passed: 50, failed: 10, flaky: 5 });
      for (const [collector, counts] of Object.entries(await checkJunit(out('junit.xml')))) {
        t.same(counts, { tests: 60, failed: 10 }, collector);
      }
      const hars = readdirSync(out('reports'), { recursive: true, encoding: 'utf8' }).filter((path) =>
        path.endsWith('network.har'),
      );
      t.ok(hars.length > 50, `${hars.length} HAR files`);
      for (const path of hars) t.same(checkHar(join(out('reports'), path)), [], path);
      const login = readFileSync(join(out('reports'), 'account/log-in/network.har'), 'utf8');
      t.match(login, 'user=ada&password=(hidden)');
      t.match(login, '<h1>Log in</h1>');
    });
  },
);
