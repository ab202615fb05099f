import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, type ModelScript, startModelServer } from '../support/model-server.js';
import { startTestService, type Teardown } from '../support/service.js';
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
  t.match(told[2], /No visible element answers to \{a\}Check out/, 'it went on to the next line that is broken');
  t.match(told[4], /No visible element answers to \{input\}Name/);
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
