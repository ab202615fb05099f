import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { openBrowser } from '#troupe/terminal/open-browser.js';

/** An opened window. */
export interface OpenedWindow {
  /** Settles when its user closes it; null if that cannot be known, as for a tab of the default browser. */
  readonly closed: Promise<void> | null;
  /** Why nothing was opened, for the terminal; null if it was. */
  readonly problem: string | null;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface OpenWindowOptions {
  /** The user's BROWSER variable. */
  readonly browser: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
  /** Browsers refuse to run as root with their sandbox. */
  readonly root?: boolean;
}

const NAMES = [
  'google-chrome',
  'google-chrome-stable',
  'chromium',
  'chromium-browser',
  'microsoft-edge',
  'brave-browser',
];
const PLACES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: [
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
  ],
};

/**
 * Opens a window if there is a Chromium or Chrome and a screen, with a profile for this start only, so that its process
 * lives exactly as long as the window. Otherwise opens a tab of the default browser, or of `BROWSER`.
 */
export async function openWindow(url: string, options: OpenWindowOptions): Promise<OpenedWindow> {
  const { browser, env = process.env, platform = process.platform, root = process.getuid?.() === 0 } = options;
  const screen = platform !== 'linux' || Boolean(env.DISPLAY ?? env.WAYLAND_DISPLAY);
  const program = browser === undefined && screen && !root ? await findBrowser(env, platform) : null;
  if (program !== null) return await appWindow(program, url);
  const none = { closed: null, close: async () => undefined };
  if (browser === undefined && !screen) return { ...none, problem: 'There is no screen: open the URL in a browser' };
  try {
    await openBrowser(url, browser, platform);
    return { ...none, problem: null };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ...none, problem: `No browser could be opened (${why}): open the URL in one, or set BROWSER` };
  }
}

async function findBrowser(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): Promise<string | null> {
  const inPath = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = PLACES[platform] ?? NAMES.flatMap((name) => inPath.map((folder) => join(folder, name)));
  for (const path of candidates) {
    const there = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (there) return path;
  }
  return null;
}

async function appWindow(program: string, url: string): Promise<OpenedWindow> {
  const profile = await mkdtemp(join(tmpdir(), 'troupe-window-'));
  const flags = ['--no-first-run', '--no-default-browser-check', '--window-size=1400,900'];
  const child = spawn(program, [`--app=${url}`, `--user-data-dir=${profile}`, ...flags], { stdio: 'ignore' });
  const ended = once(child, 'exit').then(
    () => undefined,
    () => undefined,
  );
  let closing: Promise<void> | null = null;
  return {
    closed: ended,
    problem: null,
    close() {
      closing ??= (async () => {
        child.kill();
        await ended;
        await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
      })();
      return closing;
    },
  };
}
