import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { openSite } from '../support/agent-fixture.js';
import { handyman } from '../support/handyman.js';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, type ModelScript, startModelServer } from '../support/model-server.js';
import { skipWithout } from '../support/programs.js';
import { startTestService, type Teardown } from '../support/service.js';
import { runTroupe } from '../support/service-process.js';
import { BREAKAGES, openSignUp, SIGN_UP_FLOW } from '../support/sign-up.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

async function serviceWith(t: Teardown, script: ModelScript) {
  const model = await startModelServer(t, script);
  const providers = { scripted: { baseURL: model.baseURL } };
  const service = await startTestService(t, { models: ['scripted/m'], providers, warmSessions: 0, actTimeout: 1 });
  return { model, service };
}

async function shopUrl(t: Teardown): Promise<string> {
  const shop = await startShop({ port: 0 });
  t.teardown(() => shop.close());
  return shop.url;
}

t.test('a model does a task on the shop, and record, events and zip tell of it', async (t) => {
  const base = await shopUrl(t);
  const { model, service } = await serviceWith(t, [
    evaluate(`agent.go('${base}/login')`),
    evaluate(`agent.act('{input}User name', 'input', 'ada'); agent.act('{input}Password', 'input', 'lovelace');
      agent.act('{button}Log in', 'click'); agent.text('.who')`),
    done(true, 'Ada is logged in'),
  ]);
  const record = await service.job({ prompt: 'Log in as ada', maxIterations: 10 });
  t.match(record, {
    state: 'completed',
    summary: 'Ada is logged in',
    model: 'scripted/m',
    iterations: 3,
    error: null,
  });
  t.ok(record.tokens.input > 1000 && record.tokens.output > 50 && record.tokens.cached > 500, record.tokens);
  const [first, second, third] = model.requests.map(({ body }) => body.messages);
  t.match(first?.[0]?.content, /agent\.act/);
  t.match(first?.[1]?.content, /Log in as ada/);
  t.match(second?.at(-1)?.content, /\{input\}Password/, 'the page after the script');
  t.match(third?.at(-1)?.content, /<result>\n"Ada"/);
  const zip = await readZip(`${service.url}${record.links.download}`);
  const report = JSON.parse(zip.get('report.json')?.toString() ?? '');
  t.match(report, { status: 'completed', iterations: 3, steps: [{ kind: 'model', js: /agent\.go/ }] });
  t.match(zip.get('transcript.jsonl')?.toString(), /"ModelCallStarted"/);
});

t.test('a flow that breaks goes on behind the step that the model did by hand', async (t) => {
  const base = await shopUrl(t);
  const { model, service } = await serviceWith(t, [
    evaluate(`agent.act('{button}Put in basket', 'click')`),
    evaluate('Flow.resume()'),
    evaluate(`agent.act('{a}Go to payment', 'click')`),
    evaluate('Flow.resume()'),
    done(false, 'Far enough'),
  ]);
  const args = { base, layout: 'rename', reference: 'model-1' };
  const record = await service.job({ prompt: 'Buy teapots', flowFiles: ['examples/buy.js'], args, maxIterations: 10 });
  t.match(record, { state: 'failed', error: { code: 'TASK_FAILED', error: 'Far enough' } });
  const told = model.requests.map(({ body }) => body.messages.at(-1)?.content ?? '');
  t.match(told[0], /examples\/buy\.js, line 15[\s\S]*\{button\}Put in basket/, 'where it broke, and the page');
  t.match(told[2], /No visible element matches \{a\}Check out/, 'it went on to the next line that is broken');
  t.match(told[4], /No visible element matches \{input\}Name/);
});

t.test('a flow that looks goes on with the list that it saw, whatever the model has looked at meanwhile', async (t) => {
  const page = `data:text/html,<title>x</title><button onclick="this.after('done')">Press</button><a href="x">One</a>`;
  const { model, service } = await serviceWith(t, [
    evaluate(`agent.act('{button}Press', 'click'); agent.look().elements.length`),
    evaluate('Flow.resume()'),
    done(true, 'It went through'),
  ]);
  writeFileSync(
    join(service.home, 'flows', 'looks.js'),
    `function () {
       agent.go(${JSON.stringify(page)});
       const before = agent.look().elements.map((element) => element.locator).join();
       const again = agent.look();
       agent.act('{button}Pres', 'click');
       const after = agent.look();
       return [before, again.unchanged.length, after.elements.length].join(' ');
     }`,
  );
  const record = await service.job({ prompt: 'Press', flowFiles: ['looks.js'], maxIterations: 10 });
  t.match(record, { state: 'completed', outcome: 'repaired', error: null });
  const report = JSON.parse(
    (await readZip(`${service.url}${record.links.download}`)).get('report.json')?.toString() ?? '',
  );
  const failure = { code: 'LOCATOR_NOT_FOUND', line: 5 };
  t.match(report, { failure: null, flows: [{ path: 'looks', status: 'repaired', failure }] });
  t.match(model.requests.at(-1)?.body.messages.at(-1)?.content, /\{button\}Press,\{a\}One 2 2/);
});

t.test('a mended flow is proposed as a file and a patch, which applied passes without a model', async (t) => {
  const site = await openSite(t);
  const base = openSignUp(site, '/changed', BREAKAGES['everything renamed'] ?? {});
  const { service } = await serviceWith(t, handyman);
  writeFileSync(join(service.home, 'flows', 'sign-up.js'), SIGN_UP_FLOW);
  const job = { prompt: 'Sign up', flowFiles: ['sign-up.js'], args: { base } };
  const record = await service.job({ ...job, maxIterations: 20 });
  t.match(record, { state: 'completed' });
  const zip = await readZip(`${service.url}${record.links.download}`);
  const report = JSON.parse(zip.get('report.json')?.toString() ?? '');
  t.match(report.flows, [{ path: 'sign-up', status: 'repaired' }], 'a flow that went on is one flow');
  t.match(report.deviations[0], {
    flow: 'sign-up',
    line: 4,
    error: { code: 'LOCATOR_NOT_FOUND' },
    did: [`agent.act("{input}Full name", "input", "Ada")`],
    healed: 'healed-flows/sign-up.js',
  });
  t.equal(report.deviations.length, 4);
  t.match(zip.get('report.html')?.toString(), /Repaired flow/);
  t.match(zip.get('report.junit.xml')?.toString(), /failures="0" errors="0"/);
  const patch = join(service.home, 'sign-up.patch');
  writeFileSync(patch, zip.get('healed-flows/sign-up.patch') ?? '');
  const flow = join(service.home, 'flows', 'sign-up.js');
  const healed = zip.get('healed-flows/sign-up.js') ?? '';
  await t.test('git applies the patch', { skip: skipWithout('git') }, async (t) => {
    execFileSync('git', ['apply', patch], { cwd: service.home, env: { ...process.env, GIT_DIR: '/nowhere' } });
    t.equal(readFileSync(flow, 'utf8'), healed.toString());
  });
  writeFileSync(flow, healed);
  t.match(await service.job({ ...job, maxIterations: 0 }), { state: 'completed', tokens: { input: 0, output: 0 } });
});

t.test('the example flow goes through the changed shop with a model, and mended it passes without one', async (t) => {
  const base = await shopUrl(t);
  const { service } = await serviceWith(t, handyman);
  const ordered = async (reference: string) => {
    const orders: unknown = await (await fetch(`${base}/api/orders?reference=${reference}`)).json();
    return Array.isArray(orders) ? orders.length : -1;
  };
  const job = (reference: string, more: object) =>
    service.job({ prompt: 'Buy teapots', args: { base, layout: 'b', reference }, ...more });
  const healed = await job('healed', { flowFiles: ['examples/buy.js'], maxIterations: 60 });
  t.match(healed, { state: 'completed', summary: 'The flow went through' });
  t.equal(await ordered('healed'), 1);
  const zip = await readZip(`${service.url}${healed.links.download}`);
  const healedFlows = [...zip].filter(([name]) => /^healed-flows\/.*\.js$/.test(name));
  t.ok(healedFlows.length > 1, 'flows that it calls are mended too');
  for (const [name, source] of healedFlows) writeFileSync(join(service.home, name.replace('healed-', '')), source);
  const mended = await job('mended', { flowFiles: ['examples/buy.js'], maxIterations: 0 });
  t.match(mended, { state: 'completed', error: null, tokens: { input: 0, output: 0 } });
  t.equal(await ordered('mended'), 1);
});

t.test('a flow that the model completed is repaired, apart from what passed', async (t) => {
  const { service } = await serviceWith(t, [done(true, 'Done by hand'), done(true, 'Done by hand')]);
  const folder = t.testdir({ flows: { 'wrong.js': '() => {\n  match(1, 2);\n};', 'right.js': '() => match(1, 1);' } });
  const run = (...words: string[]) =>
    runTroupe(service.home, 'run', '--url', service.url, '--model', 'scripted/m', '--prompt', 'Do it', ...words);
  const out = (name: string) => join(folder, 'out', name);
  const reports = ['--junit', out('j.xml'), '--ctrf', out('c.json'), '--html', out('html')];
  const { code, output } = await run(join(folder, 'flows/wrong.js'), ...reports);
  t.equal(code, 0, output);
  t.match(
    output,
    /↻ wrong {2}Repaired in [^\n]*: a model finished the run\n.*Repaired: failed, and a model finished the run\n {2}wrong\n {6}MATCH_FAILED/s,
  );
  t.match(output, /\n1 repaired, in/);
  const junit = readFileSync(out('j.xml'), 'utf8');
  t.match(junit, /tests="1" failures="0" errors="0"/);
  t.match(junit, /<property name="repaired" value="1"\/>/);
  t.match(junit, /Repaired in .*: a model finished the run/);
  t.match(JSON.parse(readFileSync(out('c.json'), 'utf8')).results, {
    summary: { passed: 0, other: 1 },
    tests: [{ status: 'other', rawStatus: 'repaired', message: /MATCH_FAILED/, line: 2 }],
  });
  t.match(readFileSync(out('html/index.html'), 'utf8'), /1 repaired.*Repaired in .*a model finished the run/s);
  const [batch] = (await service.call('GET', '/api/batches')).body.batches;
  t.match(batch, { state: 'completed', counts: { completed: 1, repaired: 1, flaky: 0 } });
  t.match((await service.call('GET', `/api/batches/${batch.id}/junit`)).body, /<property name="repaired" value="1"/);
  const strict = await run(join(folder, 'flows/wrong.js'), '--fail-on-repaired');
  t.match(strict, { code: 1, output: /Repaired flows fail this run: --fail-on-repaired/ });
});

t.test('a flow that did nothing is not handed to the model', async (t) => {
  const { model, service } = await serviceWith(t, [done(true, 'Never asked')]);
  writeFileSync(join(service.home, 'flows', 'nothing.js'), 'const n = 1;');
  writeFileSync(join(service.home, 'flows', 'function.js'), '() => () => match(1, 2);');
  for (const [name, error] of [
    ['nothing', /did nothing/],
    ['function', /a function that nobody called/],
  ] as const) {
    const record = await service.job({ prompt: 'Do it', flowFiles: [`${name}.js`], maxIterations: 5 });
    t.match(record, { state: 'failed', iterations: 0, error: { code: 'FLOW_FAILED', error } });
  }
  t.same(model.requests, []);
});

t.test('the model of a job is checked when it is submitted', async (t) => {
  const providers = { keyed: { baseURL: 'http://127.0.0.1:9/v1', apiKeyEnv: 'TROUPE_TEST_NO_SUCH_KEY' } };
  const service = await startTestService(t, { models: ['keyed/m'], providers, warmSessions: 0 });
  const submit = (body: object) => service.call('POST', '/api/jobs', { prompt: 'x', ...body });
  t.match(await submit({}), { status: 400, body: { code: 'MISSING_API_KEY', error: /TROUPE_TEST_NO_SUCH_KEY/ } });
  t.match(await submit({ model: 'other/m' }), { status: 400, body: { code: 'MODEL_NOT_ALLOWED' } });
  t.match((await service.call('GET', '/api/models')).body, [
    { id: 'keyed/m', default: true, ready: false, apiKeyEnv: 'TROUPE_TEST_NO_SUCH_KEY' },
  ]);
});
