import { Readable } from 'node:stream';
import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';
import type { LiveRequest } from '../../protocol/session.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { type Answer, defineRoute, type Route, type RouteRequest } from '../route.js';
import { withPage } from './devtools-calls.js';
import { functionScript } from './function-code.js';
import { readLaunchQuery } from './launch-query.js';
import { PdfOptions, printPdf, ScreenshotOptions, takeScreenshot } from './page-output.js';
import { openingScript, PAGE_FIELDS, sessionFieldsOf } from './page-request.js';

const MAX_CODE_BYTES = 1024 * 1024;
const PDF_BYTES = 16 * 1024 * 1024;
const ERRORS = ['CAPACITY', 'WORKER_LOST', 'SCRIPT_ERROR', 'WAIT_TIMEOUT', 'ACTION_FAILED', 'EVAL_TIMEOUT'] as const;
const Query = z.strictObject({
  token: z.string().optional(),
  timeout: z.string().optional(),
  launch: z.string().optional(),
});
const Pdf = z.strictObject({ ...PAGE_FIELDS, options: PdfOptions.prefault({}) });
const Screenshot = z.strictObject({ ...PAGE_FIELDS, options: ScreenshotOptions.prefault({}) });
const Content = z.strictObject(PAGE_FIELDS);
const Code = z.strictObject({ code: z.string(), context: z.unknown().optional() });
const Result = z.object({ data: z.unknown(), type: z.string().optional() });
/** A media type without line breaks; RFC 9110, section 8.3.1. */
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=[\w.-]+)?$/;

export const browserlessRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/pdf',
    summary: 'Opens a page in a session of its own and prints it, as browserless does.',
    body: Pdf,
    jsonBytes: PDF_BYTES,
    query: Query,
    answer: 'application/pdf',
    errors: ERRORS,
    handle: ({ body, request }, sessions) =>
      inSession(request, sessions, sessionFieldsOf(body), openingScript(body), async (id) =>
        sealed('application/pdf', await withPage(id, sessions, (call) => printPdf(call, body.options))),
      ),
  }),
  defineRoute({
    method: 'POST',
    path: '/screenshot',
    summary: 'Opens a page in a session of its own and takes a screenshot, as browserless does.',
    body: Screenshot,
    jsonBytes: PDF_BYTES,
    query: Query,
    answer: 'image/png',
    errors: ERRORS,
    handle: ({ body, request }, sessions) =>
      inSession(request, sessions, sessionFieldsOf(body), openingScript(body), async (id) => {
        const picture = await withPage(id, sessions, (call) => takeScreenshot(call, body.options));
        const { encoding, type } = body.options;
        if (encoding === 'base64') return sealed('text/plain; charset=utf-8', Buffer.from(picture.toString('base64')));
        return sealed(`image/${type}`, picture);
      }),
  }),
  defineRoute({
    method: 'POST',
    path: '/content',
    summary: 'Opens a page in a session of its own and returns its HTML, as browserless does.',
    body: Content,
    jsonBytes: PDF_BYTES,
    query: Query,
    answer: 'text/html',
    errors: ERRORS,
    handle: ({ body, request }, sessions) => {
      const script = `${openingScript(body)}\nawait page.content();`;
      return inSession(request, sessions, sessionFieldsOf(body), script, async (_, result) =>
        sealed('text/html; charset=utf-8', Buffer.from(z.string().parse(JSON.parse(result)))),
      );
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/function',
    summary: 'Runs the code of a client in a session of its own, as browserless does.',
    bytes: MAX_CODE_BYTES,
    headers: ['content-type'],
    query: Query,
    answer: 'application/json',
    errors: ERRORS,
    handle: ({ request }, sessions) => {
      const { code, context } = codeOf(request);
      return inSession(request, sessions, {}, functionScript(code, context), async (_, result) => answerOf(result));
    },
  }),
];

/** Creates a session, runs the script, and ends the session, whatever happens. */
async function inSession(
  request: RouteRequest,
  sessions: Sessions,
  fields: LiveRequest,
  script: string,
  work: (id: string, result: string) => Promise<Answer>,
): Promise<Answer> {
  const { caller, signal, gone } = request;
  const wanted = { ...readLaunchQuery(request.query), ...fields };
  const { id } = await sessions.createLive(wanted, { caller, signal });
  try {
    const result = await sessions.runScript(id, script, gone, { onDisconnect: 'stop' });
    return await work(id, result);
  } finally {
    if (sessions.timeLeft(id) !== null) await sessions.remove(id, false);
  }
}

/** @throws INVALID_REQUEST, INVALID_JSON */
function codeOf({ bytes, headers }: RouteRequest): z.infer<typeof Code> {
  const text = bytes.toString('utf8');
  if (!/json/i.test(headers['content-type'] ?? '')) return { code: text };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TroupeError('INVALID_JSON', 'The body is not JSON; send {"code", "context"}, or the code itself');
  }
  const parsed = Code.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new TroupeError('INVALID_REQUEST', 'The body must be {"code": "...", "context": ...}, with nothing else');
}

/** `{data, type}`: the data is the body of the answer. Anything else is answered as JSON. */
function answerOf(json: string): Answer {
  const value: unknown = json === '' ? null : JSON.parse(json);
  const { success, data: result } = Result.safeParse(value);
  if (!success || result.type === undefined) return sealed('application/json', Buffer.from(JSON.stringify(value)));
  if (!MEDIA_TYPE.test(result.type)) {
    throw new TroupeError('SCRIPT_ERROR', '"type" of the result must be a media type, such as "text/plain"');
  }
  const text = typeof result.data === 'string' ? result.data : JSON.stringify(result.data ?? null);
  return sealed(result.type, Buffer.from(text));
}

/** Pages and scripts chose the content: shown in a browser, it may load and run nothing. */
function sealed(contentType: string, body: Buffer): Answer {
  return { kind: 'picture', contentType, stream: Readable.from([body]), bytes: body.length };
}
