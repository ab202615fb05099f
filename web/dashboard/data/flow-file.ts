import type { AcceptedBatch } from '../../../src/protocol/batches/batch.js';
import type { SavedFlow } from '../../../src/protocol/flow-tree.js';
import { ApiError, call, callText, fetchText, type TaggedText } from './api.js';

/** The address of a flow or task file in the API, by its path with extension. */
export function flowApiPath(path: string): string {
  return `api/flows/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/**
 * Saves a flow or task file.
 * @param etag of the text that was changed: another one is not overwritten; null: the file must not exist yet
 * @throws ApiError, with the status 412 if somebody else changed or created it
 */
export async function saveFlow(
  path: string,
  text: string,
  etag: string | null,
): Promise<{ readonly saved: SavedFlow; readonly etag: string }> {
  const headers = etag === null ? { 'If-None-Match': '*' } : { 'If-Match': etag };
  const answer: TaggedText = await fetchText(flowApiPath(path), { method: 'PUT', body: text, headers });
  const saved: SavedFlow = JSON.parse(answer.text);
  return { saved, etag: answer.etag };
}

/** Flows that a flow runs are sent along; more of them are not. */
const MAX_FLOWS = 100;
const RUNS = /Flow\.run\(\s*(['"`])([\w./ -]+)\1/g;
/** A line that begins a statement, as far as its text shows. */
const STATEMENT =
  /^\s*(?:(?:const|let|var|if|for|while|do|try|return|throw|await)\b|(?:agent|page|context|expect|match|Flow|File|Request|console)\b\s*[.(])/;

/** Whether a person can be waited for before a line: it begins a statement within a function. `line` is 1-based. */
export function canStopBefore(text: string, line: number): boolean {
  const lines = text.split('\n');
  const before = lines.slice(0, line - 1).filter((one) => one.trim() !== '' && !/^\s*(?:\/\/|\*|\/\*)/.test(one));
  return before.length > 0 && /[;{}]\s*(?:\/\/.*)?$/.test(before.at(-1) ?? '') && STATEMENT.test(lines[line - 1] ?? '');
}

/**
 * Runs a text as a flow, as a batch of one job with its own flows, so that nothing needs to be saved. With `line` a person is
 * waited for before that line, with the browser to look at and to control; the line numbers stay.
 * @returns the id of its session
 */
export async function runText(
  path: string,
  text: string,
  { line, args }: { readonly line: number | null; readonly args: { readonly [name: string]: unknown } },
): Promise<string> {
  const flows: { [path: string]: string } = { [path]: line === null ? text : stoppedBefore(text, line) };
  const wanted = namedIn(text);
  for (const name of wanted) {
    if (Object.keys(flows).length >= MAX_FLOWS) break;
    const found = await sourceOf(name);
    // The run itself says that a flow does not exist.
    if (found === null || found.path in flows) continue;
    flows[found.path] = found.text;
    for (const more of namedIn(found.text)) if (!wanted.includes(more)) wanted.push(more);
  }
  const job = { prompt: path, name: path, flowFiles: [path], maxIterations: 0, args };
  const name = line === null ? path : `${path}, until line ${line}`;
  const { jobs } = await call<AcceptedBatch>('POST', 'api/batches', { name, flows, jobs: [job] });
  return jobs[0] ?? '';
}

function stoppedBefore(text: string, line: number): string {
  const message = `Stopped before line ${line}. Answer to continue.`;
  const lines = text.split('\n');
  const at = line - 1;
  lines[at] = `agent.handoff(${JSON.stringify(message)}); ${lines[at] ?? ''}`;
  return lines.join('\n');
}

function namedIn(text: string): string[] {
  return [...text.matchAll(RUNS)].map(([, , name = '']) => name);
}

async function sourceOf(name: string): Promise<{ readonly path: string; readonly text: string } | null> {
  const files = /\.[jt]s$/.test(name) ? [name] : [`${name}.js`, `${name}.ts`];
  for (const path of files) {
    try {
      return { path, text: await callText(flowApiPath(path)) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
  }
  return null;
}
