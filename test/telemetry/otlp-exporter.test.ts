import t from 'tap';
import { OtlpExporter } from '#troupe/telemetry/otlp-exporter.js';
import type { Span } from '#troupe/telemetry/span-maker.js';
import { guardLeaks } from '../support/leaks.js';
import { startOtlpReceiver } from './otlp-receiver.js';

guardLeaks(t);

function spans(count: number): Span[] {
  return Array.from({ length: count }, (_, index) => ({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: index.toString(16).padStart(16, '0'),
    parentSpanId: null,
    name: 'step',
    startMs: 1_700_000_000_000.25,
    endMs: 1_700_000_000_001,
    failure: null,
    attributes: { text: 'x', whole: 3, part: 0.5, yes: true },
  }));
}

const to = (url: string) => ({ url: `${url}/v1/traces`, headers: {}, serviceName: 'troupe', version: '1' });

t.test("Spans arrive completely, in batches, in the protocol's form", async (t) => {
  const receiver = await startOtlpReceiver(t);
  const exporter = new OtlpExporter(to(receiver.url), (line) => t.fail(line));
  exporter.add(spans(1_200));
  await exporter.close();
  t.same(receiver.refused, []);
  t.equal(new Set(receiver.spans.map(({ spanId }) => spanId)).size, 1_200);
  t.match(receiver.spans[0], {
    startNano: 1_700_000_000_000_250_000n,
    attributes: { text: 'x', whole: '3', part: 0.5, yes: true },
  });
});

t.test('An unreachable or rejecting receiver costs only the queue, and stopping does not wait for it', async (t) => {
  const receiver = await startOtlpReceiver(t);
  receiver.answerWith(503);
  const said: string[] = [];
  const exporter = new OtlpExporter(to(receiver.url), (line) => said.push(line));
  exporter.add(spans(25_000));
  await exporter.close();
  t.same(receiver.spans, []);
  t.match(said, [/503/]);
  t.equal(said.length, 1, 'one try');
  exporter.add(spans(1));
  await exporter.close();
});
