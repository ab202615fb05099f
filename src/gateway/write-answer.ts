import { attachment, pageHeaders, SEALED } from './answer-headers.js';
import type { EventStreams } from './event-stream.js';
import type { Reply } from './http/reply.js';
import { sendStream } from './http/send-stream.js';
import type { McpEndpoint } from './mcp/mcp-endpoint.js';
import type { Answer } from './route.js';

/** Writers of long-running answers. */
export interface AnswerStreams {
  readonly events: EventStreams;
  readonly mcp: McpEndpoint;
}

/**
 * Writes an answer. Settles when it is written or the client has disconnected. @throws what a stream's source failed
 * with
 */
export async function writeAnswer(reply: Reply, answer: Answer, { events, mcp }: AnswerStreams): Promise<void> {
  switch (answer.kind) {
    case 'json':
      reply.end({ status: answer.status, headers: jsonHeaders(answer) }, JSON.stringify(answer.body));
      return;
    case 'redirect': {
      const headers = [
        ['Location', answer.location],
        ['Set-Cookie', answer.setCookie],
        ['Content-Type', 'text/html; charset=utf-8'],
      ] as const;
      reply.end({ status: 303, headers }, '');
      return;
    }
    case 'text':
      reply.end({ status: answer.status, headers: textHeaders(answer) }, answer.text);
      return;
    case 'stream': {
      const headers = [
        ['Content-Type', answer.contentType],
        ['Content-Disposition', attachment(answer.fileName)],
      ] as const;
      await sendStream(reply, { status: 200, headers }, answer.stream, answer.bytes);
      return;
    }
    case 'page':
      reply.end({ status: 200, headers: pageHeaders(answer) }, answer.body);
      return;
    case 'picture': {
      const headers = [['Content-Type', answer.contentType], SEALED] as const;
      await sendStream(reply, { status: 200, headers }, answer.stream, answer.bytes);
      return;
    }
    case 'artifact':
      await writeArtifact(reply, answer);
      return;
    case 'events':
      await events.serve(reply, answer);
      return;
    case 'mcp':
      await mcp.serve(reply, answer.call);
      return;
  }
}

async function writeArtifact(reply: Reply, artifact: Answer & { readonly kind: 'artifact' }): Promise<void> {
  const { contentType, fileName, bytes, range } = artifact;
  const headers = [
    ['Content-Type', contentType ?? 'application/octet-stream'],
    ['Accept-Ranges', 'bytes'],
    ...(contentType === null ? [['Content-Disposition', attachment(fileName)] as const] : []),
    SEALED,
  ] as const;
  if (range === null) {
    await artifact.close();
    reply.end({ status: 416, headers: [...headers, ['Content-Range', `bytes */${bytes}`]] }, '');
    return;
  }
  const part = range ?? { start: 0, end: bytes - 1 };
  const status = range === undefined ? 200 : 206;
  const more = range === undefined ? [] : [['Content-Range', `bytes ${part.start}-${part.end}/${bytes}`] as const];
  const head = { status, headers: [...headers, ...more] };
  await sendStream(reply, head, artifact.open(part), part.end - part.start + 1);
}

function jsonHeaders({
  setCookie,
  next,
  etag,
}: Answer & { readonly kind: 'json' }): ReadonlyArray<readonly [string, string]> {
  const type = ['Content-Type', 'application/json'] as const;
  return [
    type,
    ...(setCookie === undefined ? [] : [['Set-Cookie', setCookie] as const]),
    ...etagHeader(etag),
    ...(next === undefined ? [] : [['Link', `<${next}>; rel="next"`] as const]),
  ];
}

function textHeaders({
  contentType,
  etag,
}: Answer & { readonly kind: 'text' }): ReadonlyArray<readonly [string, string]> {
  return [['Content-Type', contentType], ...etagHeader(etag)];
}

function etagHeader(etag: string | undefined): ReadonlyArray<readonly [string, string]> {
  return etag === undefined ? [] : [['ETag', etag]];
}
