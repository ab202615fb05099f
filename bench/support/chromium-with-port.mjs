import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { COMMON_FLAGS } from '#troupe/containers/chromium/chromium-flags.js';

/**
 * A headless Chromium with a DevTools port, for clients that cannot be given one of Troupe's, which have none: the same
 * flags, a profile of its own (in the folder that is given). `close` ends it with all its processes and removes the profile.
 */
export async function openChromiumWithPort(
  { path, env, headlessShell },
  { width = 1280, height = 720 } = {},
  profile = mkdtempSync(join(tmpdir(), 'p-')),
) {
  const user = process.geteuid?.() === 0 ? { uid: 1000, gid: 1000 } : {};
  if (user.uid !== undefined) chownSync(profile, user.uid, user.gid);
  const flags = [
    headlessShell ? '--headless' : '--headless=new',
    `--user-data-dir=${profile}/profile`,
    '--remote-debugging-address=127.0.0.1',
    '--remote-debugging-port=0',
    '--enable-automation',
    '--force-device-scale-factor=1',
    ...COMMON_FLAGS,
    // As the process driver's browsers, where `npm test` finds that Chromium's sandbox cannot start.
    ...(process.env.TROUPE_CHROMIUM_SANDBOX === 'false' ? ['--no-sandbox', '--disable-dev-shm-usage'] : []),
    `--window-size=${width},${height}`,
    'about:blank',
  ];
  const child = spawn(path, flags, {
    ...user,
    cwd: profile,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/bin:/bin', HOME: profile, TMPDIR: profile, LANG: 'C.UTF-8', ...env },
  });
  const gone = once(child, 'exit');
  const close = async () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
    await gone;
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  };
  const lines = createInterface({ input: child.stderr });
  try {
    const cdpUrl = await new Promise((resolve, reject) => {
      lines.on('line', (line) => {
        const [, url] = /DevTools listening on (ws:\S+)/.exec(line) ?? [];
        if (url !== undefined) resolve(url);
      });
      gone.then(() => reject(new Error(`${path} ended before it listened`)), reject);
    });
    return { cdpUrl, pid: child.pid, close };
  } catch (error) {
    await close();
    throw error;
  }
}
