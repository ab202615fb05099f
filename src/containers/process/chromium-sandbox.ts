import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { asAbsent } from '../../base/system-fault.js';
import type { BrowserUser } from '../chromium/browser-user.js';

const PROBE_MS = 10_000;
/**
 * A shell command that fails where a process cannot make a user namespace and map its user there, as Chromium's sandbox
 * does. Ubuntu's AppArmor refuses only the second. It succeeds where nobody can say.
 */
export const USER_NAMESPACE_PROBE = 'command -v unshare >/dev/null || exit 0; unshare --user --map-root-user true';

/**
 * Whether Chromium's sandbox can start: by user namespaces, or by the helper with root's rights that the browser at
 * `binary` has beside it.
 * @throws a fault of the system, which says nothing of what the machine offers
 */
export async function canSandbox(binary: string, user: BrowserUser | null): Promise<boolean> {
  return existsSync(join(dirname(await realpath(binary)), 'chrome-sandbox')) || (await hasUserNamespaces(user));
}

/** Whether a process of `user` may make user namespaces; true also where nobody can say. */
export async function hasUserNamespaces(user: BrowserUser | null): Promise<boolean> {
  const asked = promisify(execFile)('sh', ['-c', USER_NAMESPACE_PROBE], {
    ...(user ?? {}),
    cwd: '/',
    timeout: PROBE_MS,
  });
  return asked.then(
    () => true,
    (error) => asAbsent(error) ?? false,
  );
}

/** What lets Chromium's sandbox start where user namespaces are refused, or does without it. */
export async function sandboxRemedy(): Promise<string> {
  const command = await settingThatRefuses();
  const without = 'set TROUPE_CHROMIUM_SANDBOX=false if all pages are your own';
  return command === null
    ? `in a container, ${without}, or give it a seccomp profile that allows them and chroot; or use --driver docker`
    : `${command}, or ${without}`;
}

async function settingThatRefuses(): Promise<string | null> {
  if ((await setting('user/max_user_namespaces')) === '0') return 'sysctl -w user.max_user_namespaces=15000';
  if ((await setting('kernel/apparmor_restrict_unprivileged_userns')) === '1') {
    return 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
  }
  if ((await setting('kernel/unprivileged_userns_clone')) !== '0') return null;
  return 'sysctl -w kernel.unprivileged_userns_clone=1';
}

async function setting(name: string): Promise<string | null> {
  return (await readFile(`/proc/sys/${name}`, 'utf8').catch(() => null))?.trim() ?? null;
}
