// What a user of Docker does without a service: `docker run` of the same image, Playwright connected to it.
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { chromium as playwright } from 'playwright-core';
import { readConfig } from '#troupe/config.js';
import { workerFlags } from '#troupe/containers/docker/worker-flags.js';
import { WORKER_SOURCES } from '#troupe/containers/docker/worker-image.js';
import { bridgeAddress, usableDocker } from '#troupe/service/choose-driver.js';
import { openSite } from './open-site.mjs';

const READY_MS = 30_000;
/** The image's own entry, and a relay that a published port reaches. */
const ENTRY = 'socat TCP-LISTEN:9223,fork,reuseaddr TCP:127.0.0.1:9222 & exec worker "$@"';

/** `lifecycle` runs a container, connects, opens `html` in a page and removes the container. */
export async function aloneInDocker(html) {
  const found = await usableDocker(readConfig({}, { ...process.env, TROUPE_HOME: '/nonexistent' }));
  if ('why' in found) throw new Error(`${found.why}; ${found.remedy}`);
  const site = await openSite(html, await bridgeAddress(found.engine));
  const options = { viewport: { width: 1280, height: 720 } };
  const flags = workerFlags(options, 1).filter((flag) => !flag.startsWith('--proxy-'));
  const words = ['--detach', '--publish=127.0.0.1::9223', '--shm-size=1g', '--entrypoint=sh'];
  const sandbox = `--security-opt=seccomp=${WORKER_SOURCES}seccomp.json`;
  const environment = ['--env=TROUPE_SOCKETS=/tmp', '--env=TROUPE_GATE=/tmp', '--env=TROUPE_SCREEN=1281x808'];
  const run = [...words, sandbox, ...environment, found.image.id, '-c', ENTRY, 'sh', ...flags];
  return {
    async lifecycle() {
      const id = await docker('run', ...run);
      try {
        const [place] = (await docker('port', id, '9223')).split('\n');
        const browser = await connected(`http://${place}`);
        const [page] = browser.contexts()[0].pages();
        await page.goto(site.origin);
        if ((await page.title()) !== 'here') throw new Error('Playwright is on another page');
        await browser.close();
      } finally {
        await docker('rm', '--force', '--volumes', id);
      }
    },
    close: () => site.close(),
  };
}

async function connected(url) {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    try {
      return await playwright.connectOverCDP(url);
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await pause(20);
    }
  }
}

async function docker(...words) {
  return (await promisify(execFile)('docker', words)).stdout.trim();
}
