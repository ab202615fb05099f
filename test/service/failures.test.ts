import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { Report } from '#troupe/protocol/report/report.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const PAGE = `<!doctype html><title>Cart</title><h1>Cart</h1><button>Save draft</button><p id=total>Total: 12</p>
<script>console.error('price list is old'); fetch('/prices').catch(() => 0)</script>`;
/** Its save is refused with a reason, another request is never answered, and the state changes while one waits. */
const SLOW = `<!doctype html><title>Slow</title><p id=state>Ready</p><button>Save</button><button onclick="confirm('Really?')">Ask</button>
<script>document.querySelector('button').onclick = async () => {
  const state = document.querySelector('#state');
  state.textContent = 'Waiting';
  fetch('/never');
  setTimeout(() => { state.textContent = 'Saved' }, 60_000);
  const answer = await fetch('/save', {method: 'POST'});
  const {error} = await answer.json();
  state.textContent = error;
}</script>`;
const server = createServer((request, response) => {
  if (request.url === '/never') return;
  if (request.url === '/slow') return response.writeHead(200, { 'content-type': 'text/html' }).end(SLOW);
  if (request.url === '/save') {
    const body = { error: 'the database is read-only', password: 'swordfish', hint: `for ${'x'.repeat(5_000)}` };
    return response.writeHead(503, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }
  return response.writeHead(request.url === '/' ? 200 : 500, { 'content-type': 'text/html' }).end(PAGE);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
});
const { port } = server.address() as AddressInfo;
const base = `http://127.0.0.1:${port}/`;

const service = await startTestService(t, { actTimeout: 1, maxSessions: 2 });
const FLOWS = {
  'missing.js': `// Saves.
({base}) => {
  agent.go(base);
  agent.wait('idle');
  agent.act('{button}Save', 'click', {timeout: 50});
}`,
  'helper.js': `({base}) => {
  const first = (rows) => rows[0].name;
  agent.go(base);
  agent.act('{button}Save draft', 'click');
  agent.text('h1');
  first([]);
}`,
  'matched.js': `({base}) => {
  agent.go(base);
  const total = agent.text('#total');
  match(total, 'Total: 13');
}`,
  'expected.js': `({base}) => {
  agent.go(base);
  agent.expect('#total').toHaveText('Total: 13', {timeout: 50});
}`,
  'outer.js': `({base}) => {
  agent.go(base);
  Flow.run('inner');
}`,
  'inner.js': `() => {
  agent.expect('{button}Sve draft').toBeVisible({timeout: 50});
}`,
  'calls-typed.js': `({base}) => {
  agent.go(base);
  Flow.run('typed');
}`,
  'typed.ts': `() => {
  const wanted: string = '{button}Sve draft';
  agent.expect(wanted).toBeVisible({timeout: 50});
}`,
  'pending.js': `({base}) => {
  agent.go(base + 'slow');
  agent.expect('#state').toHaveText('Ready', {timeout: 20000});
  agent.act('{button}Save', 'click', {timeout: 20000});
  agent.expect('#state').toHaveText('Saved', {timeout: 900});
}`,
  'lost.js': `({base}) => {
  agent.go(base + 'slow');
  agent.expect('#state').toHaveText('Ready', {timeout: 20000});
  agent.act('{button}Save', 'click', {timeout: 20000});
  agent.expect('#state').toHaveText('Ready', {timeout: 500});
}`,
  'asked.js': `({base}) => {
  agent.go(base + 'slow');
  agent.act('{button}Ask', 'click', {timeout: 20000});
  agent.expect('{dialog}').toHaveText('Sure', {timeout: 50});
}`,
  'broken.js': '() => {\n  agent.go(;\n}',
};
for (const [name, source] of Object.entries(FLOWS)) writeFileSync(join(service.home, 'flows', name), source);

async function reportOf(flow: string, request: object = {}): Promise<Report> {
  const forward = [port];
  const { id } = await service.job({ flowFiles: [`${flow}.js`], args: { base }, forward, ...request });
  return Report.parse((await service.call('GET', `/api/sessions/${id}/report.json`)).body);
}

/** Runs `troupe <words>` for this home. */
function troupe(...words: string[]): Promise<{ readonly code: number; readonly out: string; readonly said: string }> {
  const env = { ...process.env, TROUPE_HOME: service.home };
  return new Promise((resolve) => {
    execFile(process.execPath, ['dist/cli.js', ...words], { env }, (error, out, said) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, said }),
    );
  });
}

t.test('The failure of a flow names the line, the near misses, and what went wrong in the page', async (t) => {
  const { failure, flows, sessionId } = await reportOf('missing');
  t.same(flows[0]?.failure, failure, 'the failed flow has the same one');
  t.match(failure, {
    code: 'LOCATOR_NOT_FOUND',
    flow: 'missing',
    file: 'flows/missing.js',
    line: 5,
    column: 9,
    locator: '{button}Save',
    nearMisses: ['{button}Save draft'],
    console: [{ text: 'price list is old', url: base }],
    requests: [{ method: 'GET', url: `${base}prices`, status: 500 }],
    step: { index: 2, js: 'agent.act("{button}Save", "click", {"timeout":50})', url: base, title: 'Cart' },
    screenshot: /^screenshots\/002-.*\.png$/,
  });
  t.notOk(failure?.step?.before);
  t.equal(
    failure?.frame,
    `  3 |   agent.go(base);
  4 |   agent.wait('idle');
> 5 |   agent.act('{button}Save', 'click', {timeout: 50});
    |         ^
  6 | }`,
  );
  const why = await troupe('why', sessionId, '--url', service.url);
  t.match(why, { code: 0, said: '' });
  for (const line of [
    `Session ${sessionId}: Failed in `,
    ` at step 2, missing.js:5: LOCATOR_NOT_FOUND\n`,
    'at flows/missing.js:5:9',
    '> 5 |   agent.act',
    'Did you mean {button}Save draft?',
    'Page errors:\n  price list is old',
    `Failed requests:\n  GET ${base}prices 500`,
    `Screenshot: ${service.url}/api/sessions/${sessionId}/screenshots/002-`,
    'Run it again: node dist/cli.js run flows/missing.js',
  ]) {
    t.ok(why.out.includes(line), `${line}\n${why.out}`);
  }
  const json = JSON.parse((await troupe('why', sessionId, '--json', '--url', service.url)).out);
  const { stateText, ...others } = json;
  t.match(stateText, /^Failed in .* at step 2, missing\.js:5: LOCATOR_NOT_FOUND$/);
  t.same(others, { sessionId, name: null, status: 'failed', failures: [failure] });
  const onDisk = await troupe('why', join(service.home, 'sessions', sessionId));
  t.match(onDisk.out, /Screenshot: .*\/sessions\/.*\/screenshots\/002-/, 'without a service');
});

t.test("An error of a flow's own function has its own line, and no step is said to have failed", async (t) => {
  const { failure } = await reportOf('helper');
  t.match(failure, { code: 'SCRIPT_ERROR', message: /^TypeError/, line: 2, step: { index: 2, before: true } });
  t.match(failure?.frame, /> 2 \| {3}const first = \(rows\) => rows\[0\]\.name;/);
});

t.test('A failed match is a step, with what was expected and received', async (t) => {
  const { failure, steps } = await reportOf('matched');
  t.match(failure, {
    code: 'MATCH_FAILED',
    line: 4,
    expected: 'Total: 13',
    received: 'Total: 12',
    step: { index: 2, js: "match(total, 'Total: 13');" },
  });
  t.match(steps.at(-1), {
    kind: 'flow',
    flow: 'matched',
    line: 4,
    error: { code: 'MATCH_FAILED' },
    screenshot: String,
  });
});

t.test('A failed assertion shows both texts; one in a flow that a flow called is where it was thrown', async (t) => {
  const [{ failure }, nested] = await Promise.all([reportOf('expected'), reportOf('outer')]);
  t.match(failure, { code: 'MATCH_FAILED', line: 3, locator: '#total', expected: 'Total: 13', received: 'Total: 12' });
  t.match(nested.failure, {
    flow: 'inner',
    file: 'flows/inner.js',
    line: 2,
    nearMisses: ['{button}Save draft'],
    frame: /> 2 \| {3}agent\.expect/,
  });
});

t.test('A flow that does not parse is not retried', async (t) => {
  const { failure, attempts } = await reportOf('broken', { retries: 2 });
  t.match(failure, {
    code: 'SCRIPT_ERROR',
    message: /^SyntaxError/,
    line: 2,
    column: 12,
    frame: /> 2 \| {3}agent\.go\(;/,
  });
  t.same(attempts, []);
});

t.test('troupe why says what it cannot find, and that nothing failed', async (t) => {
  const { id } = await service.live();
  await service.run(id, 'agent.go("about:blank"); 1');
  t.match(await troupe('why', id, '--url', service.url), {
    code: 0,
    out: new RegExp(`^Session ${id}: Running for [^\n]*\\. Nothing failed\\.\n$`),
  });
  await service.run(id, 'throw new Error("sold out")');
  t.match((await troupe('why', id, '--url', service.url)).out, /SCRIPT_ERROR: Error: sold out\nat line 1, column \d+/);
  t.match(await troupe('why', 'nosuchsessio', '--url', service.url), { code: 2, said: /NOT_FOUND/ });
  t.match(await troupe('why', 'no/such/file'), {
    code: 2,
    said: /NOT_FOUND: There is no report\.json or run\.json at 'no\/such\/file'/,
  });
  t.match(await troupe('why', id, id), { code: 2, said: /Unexpected argument/ });
});

t.test('A failure in a TypeScript flow that another flow called names the .ts file', async (t) => {
  const { failure } = await reportOf('calls-typed');
  t.match(failure, { flow: 'typed', file: 'flows/typed.ts', line: 3 });
});

t.test(
  'A failed wait shows what it saw, what was pending, what the server answered, and the steps before',
  async (t) => {
    const { failure, sessionId } = await reportOf('pending');
    t.match(failure, {
      code: 'MATCH_FAILED',
      waitedMs: Number,
      elsewhere: false,
      requests: [
        { method: 'POST', url: `${base}save`, status: 503, step: 3, body: /^\{"error":"the database is read-only"/ },
      ],
      pending: { requests: [{ method: 'GET', url: `${base}never`, ms: Number }], timers: [{ repeats: false }] },
      earlierSteps: [
        { index: 1, outcome: `page ${base}slow "Slow", status 200` },
        { index: 2, outcome: /^true after \d+ ms$/ },
        { index: 3, outcome: 'the page changed' },
      ],
      step: { index: 4 },
      noTrace: /--trace/,
    });
    const [refused] = failure?.requests ?? [];
    t.ok((refused?.body ?? '').length < 600, 'the body is bounded');
    t.notMatch(JSON.stringify(failure), 'swordfish');
    t.equal(failure?.seenAtStep, undefined, 'no step saw it');
    const why = await troupe('why', sessionId, '--url', service.url);
    for (const line of [
      /Polled for [\d.]+ m?s: ("Waiting" for [\d.]+ m?s, then )?"the database is read-only"/,
      /The expected text is not on the page, and no earlier step saw it/,
      /POST \S+\/save 503 \(step 3\): \{"error":"the database is read-only"/,
      /Still pending:\n {2}GET \S+\/never, no response for [\d.]+ m?s\n {2}a timer, due in [\d.]+ s/,
      /Previous steps:\n {2}1\. agent\.go\(.*\n {2}2\. .*\n {2}3\. agent\.act\("\{button\}Save", .*\): the page changed/,
    ]) {
      t.match(why.out, line);
    }
  },
);

t.test(
  'A failure says which step saw the expected value before the page lost it, and why there is no picture',
  async (t) => {
    const [{ failure: lost }, { failure: asked }] = await Promise.all([reportOf('lost'), reportOf('asked')]);
    t.match(lost, { expected: 'Ready', seenAtStep: 2 });
    t.not(lost?.screenshot === undefined, lost?.noScreenshot === undefined, 'a picture, or why there is none');
    t.match(asked, {
      noScreenshot: 'a dialog is open, and a page with an open dialog cannot be drawn',
      earlierSteps: [{ index: 1 }, { index: 2, outcome: 'opened a dialog: "Really?"' }],
    });
  },
);
