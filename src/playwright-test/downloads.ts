import { createReadStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { BrowserContext, Download, Page, TestInfo } from '@playwright/test';
import { type Session, TroupeError } from '../client/index.js';

interface Finished {
  readonly name: string;
  readonly url: string;
}

/**
 * The browser saves downloads on the service's machine: `saveAs`, `path` and `createReadStream` fetch them from there.
 */
export function fetchDownloads(context: BrowserContext, session: Session, info: TestInfo): void {
  const begun: Download[] = [];
  const follow = (page: Page) =>
    page.on('download', (download) => {
      const earlier = begun.filter((one) => one.url() === download.url());
      begun.push(download);
      takeOver(download, earlier, session, info.outputPath(`download-${begun.length}`));
    });
  context.pages().forEach(follow);
  context.on('page', follow);
}

/** @param earlier downloads from the same address: the session lists them in the order in which they finished */
function takeOver(download: Download, earlier: readonly Download[], session: Session, ownPath: string): void {
  const saveAs = async (path: string): Promise<void> => {
    const failure = await download.failure();
    if (failure !== null) throw new TroupeError('ACTION_FAILED', `The download failed: ${failure}`);
    const finished = await session.run<readonly Finished[]>('agent.downloads()');
    const failures = await Promise.all(earlier.map((one) => one.failure()));
    const nth = failures.filter((one) => one === null).length;
    const found = finished.filter(({ url }) => url !== '' && download.url().startsWith(url))[nth];
    if (found === undefined) throw new TroupeError('ACTION_FAILED', `The session has no download of ${download.url()}`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, await session.files.get(found.name));
  };
  let own: Promise<string> | null = null;
  const path = (): Promise<string> => {
    own ??= saveAs(ownPath).then(() => ownPath);
    return own;
  };
  Object.assign(download, { saveAs, path, createReadStream: async () => createReadStream(await path()) });
}
