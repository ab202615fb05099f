import { randomUUID } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { stretched } from '../../base/deadline.js';
import { writeFile } from '../../files/thread-files.js';
import { TroupeError } from '../../protocol/errors.js';
import { type Bounds, remainingMs, within } from '../browser/bounds.js';
import { pathInside, readInside } from '../flows/flow-folder.js';
import type { Tab } from '../tabs/tab.js';
import { dropFiles } from './drag.js';
import type { Point } from './pointer.js';

/** A chooser that is not open by then is waited for only where files cannot be dropped; then that long. */
const SOON_MS = stretched(1_000);
const CHOOSER_MS = stretched(2_000);

/** As much as `File.write` writes. */
const MAX_WRITTEN_BYTES = 1024 * 1024;

interface Upload {
  readonly names: readonly string[];
  /** Where the named files lie. */
  readonly dir: string;
  /** Where scripts write files, which are copied for the browser; null: nowhere. */
  readonly flowsDir: string | null;
  /** For errors. */
  readonly locator: string;
  /** The element of the action under way is a file input; otherwise `click` makes it open the chooser of one. */
  readonly isInput: boolean;
  /** Where it is. */
  readonly point: Point;
  click(): Promise<void>;
}

/** Gives files to a file input, or lets them go over a place that takes them. @throws ACTION_FAILED */
export async function uploadFiles(
  tab: Tab,
  upload: Upload,
  { bounds, after }: { readonly bounds: Bounds; readonly after: Bounds },
): Promise<void> {
  const files = await uploadPaths(upload, upload.names);
  if (upload.isInput) {
    const objectId = await tab.targetNode(bounds);
    if (objectId === null) throw new TroupeError('ACTION_FAILED', `${upload.locator} is gone`);
    await tab.sendToActing('DOM.setFileInputFiles', { files, objectId }, Math.max(1, remainingMs(bounds)));
    await tab.sendToActing('Runtime.releaseObject', { objectId }).catch(() => undefined);
    return;
  }
  tab.fileChooser = null;
  await tab.sendToActing('Page.setInterceptFileChooserDialog', { enabled: true });
  try {
    await upload.click();
    const isOpen = (): boolean => tab.fileChooser !== null;
    const timeoutMs = Math.max(1_000, remainingMs(after));
    const taken = async (): Promise<boolean> => (await tab.askAny('takesDrop', null, after)).taken;
    if (!(await tab.until(isOpen, within(after, SOON_MS)))) {
      if (await dropFiles(tab, upload.point, files, { taken, timeoutMs })) return;
      await tab.until(isOpen, within(after, CHOOSER_MS));
    }
    const chooser = tab.fileChooser as Tab['fileChooser'];
    if (chooser === null) {
      throw new TroupeError('ACTION_FAILED', `${upload.locator} opens no file chooser, and accepts no dropped files`);
    }
    if (files.length > 1 && !chooser.multiple) {
      throw new TroupeError('ACTION_FAILED', `${upload.locator} takes one file at a time`);
    }
    await tab.sendToActing('DOM.setFileInputFiles', { files, backendNodeId: chooser.node });
  } finally {
    await tab.sendToActing('Page.setInterceptFileChooserDialog', { enabled: false }).catch(() => undefined);
  }
}

/** The paths of files that a script names, which lie in the session's uploads folder. @throws ACTION_FAILED */
export async function uploadPaths(from: UploadFolders, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) throw new TroupeError('ACTION_FAILED', 'upload takes the name of a file');
  return Promise.all(names.map((name) => uploadPath(from, name)));
}

/** Where files to upload lie, and where scripts write. */
export type UploadFolders = Pick<Upload, 'dir' | 'flowsDir'>;

async function uploadPath({ dir, flowsDir }: UploadFolders, name: string): Promise<string> {
  if (isFileName(name)) {
    const path = join(dir, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() === true) return path;
  }
  const text = flowsDir === null ? null : await writtenText(flowsDir, name);
  if (text !== null) return copied(dir, name, text);
  if (!isFileName(name)) {
    throw new TroupeError('ACTION_FAILED', `${JSON.stringify(name)} is not a file name: use a name without a path`);
  }
  const how = "PUT it to the session's files, or make it with File.write";
  throw new TroupeError('ACTION_FAILED', `There is no file ${JSON.stringify(name)} to upload; ${how}`);
}

function isFileName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

/** What a script has written under a path; null where there is nothing, or the path leads elsewhere. */
async function writtenText(flowsDir: string, path: string): Promise<string | null> {
  try {
    pathInside(flowsDir, path);
    return await readInside(flowsDir, path, MAX_WRITTEN_BYTES);
  } catch (error) {
    if (error instanceof TroupeError && error.code === 'SCRIPT_ERROR') return null;
    throw error;
  }
}

/** The browser reads its uploads folder alone. Each time anew: the script may have written the file again. */
async function copied(dir: string, path: string, text: string): Promise<string> {
  const folder = join(dir, `written-${randomUUID()}`);
  await mkdir(folder, { mode: 0o755 });
  const target = join(folder, basename(path));
  await writeFile(target, text);
  return target;
}
