import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { deferred } from '../../src/base/deferred.js';
import { eventually } from '../support/eventually.js';
import { junitFaults } from '../support/junit-shape.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';
import { runTroupe, startCommand, startCommandWith } from '../support/service-process.js';
import { startReceiver } from '../webhooks/receiver.js';

guardLeaks(t);
process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';

const FLOWS = {
  'ok.js': "// Adds.\n({ n = 1 } = {}) => Flow.run('./lib/add', { n: Number(n) });",
  'lib/add.js': '({ n }) => { match(n, 1); return n + 1; };',
  'fails.js': "// Fails.\n() => {\n  agent.go('about:blank');\n  match(agent.text(), 'something');\n};",
  'secret.js': "() => { agent.go('data:text/html,<input>'); agent.act('{input}', 'input', '{{RUN_SECRET}}'); };",
  'slow.js': '() => agent.wait(60000);',
};

/** A checkout whose flows are in `flows/`. */
function checkout(t: Test, more: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'checkout-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries({ ...FLOWS, ...more })) {
    const file = join(folder, 'flows', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return folder;
}

const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith('troupe-run-'));

t.test('With nothing else running a run starts what it needs, reports, and leaves nothing behind', async (t) => {
  // A port that is free now: the command is told to listen there, and nothing answers until it does.
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const url = `http://127.0.0.1:${port}`;
  const server = `require('http').createServer((q, r) => r.end('<h1>Served</h1>')).listen(${port}, '127.0.0.1')`;
  const folder = checkout(t, {
    'served.js': "({ base }) => { agent.go(base); match(agent.text('h1'), 'Served'); };",
    'troupe-run.json': JSON.stringify({
      serve: { command: `${JSON.stringify(process.execPath)} -e "${server}"`, url },
      args: { base: url },
    }),
  });
  const before = leftovers();
  const out = (name: string) => join(folder, 'out', name);
  const words = ['--grep', '^(ok|fails|served)$', '--parallel', '2', '--junit', out('j.xml'), '--report', out('r')];
  const { code, output } = await runTroupe(makeHome(t), 'run', join(folder, 'flows/*.js'), '--own', ...words);
  t.equal(code, 1, output);
  t.match(output, /✓ ok {2}Passed in .*s\n/);
  t.match(output, /✗ fails {2}Failed in [\d.]+ m?s at fails\.js:\d+: \w+\n/);
  t.equal(output.match(/MATCH_FAILED: /g)?.length, 1);
  t.match(
    output,
    /\n {2}1\) fails {2}Failed in [^\n]* at step 2, fails\.js:4: MATCH_FAILED\n {6}MATCH_FAILED: .*fails\.js:4:\d+.*Run it again: node dist\/cli\.js run \S*fails\.js --own --report \S+\n/s,
  );
  t.match(output, /✓ served {2}Passed/);
  t.match(output, /Slowest\n/);
  t.match(output, /2 passed, 1 failed, in/);
  t.match(readFileSync(out('r/fails/report.html'), 'utf8'), /<!doctype html>/i);
  const junit = readFileSync(out('j.xml'), 'utf8');
  t.match(junit, 'tests="3" failures="1" errors="0" skipped="0"');
  t.match(junit, `[[ATTACHMENT|${out('r/fails/screenshots/')}`);
  t.same(await junitFaults(out('j.xml')), []);
  for (const [, picture = ''] of junit.matchAll(/\[\[ATTACHMENT\|(.*?)\]\]/g)) t.ok(existsSync(picture), picture);
  t.same(leftovers(), before, 'the home of its service is gone');
  await t.rejects(fetch(url), 'what it started is gone');
});

t.test('A site that answers 404 where `serve` should be ends the run before it begins', async (t) => {
  // Another program has the port, as an editor with a file server does.
  const other = createServer((_, response) => void response.writeHead(404).end()).listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const folder = checkout(t, { 'troupe-run.json': JSON.stringify({ serve: { command: 'exit 1', url } }) });
  const junit = join(folder, 'j.xml');
  const words = ['run', join(folder, 'flows/ok.js'), '--own'];
  const { code, output } = await runTroupe(makeHome(t), ...words, '--junit', junit);
  t.equal(code, 2, output);
  t.match(output, `${url}/ answers 404; \`serve\` is not started. Give a path that answers in \`url\``);
  t.match(readFileSync(junit, 'utf8'), 'answers 404');
  const bare = join(checkout(t), 'flows/ok.js');
  const nothing = await runTroupe(makeHome(t), 'run', bare, '--own', '--serve-anyway');
  t.match(nothing, { code: 2, output: /--serve-anyway is for `serve` of troupe-run\.json/ });
});

t.test('A run with --webhook sends one message about all of its flows before its own service ends', async (t) => {
  process.env.RUN_WEBHOOK_SECRET = 'a secret of the test';
  t.teardown(() => delete process.env.RUN_WEBHOOK_SECRET);
  const receiver = await startReceiver(t);
  const folder = checkout(t);
  const home = makeHome(t, { webhookSecret: 'RUN_WEBHOOK_SECRET' });
  const words = ['--grep', '^(ok|fails)$', '--name', 'nightly', '--webhook', receiver.url];
  const sent = await runTroupe(home, 'run', join(folder, 'flows/*.js'), '--own', ...words);
  t.equal(sent.code, 1, sent.output);
  t.equal(receiver.received.length, 1, sent.output);
  t.match(JSON.parse(receiver.received[0]?.body ?? '{}'), {
    type: 'batch.failed',
    data: { name: 'nightly', counts: { completed: 1, failed: 1 }, failures: [{ name: 'fails', code: 'MATCH_FAILED' }] },
  });
  receiver.answer = (response) => void response.writeHead(500).end();
  const slack = ['--grep', '^ok$', '--webhook', receiver.url, '--webhook-format', 'slack'];
  const refused = await runTroupe(home, 'run', join(folder, 'flows/*.js'), '--own', ...slack);
  t.equal(refused.code, 0, 'a message that nobody takes does not fail the run');
  t.match(refused.output, /The webhook at http:\/\/127\.0\.0\.1:\d+ did not get its message: /);
  t.match(JSON.parse(receiver.received[1]?.body ?? '{}'), { text: String, blocks: Array });
});

t.test('On a service that runs', async (t) => {
  // Links name the service by an address that is not the one used here.
  const publicUrl = 'http://localhost/troupe/';
  const service = await startTestService(t, { maxSessions: 2, warmSessions: 0, publicUrl });
  const folder = checkout(t);
  const flows = (name: string) => join(folder, 'flows', name);
  const run = (...words: string[]) => runTroupe(makeHome(t), 'run', '--url', service.url, ...words);
  const sessions = async () => (await service.call('GET', '/api/sessions')).body;

  await t.test('flows from any folder run with their arguments, labels and secrets', async (t) => {
    process.env.RUN_SECRET = 'open-sesame';
    t.teardown(() => delete process.env.RUN_SECRET);
    const words = ['--secret', 'RUN_SECRET', '--args', 'n:=1', '--label', 'branch=main', '--name', 'nightly'];
    const { code, output } = await run(flows('ok.js'), flows('secret.js'), ...words);
    t.equal(code, 0, output);
    t.match(await sessions(), [
      { name: 'secret', labels: { branch: 'main' }, status: 'completed', maxIterations: 0 },
      { name: 'ok', prompt: 'Adds.', status: 'completed' },
    ]);
    t.notMatch(JSON.stringify(await sessions()) + output, 'open-sesame');
  });

  await t.test(
    'a flows folder of any name, ports to forward and a longest time are said on the command line',
    async (t) => {
      const suite = checkout(t, { 'e2e/slow.js': FLOWS['slow.js'] });
      const words = ['--flows', join(suite, 'flows/e2e'), '--forward', '3000', '--timeout', '1'];
      const { code, output } = await run(join(suite, 'flows/e2e/slow.js'), ...words);
      t.equal(code, 1, output);
      t.match(output, /1\) slow {2}Failed in [^\n]*: HARD_TIMEOUT\n {6}HARD_TIMEOUT: /);
      t.match(await sessions(), [{ name: 'slow', status: 'failed', error: { code: 'HARD_TIMEOUT' } }]);
    },
  );

  await t.test('parts of a run together are the whole run', async (t) => {
    const parts = await Promise.all(['1/2', '2/2'].map((part) => run(flows('{ok,lib/add,fails}.js'), '--shard', part)));
    t.match(parts[0]?.output, /2 flows on /);
    t.match(parts[1]?.output, /1 flow on /);
    const empty = await run(flows('ok.js'), '--shard', '2/2', '--junit', join(folder, 'empty.xml'));
    t.match(empty, { code: 0, output: /0 flows/ });
    t.match(readFileSync(join(folder, 'empty.xml'), 'utf8'), 'tests="0"');
  });

  await t.test('the command that is printed runs the flow again, and replaces what an earlier run left', async (t) => {
    const suite = checkout(t);
    const out = (name: string) => join(suite, 'out', name);
    const flow = join(suite, 'flows/fails.js');
    const first = await run(flow, join(suite, 'flows/ok.js'), '--report', out('r'));
    t.equal(first.code, 1, first.output);
    const [, ...words] = /Run it again: node dist\/cli\.js(.*)\n/.exec(first.output)?.[1]?.split(' ') ?? [];
    t.match(readdirSync(out('r/fails/screenshots')), [/\.png$/]);
    const own = ['r/notes.txt', 'r/fails/notes.txt', 'r/fails/screenshots/mine.png', 'r/fails/retry-2/mine.txt'];
    mkdirSync(out('r/fails/retry-2'));
    for (const name of own) writeFileSync(out(name), 'mine');
    const second = await runTroupe(makeHome(t), ...words);
    t.match(second, { code: 1, output: /\n1 failed, in/ });
    t.match(await run(flow, '--report', out('r'), '--retries', '1', '--retry-strategy', 'isolated'), { code: 1 });
    t.ok(existsSync(out('r/fails/retry-1/report.html')));
    t.match(await run(flow, '--html', out('h')), { code: 1 });
    t.match(readdirSync(out('h/pictures/fails')), [/\.png$/]);

    writeFileSync(flow, '() => 1');
    t.match(await run(flow, '--report', out('r')), { code: 0 });
    t.same(readdirSync(out('r/fails/screenshots')), ['mine.png'], 'no picture of a failure that is over');
    t.notOk(existsSync(out('r/fails/retry-1')));
    for (const name of own) t.equal(readFileSync(out(name), 'utf8'), 'mine', name);
    t.ok(existsSync(out('r/ok/report.html')), 'flows that did not run keep their reports');
    t.match(await run(flow, '--html', out('h')), { code: 0 });
    t.notOk(existsSync(out('h/pictures/fails')));
  });

  await t.test('a failure ends the run with --fail-fast', async (t) => {
    // The failure comes once the other flow runs.
    const other = deferred<void>();
    const server = createServer((request, response) => {
      if (request.url === '/other') other.resolve();
      void other.promise.then(() => response.end('<h1>here</h1>'));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const suite = checkout(t, {
      'fast/breaks.js': "({ base }) => { agent.go(base); match(agent.text('h1'), 'gone'); };",
      'fast/stays.js': "({ base }) => { agent.go(base + '/other'); agent.wait(60000); };",
    });
    const words = ['--args', `base=${base}`, '--parallel', '2', '--fail-fast'];
    const fast = await run(join(suite, 'flows/fast/*.js'), ...words);
    t.match(fast, {
      code: 1,
      output:
        /Not run\n {2}fast\/stays {2}it started and did not end: the run reached --max-failures 1\n.*1 failed, 1 not run/s,
    });
  });

  await t.test('a suite is retried at the end, quarantined, and reported where teams read', async (t) => {
    let asked = 0;
    const server = createServer((request, response) => {
      asked += request.url === '/flaky' ? 1 : 0;
      response.end(`<h1>${request.url === '/flaky' && asked === 1 ? 'bad' : 'good'}</h1>`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const suite = checkout(t, {
      'shop/flaky.js':
        "// Passes the second time. @smoke\n({ base }) => { agent.go(base + '/flaky'); match(agent.text('h1'), 'good'); };",
      'shop/pay.js': "// @smoke\n({ base }) => {\n  agent.go(base);\n  agent.act('{button}Pay', 'click');\n};",
      'known.js': '() => match(1, 2);',
      'skipped.js': "import { test } from '@playwright/test';\ntest.skip('later', () => {});\n",
      'types.ts': 'export type Person = { name: string };\n',
      'idle.js': 'match(1, 1);\nfunction check() {\n  match(1, 2);\n}\n',
      'quarantine.json': JSON.stringify([
        { flow: 'known', until: '2999-12-31', ticket: 'SHOP-7' },
        { flow: 'ok', until: '2020-01-01', ticket: 'SHOP-8' },
      ]),
    });
    const out = (name: string) => join(suite, 'out', name);
    const env = {
      GITHUB_ACTIONS: 'true',
      GITHUB_SHA: 'c'.repeat(40),
      GITHUB_REF_NAME: 'main',
      GITHUB_WORKSPACE: suite,
      GITHUB_STEP_SUMMARY: join(suite, 'summary.md'),
      XDG_CACHE_HOME: join(suite, 'cache'),
    };
    const suiteRun = async (...words: string[]) => {
      const { child, output } = startCommandWith(env, makeHome(t), 'run', '--url', service.url, ...words);
      const [code] = await once(child, 'close');
      return { code, output: output() };
    };
    const files = [
      join(suite, 'flows/{known,skipped,types,idle,shop/*}.{js,ts}'),
      '--args',
      `base=${base}`,
      '--act-timeout',
      '0.3',
    ];
    writeFileSync(join(service.home, 'flows', 'fine.js'), '() => 1;');
    const passedBefore = {
      name: 'shop/pay',
      flowFiles: ['fine.js'],
      labels: { commit: 'b'.repeat(40), branch: 'main' },
    };
    t.match(await service.job(passedBefore), { status: 'completed' });

    const listed = await suiteRun(...files, '--list', '--grep', '@smoke');
    t.match(listed, { code: 0, output: /^shop\/flaky {2}@smoke\nshop\/pay {2}@smoke\n/m });
    t.notMatch(listed.output, 'known');

    const reports = ['--junit', out('j.xml'), '--ctrf', out('c.json'), '--html', out('html')];
    const { code, output } = await suiteRun(...files, '--retries', '1', '--retry-strategy', 'isolated', ...reports);
    t.equal(code, 1, output);
    t.match(
      output,
      /✗ shop\/pay {2}Failed .*\(attempt 1 of 2\).*Retrying 3 of 5, one at a time.*✗ shop\/pay {2}Failed .*\(attempt 2 of 2\)/s,
    );
    t.match(output, /1\) shop\/pay {2}Failed [^\n]* \(attempt 2 of 2\), new since bbbbbbbb\n {6}LOCATOR_NOT_FOUND: /);
    t.match(output, /Flaky: passed in a retry\n {2}shop\/flaky {2}\(attempt 2 of 2\)\n/);
    t.match(output, /Quarantined.*\n {2}known {2}\(until 2999-12-31, SHOP-7\)\n/);
    t.match(output, /2 passed \(1 flaky\), 1 failed, 1 quarantined, 1 skipped, in/);
    t.match(output, /warning: idle\.js:2:1: The function check is never called/);
    t.match(output, /The quarantine of ok ended on 2020-01-01 \(SHOP-8\)/);
    t.match(output, /^::stop-commands::(\S+)\n.*\n::\1::\n::error file=flows\/shop\/pay\.js,line=4,col=\d+,title=/ms);
    t.match(readFileSync(env.GITHUB_STEP_SUMMARY, 'utf8'), /1 failed · 2 passed · 1 flaky · 1 quarantined · 1 skipped/);
    t.match(readFileSync(out('j.xml'), 'utf8'), /<testsuite name="flows\.shop" tests="2" failures="1"/);
    t.same(await junitFaults(out('j.xml')), []);
    const { results } = JSON.parse(readFileSync(out('c.json'), 'utf8'));
    t.match(results, {
      summary: { tests: 5, failed: 1, flaky: 1, other: 1, skipped: 1 },
      environment: { branchName: 'main' },
    });
    t.match(readFileSync(out('html/index.html'), 'utf8'), /new since bbbbbbbb/);
    t.match(await sessions(), [{ labels: { commit: 'c'.repeat(40), branch: 'main' } }]);

    const why = startCommandWith(env, makeHome(t), 'why');
    await once(why.child, 'close');
    t.match(
      why.output(),
      /^Run of .* UTC: 2 passed \(1 flaky\), 1 failed.*1\) shop\/pay .*LOCATOR_NOT_FOUND.*Run it again/s,
    );

    const again = await suiteRun(...files, '--last-failed', '--max-failures', '1', '--parallel', '1');
    t.match(again, { code: 1, output: /\n1 failed, 1 quarantined, in/ });
    asked = 0;
    const strict = await suiteRun(...files, '--grep', 'flaky', '--retries', '1', '--fail-on-flaky');
    t.match(strict, { code: 1, output: /attempt 2.*1 passed \(1 flaky\), in.*--fail-on-flaky/s });
    t.match(await suiteRun(...files, '--last-failed'), { code: 0, output: /0 flows: none of these flows failed/ });
  });

  await t.test('a run whose time is over stops the rest, and writes its reports', async (t) => {
    const words = ['--run-timeout', '3', '--parallel', '1', '--junit', join(folder, 'late.xml')];
    const { code, output } = await run(flows('ok.js'), flows('slow.js'), flows('fails.js'), ...words);
    t.equal(code, 1, output);
    t.match(output, /did not end within 3 s \(--run-timeout\).*- slow {2}Not finished.*[123] not run, in/s);
    t.match(readFileSync(join(folder, 'late.xml'), 'utf8'), 'tests="3"');
  });

  await t.test('Ctrl-C cancels what was submitted', async (t) => {
    const { child, output } = startCommand(makeHome(t), 'run', '--url', service.url, flows('slow.js'));
    const closed = once(child, 'close');
    await eventually('the job runs', async () => (await sessions())[0]?.status === 'running');
    child.kill('SIGINT');
    t.same(await closed, [2, null]);
    t.match(
      output(),
      /Cancelling after SIG\w+: stopping all flows that have not ended\n.*slow {2}it started and did not end: the run was cancelled.*1 not run/s,
    );
    t.match(await sessions(), [{ name: 'slow', status: 'stopped' }]);
  });

  await t.test('what could not run is exit code 2 and one sentence', async (t) => {
    const quarantined = checkout(t, { 'quarantine.json': '[{"flow":"ok","ticket":"A-1"}]' });
    const wrong: [string[], RegExp][] = [
      [[flows('nope.js')], /There is no file or folder '.*nope\.js'/],
      [[flows('ok.js'), '--grep', 'nothing'], /No flow path or tag matches --grep nothing/],
      [[flows('ok.js'), '--retry-strategy', 'isolated'], /add --retries N/],
      [[join(quarantined, 'flows/ok.js')], /quarantine\.json is not valid\. .*until/s],
      [[flows('ok.js'), '--model', 'openai/x'], /--model names who does a task/],
      [[flows('ok.js'), '--prompt', 'Buy'], /troupe: jobs\.0: .*no model/i],
      [
        [flows('ok.js'), '--driver', 'docker'],
        /--driver is for a service of the run's own, and http.* runs: add --own/,
      ],
      [[flows('ok.js'), '--url', 'http://127.0.0.1:1'], /No service answers at http:\/\/127\.0\.0\.1:1/],
    ];
    const outcomes = wrong.map(async ([words, says]) => ({ says, ...(await run(...words)) }));
    for (const { says, code, output } of await Promise.all(outcomes)) {
      t.equal(code, 2, output);
      t.match(output, says);
      t.notMatch(output, /\n {4}at /, 'no stack');
    }
  });
});
