import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

const Value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
]);
const Attributes = z.array(z.strictObject({ key: z.string().min(1), value: Value }));

/** `opentelemetry/proto/trace/v1/trace.proto` in the protocol's JSON: bytes as hex, 64-bit numbers as text. */
const WireSpan = z.strictObject({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  name: z.string().min(1),
  kind: z.int().min(0).max(5),
  startTimeUnixNano: z.string().regex(/^\d{19}$/),
  endTimeUnixNano: z.string().regex(/^\d{19}$/),
  attributes: Attributes,
  status: z.strictObject({ code: z.int().min(0).max(2), message: z.string().optional() }),
});
const ExportRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: Attributes }),
      scopeSpans: z.array(
        z.strictObject({ scope: z.strictObject({ name: z.string(), version: z.string() }), spans: z.array(WireSpan) }),
      ),
    }),
  ),
});

/** A received span, with its attributes by name. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly startNano: bigint;
  readonly endNano: bigint;
  readonly status: { readonly code: number; readonly message?: string | undefined };
  readonly attributes: { readonly [name: string]: string | number | boolean | undefined };
}

/** An OTLP/HTTP receiver that accepts exactly the protocol's form, and answers 400 to anything else. */
export async function startOtlpReceiver(t: { teardown(work: () => unknown): void }) {
  const spans: ReceivedSpan[] = [];
  const refused: string[] = [];
  let status = 200;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (status !== 200) return void response.writeHead(status).end();
    const parsed = ExportRequest.safeParse(JSON.parse(Buffer.concat(chunks).toString()));
    if (!parsed.success || request.url !== '/v1/traces' || request.method !== 'POST') {
      refused.push(`${request.method} ${request.url}: ${parsed.error}`);
      return void response.writeHead(400).end();
    }
    for (const { scopeSpans } of parsed.data.resourceSpans) {
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        const { startTimeUnixNano, endTimeUnixNano, attributes, ...rest } = span;
        spans.push({
          ...rest,
          startNano: BigInt(startTimeUnixNano),
          endNano: BigInt(endTimeUnixNano),
          attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
        });
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"partialSuccess": {}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    refused,
    answerWith(next: number) {
      status = next;
    },
  };
}
