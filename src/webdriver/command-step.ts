/** A command of WebDriver: the path below `/session/{id}/`, and the body. */
export interface Command {
  readonly method: string;
  readonly path: string;
  readonly body: { readonly [name: string]: unknown };
}

const MAX_TEXT = 300;
const MASK = '••••••••';

/** Commands that look for elements, or only set a timeout: as with scripts, the transcript shows what acts. */
const QUIET =
  /^(?:elements?|active|element\/[^/]+\/elements?|shadow\/[^/]+\/elements?|timeouts|frame(?:\/parent)?|print|se\/file)$/;

/** What the transcript shows of a command; null for one that only reads. @param isSecret typed text is hidden */
export function stepOf({ method, path, body }: Command, isSecret: boolean): { method: string; js: string } | null {
  if (method === 'GET' || QUIET.test(path)) return null;
  const segments = path.split('/').map((segment) => (segment.length > 40 ? `${segment.slice(-6)}` : segment));
  const name = path.replace(/^(element|shadow|cookie)\/[^/]+/, '$1').replaceAll('/', '.');
  const target = /^(?:element|shadow|cookie)$/.test(segments[0] ?? '') ? [JSON.stringify(segments[1] ?? '')] : [];
  const shown = [...target, ...shownArguments(path, body, isSecret)].join(', ');
  return { method: name, js: `webdriver.${name}(${shown})`.slice(0, MAX_TEXT) };
}

/** Whether the command types into an element. */
export function typesInto({ method, path }: Command): string | null {
  return method === 'POST' ? (/^element\/([^/]+)\/value$/.exec(path)?.[1] ?? null) : null;
}

function shownArguments(path: string, { url, text, script, name, type, handle }: Command['body'], isSecret: boolean) {
  if (path === 'url') return [quoted(withoutPassword(url))];
  if (/\/value$/.test(path)) return [quoted(isSecret ? MASK : text)];
  if (path === 'alert/text') return [quoted(MASK)];
  if (path.startsWith('execute/')) return [quoted(script)];
  // The keys of actions may be those of a password; a cookie's value may be a session's.
  if (path === 'actions' || path === 'cookie') return [];
  return [name, type, handle].filter((value) => typeof value === 'string').map(quoted);
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, MAX_TEXT)) : '';
}

function withoutPassword(url: unknown): unknown {
  if (typeof url !== 'string' || !URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.password === '') return url;
  parsed.password = MASK;
  return parsed.href;
}
