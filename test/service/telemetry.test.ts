import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { startShop } from '../../examples/shop/shop.mjs';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-ports.js';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, startModelServer } from '../support/model-server.js';
import { skipWithout } from '../support/programs.js';
import { startTestService } from '../support/service.js';
import { type ReceivedSpan, startOtlpReceiver } from '../telemetry/otlp-receiver.js';

guardLeaks(t);

t.test('Traces and numbers tell of a job with flows and a model', async (t) => {
  const shop = await startShop({ port: 0 });
  t.teardown(() => shop.close());
  const receiver = await startOtlpReceiver(t);
  const model = await startModelServer(t, [
    evaluate(`agent.go('${shop.url}/?secret=tea'); agent.look()`),
    done(true, 'seen'),
  ]);
  const service = await startTestService(t, {
    models: ['scripted/m'],
    providers: { scripted: { baseURL: model.baseURL } },
    traces: receiver.url,
  });
  const flow = { flowFiles: ['examples/search.js'], args: { base: shop.url } };
  const record = await service.job({ ...flow, prompt: 'Look at the shop', maxIterations: 5 });
  t.equal(record.status, 'completed');
  const { id } = await service.live();
  await service.run(id, '1 + 1');
  await service.run(id, 'null.x');
  let numbers = '';
  await eventually('the last event is counted', async () => {
    numbers = (await service.call('GET', '/metrics')).body;
    return numbers.includes('troupe_script_seconds_count{outcome="failed"} 1');
  });

  await t.test('the numbers are what happened', async (t) => {
    t.equal(numberOf(numbers, 'troupe_sessions{state="running"}'), 1);
    t.equal(numberOf(numbers, 'troupe_sessions{state="queued"}'), 0);
    t.equal(numberOf(numbers, 'troupe_sessions_ended_total{status="completed",reason="finished",code=""}'), 1);
    t.equal(numberOf(numbers, 'troupe_queue_wait_seconds_count{mode="auto"}'), 1);
    t.equal(numberOf(numbers, 'troupe_create_seconds_count{start="cold"}'), 2);
    t.ok(numberOf(numbers, 'troupe_step_seconds_count{kind="flow",outcome="passed"}') > 0);
    t.equal(numberOf(numbers, 'troupe_step_seconds_count{kind="model",outcome="passed"}'), 1);
    t.equal(numberOf(numbers, 'troupe_script_seconds_count{outcome="failed"}'), 1);
    t.equal(numberOf(numbers, 'troupe_model_call_seconds_count{model="scripted/m",outcome="passed"}'), 2);
    t.equal(numberOf(numbers, 'troupe_model_tokens_total{model="scripted/m",kind="input"}'), record.tokens.input);
    t.equal(numberOf(numbers, 'troupe_viewers'), 0);
    for (const thread of ['main', 'sessions-0']) {
      t.ok(numberOf(numbers, `troupe_event_loop_lag_seconds{thread="${thread}",stat="p99"}`) >= 0);
      t.ok(numberOf(numbers, `troupe_mailbox_depth{thread="${thread}"}`) >= 0);
    }
    t.ok(numberOf(numbers, 'process_resident_memory_bytes') > 1e7);
    t.ok(
      numberOf(numbers, 'troupe_http_request_seconds_count{method="POST",route="/sessions/{id}/proxy",status="422"}') >
        0,
    );
  });

  await t.test('the dashboard for Grafana and the document ask for no other numbers', async (t) => {
    for (const file of ['docs/grafana-dashboard.json', 'docs/monitoring.md']) {
      const named = readFileSync(file, 'utf8').match(/\btroupe_[a-z_]+|\bprocess_[a-z_]+[a-z]/g) ?? [];
      for (const name of new Set(named)) {
        t.match(numbers, new RegExp(`^# TYPE ${name.replace(/_bucket$/, '')} `, 'm'), `${file}: ${name}`);
      }
    }
  });

  await t.test('the real Prometheus takes them', { skip: skipWithout('promtool', 'prometheus') }, async (t) => {
    const lint = spawnSync('promtool', ['check', 'metrics'], { input: numbers, encoding: 'utf8' });
    t.equal(lint.status, 0, lint.stderr);
    const { port } = new URL(service.url);
    const prometheus = await startPrometheus(t, Number(port));
    await eventually('Prometheus has scraped the service', async () => (await prometheus.query('up')) === 1);
    t.equal(await prometheus.query('troupe_sessions{state="running"}'), 1);
    t.equal(await prometheus.query('sum(troupe_sessions_ended_total)'), 1);
  });

  await service.stop(0);
  t.same(receiver.refused, []);
  const roots = receiver.spans.filter(({ parentSpanId }) => parentSpanId === undefined);
  t.equal(roots.length, 2, 'one trace a session');
  const root = roots.find(({ attributes }) => attributes['troupe.session'] === record.id);
  const own = receiver.spans.filter(({ traceId }) => traceId === root?.traceId);
  const named = (name: string) => own.filter((span) => span.name === name);
  t.match(root, { name: 'session', status: { code: 1 }, attributes: { 'troupe.status': 'completed' } });
  for (const name of ['queue', 'browser', 'flow examples/search', 'step', 'model']) t.ok(named(name).length > 0, name);
  t.equal(named('model').length, 2);
  t.match(named('model')[0]?.attributes, { 'gen_ai.request.model': 'scripted/m' });
  const [flowSpan] = named('flow examples/search');
  t.ok(
    named('step').some(({ parentSpanId }) => parentSpanId === flowSpan?.spanId),
    'steps are under their flow',
  );
  t.ok(
    own.every((span) => span === root || own.some(({ spanId }) => spanId === span.parentSpanId)),
    'parents are there',
  );
  t.ok(
    own.every((span) => isWithin(span, root)),
    'and around them',
  );
  t.notMatch(
    JSON.stringify(own, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    'url.full":"[^"]*secret=tea',
  );
  const failed = receiver.spans.find(({ name, status }) => name === 'script' && status.code === 2);
  t.equal(failed?.status.message, 'SCRIPT_ERROR');
});

/** Clocks of two threads may differ by a moment. */
function isWithin(span: ReceivedSpan, root: ReceivedSpan | undefined): boolean {
  const slack = 100_000_000n;
  return root !== undefined && span.startNano >= root.startNano - slack && span.endNano <= root.endNano + slack;
}

function numberOf(numbers: string, series: string): number {
  const line = numbers.split('\n').find((text) => text.startsWith(`${series} `));
  if (line === undefined) throw new Error(`There is no ${series}`);
  return Number(line.slice(series.length + 1));
}

const QueryAnswer = z.object({
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});

async function startPrometheus(t: { teardown(work: () => unknown): void }, port: number) {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-prometheus-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const config = {
    global: { scrape_interval: '500ms', scrape_timeout: '400ms' },
    scrape_configs: [{ job_name: 'troupe', static_configs: [{ targets: [`127.0.0.1:${port}`] }] }],
  };
  writeFileSync(join(dir, 'prometheus.yml'), JSON.stringify(config));
  const own = await freePort();
  const flags = [
    `--config.file=${dir}/prometheus.yml`,
    `--storage.tsdb.path=${dir}/data`,
    `--web.listen-address=127.0.0.1:${own}`,
  ];
  const child = spawn('prometheus', flags, { stdio: 'ignore' });
  const ended = once(child, 'close');
  t.teardown(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  return {
    /** The first value of a query; undefined where there is none yet. */
    async query(text: string): Promise<number | undefined> {
      const response = await fetch(`http://127.0.0.1:${own}/api/v1/query?query=${encodeURIComponent(text)}`).catch(
        () => null,
      );
      const answer = QueryAnswer.safeParse(response?.ok ? await response.json() : null);
      const value = answer.data?.data.result[0]?.value[1];
      return value === undefined ? undefined : Number(value);
    },
  };
}
