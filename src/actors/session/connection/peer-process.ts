import { readdir, readlink } from 'node:fs/promises';
import { readFile } from '../../../files/thread-files.js';

/**
 * Whether a TCP connection of 127.0.0.1 comes from a process: one of its open files is the socket of the client's end.
 * Linux alone; elsewhere false.
 * @param client the client's port
 * @param server the port that it connected to
 */
export async function comesFrom(pid: number, client: number, server: number): Promise<boolean> {
  try {
    const inode = inodeOf((await readFile('/proc/net/tcp')).toString('latin1'), client, server);
    if (inode === null) return false;
    const files = await readdir(`/proc/${pid}/fd`);
    const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
    return links.includes(`socket:[${inode}]`);
  } catch {
    return false;
  }
}

/** The inode of the client's socket in a table of the form of /proc/net/tcp; null if it is not there. */
export function inodeOf(table: string, client: number, server: number): string | null {
  const from = `0100007F:${hex(client)}`;
  const to = `0100007F:${hex(server)}`;
  for (const line of table.split('\n')) {
    const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/);
    if (local === from && remote === to) return inode ?? null;
  }
  return null;
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}
