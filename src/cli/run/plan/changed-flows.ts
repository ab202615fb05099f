import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { posix } from 'node:path';
import { text } from 'node:stream/consumers';
import { calledFlows } from '../../../agent-js/flows/called-flows.js';
import { flowOfFile, hookOf, isFlowFile } from '../../../base/flow-file.js';
import { UsageError } from '../../../terminal/failure.js';
import type { RunFiles } from './run-files.js';

/** A baseline lies beside its flow: `shop/buy.baselines/cart-docker-linux.png`. */
const BASELINE = /^(.*)\.baselines\/[^/]+$/s;
/** Files of a flows folder that no flow reads. */
const UNREAD = /(^|\/)quarantine\.json$|\.d\.ts$/;

/**
 * The files of a folder that differ from a commit, and those that git does not know, with forward slashes, from the
 * folder.
 * @throws UsageError if git does not know the folder or the commit
 */
export async function changedFiles(root: string, ref: string): Promise<ReadonlySet<string>> {
  const differing = await git(root, ref, [
    'diff',
    '--name-only',
    '-z',
    '--relative',
    '--end-of-options',
    ref,
    '--',
    '.',
  ]);
  const added = await git(root, ref, ['ls-files', '-z', '--others', '--exclude-standard', '--', '.']);
  return new Set([...differing, ...added]);
}

async function git(cwd: string, ref: string, args: readonly string[]): Promise<readonly string[]> {
  const child = spawn('git', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const failed = once(child, 'error').then(([error]) => {
    throw new UsageError(`--changed needs git: ${String(error instanceof Error ? error.message : error)}`);
  });
  const closed = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const [output, complaint, [code]] = await Promise.race([closed, failed]);
  failed.catch(() => undefined);
  if (code === 0) return output.split('\0').filter((path) => path !== '');
  throw new UsageError(`--changed: git cannot compare ${cwd} with '${ref}': ${complaint.trim().split('\n')[0]}`);
}

/**
 * The named files that a change concerns: those that changed, that run a flow which did, or whose folder has a `_setup` or
 * `_teardown` that did. A flow that computes the name of a flow may run any, and a file that is no flow may be read by any.
 * @param changed paths in the flows folder
 */
export function concernedFiles({ named, texts }: RunFiles, changed: ReadonlySet<string>): ReadonlySet<string> {
  const flows = new Set<string>();
  for (const path of changed) {
    if (UNREAD.test(path)) continue;
    const owner = isFlowFile(path) ? flowOfFile(path) : (BASELINE.exec(path)?.[1] ?? null);
    if (owner !== null) flows.add(owner);
    else if (path.endsWith('.md')) flows.add(path);
    else if (Object.hasOwn(texts, path) || /\.(json|csv|txt)$/.test(path)) return new Set(named);
  }
  if (flows.size === 0) return new Set();
  const files = new Map(
    Object.keys(texts)
      .filter(isFlowFile)
      .map((file) => [flowOfFile(file), file]),
  );
  const known = new Map<string, boolean>();
  const isConcerned = (flow: string): boolean => {
    const before = known.get(flow);
    if (before !== undefined) return before;
    // Flows may run one another.
    known.set(flow, flows.has(flow));
    const file = files.get(flow);
    if (flows.has(flow) || file === undefined) return flows.has(flow);
    const { names, others } = calledFlows(file, texts[file] ?? '');
    const concerned = others || [...names].some(isConcerned);
    known.set(flow, concerned);
    return concerned;
  };
  const hooks = [...files.values()].filter((file) => hookOf(file) !== null && isConcerned(flowOfFile(file)));
  const hookOfFolder = (path: string) => hooks.some((hook) => isIn(posix.dirname(hook), path));
  return new Set(
    named.filter((path) => (isFlowFile(path) ? isConcerned(flowOfFile(path)) : flows.has(path)) || hookOfFolder(path)),
  );
}

function isIn(folder: string, path: string): boolean {
  return folder === '.' || path.startsWith(`${folder}/`);
}

/** The files that a change since a commit concerns; null: all. @throws UsageError as {@link changedFiles} */
export async function concernedByChange(ref: string | undefined, files: RunFiles): Promise<ReadonlySet<string> | null> {
  if (ref === undefined || files.root === null) return null;
  return concernedFiles(files, await changedFiles(files.root, ref));
}
