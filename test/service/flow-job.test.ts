import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { guardLeaks } from '../support/leaks.js';
import { startTestService, type Teardown } from '../support/service.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

async function shopUrl(t: Teardown): Promise<string> {
  const shop = await startShop({ port: 0 });
  t.teardown(() => shop.close());
  return shop.url;
}

/** For tests that want nothing of its settings. */
const service = await startTestService(t);

t.test('a flow job on the example shop completes, and its zip has all that the documentation lists', async (t) => {
  const base = await shopUrl(t);
  const submitted = await service.call('POST', '/api/jobs', {
    prompt: 'Buy two teapots',
    flowFiles: ['examples/buy.js'],
    maxIterations: 0,
    args: { base, reference: 'job-1' },
    forward: [Number(new URL(base).port)],
  });
  t.match(submitted, { status: 201, body: { sessionId: String, state: /queued|running/, mode: 'auto' } });
  const { sessionId: id } = submitted.body;
  const events = await service.call('GET', `/api/sessions/${id}/events`);
  t.match(events.body, /event: SessionEnded/);
  t.match((await service.call('GET', `/api/jobs/${id}`)).body, {
    state: 'completed',
    status: 'completed',
    error: null,
  });
  const orders = await (await fetch(`${base}/api/orders`)).json();
  t.match(orders, [{ reference: 'job-1' }]);

  const zip = await readZip(`${service.url}/api/jobs/${id}/download`);
  for (const name of [
    'session.json',
    'transcript.jsonl',
    'report.json',
    'report.html',
    'report.junit.xml',
    'network.har',
  ]) {
    t.ok(zip.has(name), name);
  }
  const report = JSON.parse(zip.get('report.json')?.toString() ?? '');
  t.match(report, { schemaVersion: 1, sessionId: id, status: 'completed', flows: [{ path: 'examples/buy' }] });
  t.ok(report.steps.length >= 15);
  for (const step of report.steps) {
    t.match(step, { kind: 'flow', js: /^agent\./, url: String, durationMs: Number });
    t.ok(zip.has(`screenshots/${step.screenshot}`), step.screenshot);
  }
  t.ok(report.assertions.length > 0 && report.assertions.every((assertion: { ok: boolean }) => assertion.ok));
  const transcript =
    zip
      .get('transcript.jsonl')
      ?.toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)) ?? [];
  t.match(transcript[0], { seq: Number, at: String, type: 'SessionAccepted', data: {} });
  t.equal(transcript.at(-1).type, 'SessionEnded');
});

t.test('on the changed shop the flow fails, and record, report and JUnit say where', async (t) => {
  const base = await shopUrl(t);
  const service = await startTestService(t, { forward: [Number(new URL(base).port)], actTimeout: 2 });
  const record = await service.job({ flowFiles: ['examples/buy.js'], args: { base, layout: 'b' } });
  t.match(record, {
    state: 'failed',
    error: {
      code: 'FLOW_FAILED',
      details: { flow: /^examples\//, line: Number, url: String, cause: { code: String } },
    },
  });
  const { flow, line } = record.error?.details ?? {};
  const zip = await readZip(`${service.url}${record.links.download}`);
  t.match(JSON.parse(zip.get('report.json')?.toString() ?? ''), { status: 'failed', error: { code: 'FLOW_FAILED' } });
  const junit = zip.get('report.junit.xml')?.toString() ?? '';
  t.match(junit, /<failure/);
  t.ok(junit.includes(`flows/${flow}.js:${line}`), junit);
  t.ok(zip.get('report.html')?.toString().includes(`flows/${flow}.js:${line}`));
});

t.test('A TypeScript flow runs as a job, and its failure names the file and line', async (t) => {
  const flows = join(service.home, 'flows');
  const typed = '// Typed.\n({ n }: { n: number }): number => {\n  match(n, 1 as number);\n  return n;\n};\n';
  writeFileSync(join(flows, 'typed.ts'), typed);
  t.match(await service.job({ flowFiles: ['typed.ts'], args: { n: 1 } }), { state: 'completed', error: null });
  const failed = await service.job({ flowFiles: ['typed.ts'], args: { n: 2 } });
  t.match(failed, { state: 'failed', error: { details: { flow: 'typed', line: 3 } } });
  const zip = await readZip(`${service.url}${failed.links.download}`);
  const report = JSON.parse(zip.get('report.json')?.toString() ?? '');
  t.match(report.failure, { file: 'flows/typed.ts', line: 3, frame: /match\(n, 1 as number\)/ });
  writeFileSync(join(flows, 'shapes.d.ts'), 'interface A {}');
  const refused = await service.call('POST', '/api/jobs', {
    prompt: 'x',
    maxIterations: 0,
    flowFiles: ['shapes.d.ts'],
  });
  t.match(refused, { status: 400, body: { code: 'INVALID_REQUEST' } });
});

t.test('what cannot be run is refused at submit', async (t) => {
  const listed = async () => (await service.call('GET', '/api/sessions')).body.length;
  const before = await listed();
  writeFileSync(join(service.home, 'flows', 'task.md'), 'Do something');
  const submit = (body: object) => service.call('POST', '/api/jobs', { prompt: 'x', maxIterations: 0, ...body });
  t.match(await submit({ flowFiles: ['nowhere.js'] }), { status: 400, body: { code: 'FLOW_NOT_FOUND' } });
  t.match(await submit({ flowFiles: ['../../etc/passwd.js'] }), { status: 400, body: { code: 'INVALID_REQUEST' } });
  t.match(await submit({ flowFiles: ['examples/login.txt'] }), { status: 400, body: { code: 'INVALID_REQUEST' } });
  t.match(await submit({ flowFiles: ['task.md'] }), { status: 400, body: { code: 'INVALID_REQUEST' } });
  const refused = {
    'two.js': [
      'const one = () => {};\nfunction two() {}',
      /two\.js:2: Which function is the flow\?.*one \(line 1\), two \(line 2\)/,
    ],
    'class.js': ['export default class {}', /class\.js:1: A class cannot be a flow/],
    'node.js': ['module.exports = () => {};', /module\.exports/],
    'types.ts': ['// For others.\nexport interface Person {\n  name: string;\n}\n', /types\.ts:1: It has only types/],
  } as const;
  for (const [name, [source, error]] of Object.entries(refused)) {
    writeFileSync(join(service.home, 'flows', name), source);
    t.match(await submit({ flowFiles: [name] }), { status: 400, body: { code: 'INVALID_REQUEST', error } }, name);
  }
  const batch = { jobs: [{ prompt: 'x', flowFiles: ['two.js'], maxIterations: 0 }] };
  t.match(await service.call('POST', '/api/batches', batch), { status: 400, body: { error: /two\.js:2/ } });
  t.match(await submit({ flowFiles: ['examples/login.js'], maxIterations: 5 }), {
    status: 400,
    body: { code: 'AUTONOMY_OFF' },
  });
  t.equal(await listed(), before);
});

t.test('a flow that did nothing fails, and one whose tests were all skipped is skipped', async (t) => {
  const flow = (name: string, source: string) => writeFileSync(join(service.home, 'flows', name), source);
  flow('helpers.js', 'const n = 1;\nlet m = 2;\nif (m > 5) m += n;\nfunction check() {\n  match(1, 2);\n}');
  const nothing = await service.job({ flowFiles: ['helpers.js'] });
  t.match(nothing, { state: 'failed', error: { code: 'FLOW_FAILED', error: /did nothing; return a value/ } });
  const tests = "import { test, expect } from '@playwright/test';\n";
  flow(
    'skipped.js',
    `${tests}test.describe.skip('all', () => {\n  test('one', () => {});\n});\ntest.skip('two', () => {});`,
  );
  flow('within.js', `${tests}test('one', () => {\n  test.skip();\n  match(1, 2);\n});`);
  flow('some.js', `${tests}test.skip('one', () => {});\ntest('two', () => {\n  match(1, 1);\n});`);
  flow('none.js', tests);
  const skipped = await service.job({ flowFiles: ['skipped.js', 'within.js'] });
  t.match(skipped, { state: 'completed', outcome: 'skipped', summary: 'All tests of 2 flows were skipped' });
  const zip = await readZip(`${service.url}${skipped.links.download}`);
  t.match(JSON.parse(zip.get('report.json')?.toString() ?? ''), {
    flows: [
      { path: 'skipped', status: 'skipped' },
      { path: 'within', status: 'skipped' },
    ],
  });
  t.match(zip.get('report.junit.xml')?.toString(), /tests="2" failures="0" errors="0".*<skipped message="All tests/s);
  const some = await service.job({ flowFiles: ['some.js', 'skipped.js'] });
  t.match(some, { state: 'completed', summary: '1 flow passed, 1 skipped' });
  t.equal('outcome' in some, false);
  t.match(await service.job({ flowFiles: ['none.js'] }), { error: { code: 'FLOW_FAILED', error: /did nothing/ } });
});

t.test('a job that exceeds its hard time fails with HARD_TIMEOUT and what it did stands in the report', async (t) => {
  writeFileSync(
    join(service.home, 'flows', 'slow.js'),
    'agent.go("data:text/html,<title>slow</title>"); agent.wait(60000)',
  );
  const record = await service.job({ flowFiles: ['slow.js'], hardTimeout: 2 });
  t.match(record, { state: 'failed', endReason: 'hard', error: { code: 'HARD_TIMEOUT' } });
  const zip = await readZip(`${service.url}${record.links.download}`);
  t.match(JSON.parse(zip.get('report.json')?.toString() ?? ''), { steps: [{ title: 'slow' }] });
});

t.test('jobs beyond maxSessions wait in order with their position, and a deleted one never runs', async (t) => {
  const service = await startTestService(t, { maxSessions: 1 });
  writeFileSync(join(service.home, 'flows', 'hold.js'), 'agent.wait(60000)');
  writeFileSync(join(service.home, 'flows', 'quick.js'), '1');
  const submit = async (flow: string) =>
    (await service.call('POST', '/api/jobs', { prompt: flow, flowFiles: [flow], maxIterations: 0 })).body;
  const [holding, second, third] = [await submit('hold.js'), await submit('quick.js'), await submit('quick.js')];
  t.match([second.queuePosition, third.queuePosition], [1, 2]);
  t.match(await service.call('DELETE', `/api/sessions/${second.id}`), { status: 200 });
  t.match((await service.call('GET', `/api/jobs/${third.id}`)).body, { state: 'queued', queuePosition: 1 });
  await service.call('DELETE', `/api/sessions/${holding.id}`);
  await service.call('GET', `/api/sessions/${third.id}/events`);
  t.match((await service.call('GET', `/api/jobs/${third.id}`)).body, { state: 'completed' });
  t.match((await service.call('GET', `/api/jobs/${second.id}`)).body, { state: 'stopped', startedAt: null });
});
