import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { VideoFailure } from '../protocol/report/report.js';

/** The names of a session's videos in its folder: one for each browser that it had. */
export const VIDEO = /^video(-\d+)?\.mp4$/;

/** The file in a session's folder with the failures of its videos, one JSON object a line; it is in no archive. */
export const VIDEO_FAILURES = '.video-failures.jsonl';
/** The most failures of a session that are listed: a job may have many attempts. */
const MAX_FAILURES = 100;

/** The failures of a session's videos; none if there is no such file. */
export async function videoFailures(dir: string): Promise<readonly VideoFailure[]> {
  const text = await readFile(join(dir, VIDEO_FAILURES), 'utf8').catch(() => '');
  const lines = text.split('\n').slice(0, MAX_FAILURES);
  return lines.flatMap((line) => {
    const failure = VideoFailure.safeParse(parsed(line));
    return failure.success ? [failure.data] : [];
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
