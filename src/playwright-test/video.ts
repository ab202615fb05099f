import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PlaywrightWorkerOptions, TestInfo } from '@playwright/test';
import type { Session } from '../client/index.js';
import { unpackZip } from '../files/unpack-zip.js';

/** As the service names them. */
const VIDEO = /^video(-\d+)?\.mp4$/;

type Video = PlaywrightWorkerOptions['video'];

function modeOf(video: Video): string {
  return typeof video === 'string' ? video : (video?.mode ?? 'off');
}

/** Whether a test's session is recorded. */
export function isRecorded(video: Video, { retry }: TestInfo): boolean {
  switch (modeOf(video)) {
    case 'on':
    case 'retain-on-failure':
    case 'retain-on-failure-and-retries':
      return true;
    case 'on-first-retry':
    case 'retry-with-video':
      return retry === 1;
    case 'on-all-retries':
      return retry > 0;
    case 'retain-on-first-failure':
      return retry === 0;
    default:
      return false;
  }
}

/** Whether the video of a test that has ended is part of its results. */
export function isKept(video: Video, { status, expectedStatus, retry }: TestInfo): boolean {
  const mode = modeOf(video);
  if (!mode.startsWith('retain')) return true;
  return status !== expectedStatus || (mode === 'retain-on-failure-and-retries' && retry > 0);
}

/** Attaches the videos of a session that has ended to its test. @returns how many there were */
export async function attachVideos(session: Session, info: TestInfo): Promise<number> {
  await mkdir(info.outputDir, { recursive: true });
  const folder = await mkdtemp(join(info.outputDir, 'session-'));
  const zip = join(folder, 'session.zip');
  await pipeline(Readable.fromWeb(await session.download()), createWriteStream(zip));
  await unpackZip(zip, folder, { wanted: (name) => VIDEO.test(name) });
  await rm(zip);
  const videos = (await readdir(folder)).sort();
  for (const name of videos) await info.attach('video', { path: join(folder, name), contentType: 'video/mp4' });
  await rm(folder, { recursive: true });
  return videos.length;
}
