import { mkdir } from 'node:fs/promises';
import type { Config } from '../config.js';

/** Makes the service's folders where they are not yet. What sessions leave behind is for the service's user alone. */
export async function makeHome({ flowsDir, sessionsDir, tmpDir }: Config): Promise<void> {
  await Promise.all([
    mkdir(flowsDir, { recursive: true }),
    mkdir(sessionsDir, { recursive: true, mode: 0o700 }),
    mkdir(tmpDir, { recursive: true }),
  ]);
}
