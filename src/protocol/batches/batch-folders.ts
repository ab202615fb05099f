import { safeFileName } from '../file-name.js';

/** The members of a job that its folder is named after. */
interface NamedJob {
  readonly id: string;
  readonly name: string | null;
  readonly flowFiles: readonly string[];
}

/**
 * The folder of each job in a batch's zip, by job id: its name, or its first flow's path, with a number if several have
 * the same. Safe as a path on any system.
 * @param jobs in the order of submission
 */
export function batchFolders(jobs: readonly NamedJob[]): ReadonlyMap<string, string> {
  const folders = new Map<string, string>();
  const taken = new Set<string>();
  for (const { id, name, flowFiles } of jobs) {
    const wanted = safePath(name ?? flowFiles[0]?.replace(/\.(js|ts|md)$/, '') ?? '');
    let folder = wanted;
    // Some systems do not distinguish folders by case.
    for (let n = 2; taken.has(folder.toLowerCase()); n += 1) folder = `${wanted}-${n}`;
    taken.add(folder.toLowerCase());
    folders.set(id, folder);
  }
  return folders;
}

function safePath(text: string): string {
  const segments = text
    .split('/')
    .map((segment) => safeFileName(segment).slice(0, 80))
    .map((segment) => segment.replace(/[. ]+$/, '').replace(/^\.+/, ''))
    .filter((segment) => segment !== '');
  return segments.slice(0, 8).join('/') || 'job';
}
