import { access, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type JoinedFlow, MAX_UNPACKED_BYTES } from '../../../protocol/batches/joined.js';
import { encodeError } from '../../../protocol/errors.js';
import type { Failure } from '../../../protocol/report/failure.js';
import { type JoinedPart, joinedPart } from '../../../report/suite/joined-flow.js';
import type { FlowResult } from '../../../report/suite/suite-result.js';
import { removeRetries, unpackArtifacts } from '../owned-files.js';
import type { Coordinator } from './coordinator.js';
import type { JoinedOutcome } from './joined-run.js';

const PICTURE = /^screenshots\/([^/\\]+\.(?:png|jpe?g|webp))$/;
/** Zips that are fetched and unpacked at a time. */
const AT_ONCE = 2;

/** A joined run, and where its reports are. */
export interface JoinedReports extends JoinedOutcome {
  /** The report folder; undefined if none is wanted. */
  readonly dir: string | undefined;
  /** The folder of an attempt below the report folder; attempts from 0. */
  folderOf(index: number, attempt: number): string;
}

/**
 * Fetches the artifacts of all flows of a joined batch, whatever machine ran them.
 * @returns what could not be fetched, one sentence each
 */
export async function fetchJoined({ coordinator, flows, dir, folderOf }: JoinedReports): Promise<readonly string[]> {
  if (dir === undefined) return [];
  const faults: string[] = [];
  const wanted = [...flows].flatMap(([index, { attempts }]) =>
    attempts.flatMap(({ attempt, artifacts }) =>
      artifacts === null ? [] : [{ artifacts, folder: folderOf(index, attempt - 1) }],
    ),
  );
  const left = wanted.values();
  const fetchNext = async () => {
    for (const { artifacts, folder } of left) {
      try {
        await fetchOne(coordinator, artifacts, join(dir, folder));
      } catch (error) {
        faults.push(`${folder}: its report could not be fetched: ${encodeError(error).error}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fetchNext));
  const used = new Set(wanted.map(({ folder }) => join(dir, folder)));
  for (const index of flows.keys()) await removeRetries(join(dir, folderOf(index, 0)), (one) => used.has(one));
  return faults.sort();
}

async function fetchOne(coordinator: Coordinator, artifacts: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const temporary = await mkdtemp(join(folder, '.zip-'));
  try {
    const file = join(temporary, 'artifacts.zip');
    await coordinator.download(artifacts, file);
    await unpackArtifacts(file, folder, MAX_UNPACKED_BYTES);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** What a joined batch says of a flow. @param at a failure with the file in this checkout */
export async function joinedResult(
  { dir, folderOf }: JoinedReports,
  index: number,
  flow: JoinedFlow,
  at: (failure: Failure) => Failure,
): Promise<JoinedPart & Pick<FlowResult, 'report' | 'picture'>> {
  const part = joinedPart(flow, at);
  const last = flow.attempts.at(-1);
  const folder = last === undefined || last.artifacts === null ? null : folderOf(index, last.attempt - 1);
  const inFolder = async (path: string) => {
    const file = dir === undefined || folder === null ? null : join(dir, folder, path);
    return file !== null && (await exists(file)) ? file : null;
  };
  const [, picture] = PICTURE.exec(part.failure?.screenshot ?? '') ?? [];
  return {
    ...part,
    report: await inFolder('report.html'),
    picture: picture === undefined ? null : await inFolder(`screenshots/${picture}`),
  };
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
