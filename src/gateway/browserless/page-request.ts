import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';
import type { LiveRequest } from '../../protocol/session.js';

const ms = z.number().min(0).max(600_000);
const WaitUntil = z.enum(['load', 'domcontentloaded', 'networkidle0', 'networkidle2', 'networkidle', 'commit']);
const Tag = z.strictObject({ url: z.string().optional(), content: z.string().optional(), type: z.string().optional() });

/** The part of a request that `/pdf`, `/screenshot` and `/content` share. Unknown members are refused by name. */
export const PAGE_FIELDS = {
  url: z.string().min(1).optional(),
  html: z.string().optional(),
  gotoOptions: z
    .strictObject({ timeout: ms.optional(), waitUntil: z.union([WaitUntil, z.array(WaitUntil)]).optional() })
    .optional(),
  viewport: z.looseObject({ width: z.int(), height: z.int() }).optional(),
  userAgent: z.union([z.string(), z.looseObject({ userAgent: z.string() })]).optional(),
  setExtraHTTPHeaders: z.record(z.string(), z.string()).optional(),
  authenticate: z.strictObject({ username: z.string(), password: z.string() }).optional(),
  cookies: z
    .array(z.looseObject({ name: z.string(), value: z.string() }))
    .max(1000)
    .optional(),
  addScriptTag: z.array(Tag).max(100).optional(),
  addStyleTag: z
    .array(Tag.omit({ type: true }))
    .max(100)
    .optional(),
  emulateMediaType: z.enum(['screen', 'print']).optional(),
  setJavaScriptEnabled: z.literal(true, { error: 'pages of sessions always run JavaScript; leave it out' }).optional(),
  waitForTimeout: ms.optional(),
  waitForSelector: z
    .strictObject({
      selector: z.string(),
      hidden: z.boolean().optional(),
      visible: z.boolean().optional(),
      timeout: ms.optional(),
    })
    .optional(),
} as const;

const PageRequest = z.strictObject(PAGE_FIELDS);
export type PageRequest = z.infer<typeof PageRequest>;

/** What of the request is an option of the session. */
export function sessionFieldsOf({ viewport, userAgent, setExtraHTTPHeaders, authenticate }: PageRequest): LiveRequest {
  return {
    ...(viewport === undefined ? {} : { viewport: { width: viewport.width, height: viewport.height } }),
    ...(userAgent === undefined ? {} : { userAgent: typeof userAgent === 'string' ? userAgent : userAgent.userAgent }),
    ...(setExtraHTTPHeaders === undefined ? {} : { headers: setExtraHTTPHeaders }),
    ...(authenticate === undefined ? {} : { httpCredentials: authenticate }),
  };
}

/** The script that opens the page as the request wants it. @throws INVALID_REQUEST without one of `url` and `html` */
export function openingScript(request: PageRequest): string {
  const { url, html, gotoOptions = {}, cookies, addScriptTag = [], addStyleTag = [], emulateMediaType } = request;
  const { waitForSelector, waitForTimeout } = request;
  if ((url === undefined) === (html === undefined)) {
    throw new TroupeError('INVALID_REQUEST', 'Give either "url" or "html"');
  }
  const until = [gotoOptions.waitUntil ?? 'load'].flat().at(-1) ?? 'load';
  const options = {
    waitUntil: until.startsWith('networkidle') ? 'networkidle' : until,
    ...(gotoOptions.timeout === undefined ? {} : { timeout: gotoOptions.timeout }),
  };
  const lines: string[] = [];
  if (cookies !== undefined) {
    const own = cookies.map((cookie) => ('url' in cookie || 'domain' in cookie ? cookie : { url, ...cookie }));
    lines.push(`await context.addCookies(${JSON.stringify(own)});`);
  }
  if (emulateMediaType !== undefined) lines.push(`await page.emulateMedia({ media: '${emulateMediaType}' });`);
  lines.push(
    url === undefined
      ? `await page.setContent(${JSON.stringify(html)}, ${JSON.stringify(options)});`
      : `await page.goto(${JSON.stringify(url)}, ${JSON.stringify(options)});`,
  );
  for (const tag of addStyleTag) lines.push(`await page.addStyleTag(${JSON.stringify(tag)});`);
  for (const tag of addScriptTag) lines.push(`await page.addScriptTag(${JSON.stringify(tag)});`);
  if (waitForSelector !== undefined) {
    const { selector, hidden, visible, timeout } = waitForSelector;
    const state = hidden === true ? 'hidden' : visible === true ? 'visible' : 'attached';
    lines.push(`await page.waitForSelector(${JSON.stringify(selector)}, ${JSON.stringify({ state, timeout })});`);
  }
  if (waitForTimeout !== undefined) lines.push(`await page.waitForTimeout(${waitForTimeout});`);
  return lines.join('\n');
}
