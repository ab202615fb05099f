import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onAbort, pause, stretched } from '../../base/deadline.js';
import { sentenceOf } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';
import type { BrowserUser } from '../chromium/browser-user.js';
import type { ChromiumBinary } from '../chromium/chromium-binary.js';
import { chromiumFlags } from '../chromium/chromium-flags.js';
import type { LeaseOptions } from '../driver.js';
import { removeBrowser } from './browser-removal.js';
import { type Confinement, confined } from './confinement.js';
import { answersAtPipe, EXEC_WITH_PIPES, takePipes } from './devtools-pipe.js';
import type { LeaseFolder } from './lease-folder.js';
import type { ProcessNote } from './process-identity.js';
import { type ProcessKey, readProcess } from './process-table.js';
import { startFailure } from './start-failure.js';

const END_MS = stretched(2_000);

/** A Chromium that answers. It outlives this process. */
export interface ChromiumProcess {
  readonly note: ProcessNote;
  /** Settles with the way in which it ended. Never rejects. */
  readonly ended: Promise<string>;
}

/** What is the same for every browser of a driver. */
export interface ChromiumSetting {
  readonly chromium: ChromiumBinary;
  /** Whether Chromium's sandbox is on. */
  readonly sandbox: boolean;
  readonly user: BrowserUser | null;
  readonly smallSharedMemory: boolean;
  readonly confinement: Confinement;
  /** Of the service. */
  readonly ownPort: number;
}

/**
 * Starts a Chromium in `folder`, which must not exist yet, as the leader of a process group and session of its own, and
 * waits until its DevTools answer. Rejects with the signal's reason, or UNAVAILABLE; then nothing is left.
 */
export async function startChromium(
  setting: ChromiumSetting,
  folder: LeaseFolder,
  options: LeaseOptions & { readonly gatePort: number },
  signal: AbortSignal,
): Promise<ChromiumProcess> {
  let note: ProcessNote | null = null;
  let starting = true;
  // Ends every wait below: the caller's signal, or the browser's own end.
  const cut = new AbortController();
  const forget = onAbort(signal, () => cut.abort(signal.reason));
  try {
    signal.throwIfAborted();
    await folder.create(setting.user);
    const { pid, startTicks, ended } = await spawnChromium(setting, folder, options);
    note = { leaseId: options.leaseId, pid, startTicks, binary: setting.chromium.path };
    void ended.then(async (how) => {
      if (!starting) return;
      cut.abort(await startFailure(setting.chromium.path, how, await folder.exitOutput().catch(() => '')));
    });
    await folder.writeNote(note);
    await takePipes(folder, cut.signal);
    if (!(await answersAtPipe(folder, cut.signal))) {
      // Its pipe closes with the browser, a moment before its end and the reason for it are known.
      await pause(END_MS, { signal: cut.signal }).catch(() => undefined);
      cut.signal.throwIfAborted();
      throw new TroupeError('UNAVAILABLE', 'The browser closed its DevTools before they answered');
    }
    return { note, ended };
  } catch (cause) {
    await removeBrowser(folder, note);
    throw cause;
  } finally {
    starting = false;
    forget();
  }
}

async function spawnChromium(
  { chromium, sandbox, user, smallSharedMemory, confinement, ownPort }: ChromiumSetting,
  folder: LeaseFolder,
  options: LeaseOptions & { readonly gatePort: number },
): Promise<ProcessKey & { readonly ended: Promise<string> }> {
  const { profile, home, temporary, downloads, uploads, newPipeIn, newPipeOut, newPipesReady } = folder;
  const { gatePort } = options;
  const { headlessShell } = chromium;
  const flags = chromiumFlags(options, { profile, headlessShell, sandbox, smallSharedMemory, gatePort, ownPort });
  const [command = '', ...args] = confined(
    confinement,
    { writable: [profile, home, temporary, downloads], readable: [uploads] },
    ['sh', '-c', EXEC_WITH_PIPES, 'sh', newPipeIn, newPipeOut, newPipesReady, chromium.path, ...flags],
  );
  const log = await folder.openLog();
  try {
    const child = spawn(command, args, {
      // A session of its own: no signal to the service's terminal reaches it, and it lives on when the service dies.
      detached: true,
      ...(user ?? {}),
      cwd: home,
      stdio: ['ignore', log.fd, log.fd],
      // Nothing of the service's environment, which holds keys, is the browser's to know.
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: home,
        TMPDIR: temporary,
        XDG_CONFIG_HOME: `${home}/.config`,
        XDG_CACHE_HOME: `${home}/.cache`,
        XDG_DATA_HOME: `${home}/.local/share`,
        XDG_RUNTIME_DIR: temporary,
        LANG: 'C.UTF-8',
        // Where GLib is used, the language comes from here and not from --lang.
        LANGUAGE: (options.locale ?? 'en-US').replaceAll('-', '_'),
        ...chromium.env,
      },
    });
    child.unref();
    if (child.pid === undefined) {
      const [cause]: unknown[] = await once(child, 'error');
      throw new TroupeError('UNAVAILABLE', `${chromium.path} cannot be started: ${sentenceOf(cause)}`, undefined, {
        cause,
      });
    }
    // Before anything is waited for: a program that ends at once ends now, and until its end was seen here its pid is no
    // other's.
    const ended = endOf(child);
    return { pid: child.pid, startTicks: readProcess(child.pid)?.startTicks ?? 0, ended };
  } finally {
    await log.close();
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`);
    });
  });
}
