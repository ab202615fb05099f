import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';
import { LiveRequest } from '../../protocol/session.js';
import { readArguments } from '../../webdriver/browser-arguments.js';

/** `launch` of browserless. Other members, such as `stealth`, have no meaning here and are refused by name. */
const Launch = z.strictObject({
  args: z.array(z.string()).max(500).default([]),
  headless: z.unknown().optional(),
  ignoreHTTPSErrors: z.boolean().optional(),
  acceptInsecureCerts: z.boolean().optional(),
  defaultViewport: z.looseObject({ width: z.number(), height: z.number() }).nullish(),
});

/**
 * The session that the query of a browserless client asks for: `timeout` in milliseconds, and `launch` as JSON, which
 * may be in base64.
 * @throws INVALID_REQUEST
 */
export function readLaunchQuery(query: URLSearchParams): LiveRequest {
  const launch = readLaunch(query.get('launch'));
  const args = readArguments(launch.args);
  const [ignored] = args.ignored;
  if (ignored !== undefined) {
    throw new TroupeError('INVALID_REQUEST', `"launch" has the argument ${ignored}, which has no effect; remove it`);
  }
  const { width, height } = launch.defaultViewport ?? {};
  const timeout = query.get('timeout');
  const request = {
    ...(timeout === null ? {} : { hardTimeout: Number(timeout) / 1000 }),
    ...(width === undefined ? {} : { viewport: { width, height } }),
    ...(launch.ignoreHTTPSErrors === true || launch.acceptInsecureCerts === true ? { ignoreHTTPSErrors: true } : {}),
    ...args.request,
  };
  const parsed = LiveRequest.safeParse(request);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = issue?.path[0] === 'hardTimeout' ? 'timeout' : String(issue?.path.join('.') ?? 'launch');
  throw new TroupeError('INVALID_REQUEST', `"${name}" of the URL is not valid: ${issue?.message ?? ''}`);
}

function readLaunch(text: string | null): z.infer<typeof Launch> {
  if (text === null || text === '') return { args: [] };
  let value: unknown;
  try {
    value = JSON.parse(text.trimStart().startsWith('{') ? text : Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    throw new TroupeError(
      'INVALID_REQUEST',
      '"launch" of the URL is not JSON; percent-encode it, or send it in base64',
    );
  }
  const parsed = Launch.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TroupeError('INVALID_REQUEST', `"launch" of the URL is not valid: ${issue?.message ?? ''}`);
}
