import { renderSections, WORKING_RULES } from './sections.js';

/** What the document is made of. */
export interface SessionDocument {
  /** Where a session is created first; undefined if the document is for one session. Then the others contain `$ID`. */
  readonly createUrl?: string;
  /** Whole URLs, as the reader of the document calls the service. */
  readonly proxyUrl: string;
  readonly recordUrl: string;
  /** Whether a request must bring a token. */
  readonly needsToken: boolean;
  /** In milliseconds: until the session ends, and after how long without a script; null: not known. */
  readonly timeLeft?: { readonly hardMs: number; readonly idleMs: number } | null;
  readonly flows: readonly { readonly path: string; readonly about: string }[];
}

/** Flows take at most so much of the document; the rest is counted. */
const MAX_FLOW_CHARS = 480;
const MAX_ABOUT_CHARS = 100;

/**
 * All that a model which does not know Troupe needs to drive a session over HTTP, or to create one first. Markdown, at most
 * 1,500 tokens (o200k) whatever flows there are.
 */
export function sessionDocument(parts: SessionDocument): string {
  const { createUrl, proxyUrl, recordUrl, needsToken, timeLeft, flows } = parts;
  const token = needsToken ? ' -H "Authorization: Bearer $TOKEN"' : '';
  const browser =
    createUrl === undefined ? 'A real browser waits for your scripts.' : 'Start a real browser of your own.';
  const create = createUrl === undefined ? '' : `ID=$(curl -s${token} -X POST ${createUrl} | jq -r .id)\n`;
  const js = 'agent.go(\\"https://example.com/\\"); agent.look()';
  return `# Drive a browser

${browser} Send a script and get the value of its last expression, as JSON:

\`\`\`sh
${create}curl -s ${proxyUrl}${token} -d '{"js": "${js}"}'
\`\`\`

200 is the result. Anything else is {error, code, details}, with the line of the script and the page's url and title.
SESSION_ENDED: the browser is gone. CAPACITY: wait as Retry-After says.${limits(timeLeft ?? null)} When you are done:
\`curl -s -X DELETE ${recordUrl}${token}\`

## How to work

${WORKING_RULES}

${renderSections(undefined, 2, 'json')}

${flowList(flows)}
`;
}

function limits(timeLeft: SessionDocument['timeLeft']): string {
  if (timeLeft === undefined || timeLeft === null) return '';
  const [hard, idle] = [inMinutes(timeLeft.hardMs), inMinutes(timeLeft.idleMs)];
  return ` The session ends in ${hard}, or after ${idle} without a script.`;
}

/** At least a minute. */
export function inMinutes(ms: number): string {
  const minutes = Math.max(1, Math.floor(ms / 60_000));
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}

function flowList(flows: SessionDocument['flows']): string {
  if (flows.length === 0) return 'There are no flows yet.';
  const lines: string[] = [];
  let chars = 0;
  for (const { path, about } of flows) {
    const short = about.length > MAX_ABOUT_CHARS ? `${about.slice(0, MAX_ABOUT_CHARS)}…` : about;
    const line = `- ${path}${short === '' ? '' : `: ${short}`}`;
    if (chars + line.length > MAX_FLOW_CHARS) break;
    chars += line.length;
    lines.push(line);
  }
  const rest = flows.length - lines.length;
  if (rest > 0) lines.push(`- ${rest} more: File.list()`);
  return `Flows that there are:\n\n${lines.join('\n')}`;
}
