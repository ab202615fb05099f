import type { Distribution, Machine } from '../../base/machine.js';

/** Ubuntu's Chromium is a snap, which sees no folder of ours; Amazon Linux has none. */
const PLAYWRIGHT = 'npx playwright install --with-deps --only-shell chromium, and set TROUPE_CHROMIUM to its path';

const INSTALLS: Readonly<Record<Distribution, string>> = {
  debian: 'apt-get install chromium-headless-shell',
  ubuntu: PLAYWRIGHT,
  fedora: 'dnf install chromium-headless',
  rhel: 'dnf install epel-release && dnf install chromium-headless',
  amazon: 'use the docker driver, or set TROUPE_CHROMIUM to a Chromium or Chrome',
  alpine: 'apk add chromium',
  arch: 'pacman -S chromium',
  suse: 'zypper install chromium',
};

/** The command that gives a machine a browser for the process driver. */
export function installBrowser({ platform, distribution }: Machine): string {
  if (platform === 'darwin') return 'brew install --cask google-chrome';
  if (distribution === null) return 'install Chromium or Chrome, or set TROUPE_CHROMIUM to one';
  return INSTALLS[distribution];
}

/** Why the Chromium of the npm registry does not run on a machine, or null where it does. */
export function embeddedRefusal({ platform, arch, libc }: Machine): string | null {
  if (platform !== 'linux' || arch !== 'x64') {
    return `the embedded one is for Linux on x64, and this is ${platform} on ${arch}`;
  }
  return libc?.name === 'musl' ? 'the embedded one needs glibc, and this system has musl' : null;
}
