import { statfs } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import type { ArtifactStore } from '../../artifact-store/artifact-store.js';
import { openStore } from '../../artifact-store/open-store.js';
import { type Machine, thisMachine } from '../../base/machine.js';
import { sentenceOf } from '../../base/system-fault.js';
import { hasNamedHome } from '../../config/environment.js';
import { isCallable } from '../../config/models.js';
import type { Config } from '../../config.js';
import { browserUser } from '../../containers/chromium/browser-user.js';
import { findChromium } from '../../containers/chromium/chromium-binary.js';
import { DockerEngine } from '../../containers/docker/docker-engine.js';
import { canSandbox, sandboxRemedy } from '../../containers/process/chromium-sandbox.js';
import { findConfinement } from '../../containers/process/confinement.js';
import { chooseServer } from '../../gateway/choose-server.js';
import { counted } from '../../protocol/counted.js';
import { encodeError } from '../../protocol/errors.js';
import { findDriver } from '../../webdriver/driver-process.js';
import type { Finding } from './finding.js';
import { checkSystem, installCommand, installDocker, libsqlPackage } from './system-check.js';

const MEGABYTE = 1024 * 1024;
/** What a session with its browser takes at least, and what the service itself takes, in megabytes. */
const SESSION_MB = 200;
const SERVICE_MB = 300;
const DISK_MB = 1024;

/** Looks at everything that the service needs. Never throws: what goes wrong is a finding. */
export async function checkMachine(config: Config): Promise<readonly Finding[]> {
  const machine = thisMachine();
  return Promise.all([
    { level: 'ok', what: `Home: ${config.home}`, why: hasNamedHome() ? 'set by TROUPE_HOME' : 'the current folder' },
    checkSystem(machine),
    checkNode(),
    checkJournal(machine),
    checkServer(config),
    checkBrowser(config, machine),
    checkDocker(config, machine),
    checkMemory(config),
    checkDisk(config),
    checkArtifacts(config),
    checkModels(config),
    checkWebDriver(config),
  ]);
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const what = `Node ${process.versions.node}`;
  if (major > 20 || (major === 20 && minor >= 19)) return { level: 'ok', what, why: 'new enough' };
  return { level: 'failed', what, why: 'Troupe needs 20.19 or later', fix: 'install Node 20.19 or later' };
}

/** Only clients of WebDriver need it. */
async function checkWebDriver({ chromedriver }: Config): Promise<Finding> {
  const what = 'WebDriver';
  const path = await findDriver(chromedriver).catch(() => null);
  if (path !== null) return { level: 'ok', what, why: `chromedriver is ${path}` };
  const fix = chromedriver === undefined ? 'apt-get install chromium-driver' : 'correct "chromedriver" in troupe.json';
  return { level: 'note', what, why: 'no chromedriver, so Selenium suites get no sessions', fix };
}

/** The journal's database is a binary of the system, the processor and the C library. */
async function checkJournal(machine: Machine): Promise<Finding> {
  const what = 'Journal';
  try {
    await import('../../journal/sqlite/open-database.js');
    return { level: 'ok', what, why: 'SQLite can be loaded' };
  } catch (error) {
    const name = libsqlPackage(machine);
    const why = `SQLite cannot be loaded: ${sentenceOf(error)}`;
    const fix = name === null ? 'use Linux on x64 or arm64' : `npm install --include=optional (it brings ${name})`;
    return { level: 'failed', what, why, fix };
  }
}

async function checkServer(config: Config): Promise<Finding> {
  const what = 'HTTP server';
  try {
    const { description, fallbackReason } = await chooseServer(config.server);
    if (fallbackReason === null) return { level: 'ok', what, why: description };
    const fix =
      'nothing, or for a faster one use Node 20, or Node 22 or 24 on a system with glibc 2.38 or later; ' +
      'if Node is another one since Troupe was installed, install Troupe again';
    return { level: 'note', what, why: description, fix };
  } catch (error) {
    const why = encodeError(error).error;
    return { level: 'failed', what, why, fix: 'set "server" in troupe.json to "auto"' };
  }
}

async function checkBrowser(config: Config, machine: Machine): Promise<Finding> {
  const what = 'Browser without Docker';
  try {
    const { chromium: configured, chromiumSandbox: sandbox, sudoUser: user, tmpDir, home } = config;
    const chromium = await findChromium({ configured, user, cacheDir: `${tmpDir}/chromium` });
    const why = `${chromium.product} (${chromium.source}: ${chromium.path})`;
    const runsAs = browserUser(user);
    if (sandbox && !(await canSandbox(chromium.path, runsAs))) {
      const level = config.driver === 'docker' ? 'note' : 'failed';
      return {
        level,
        what,
        why: `${why}; its sandbox cannot start here, since user namespaces are refused`,
        fix: await sandboxRemedy(),
      };
    }
    const { kind } = await findConfinement(home, chromium, { user: runsAs, sandbox });
    if (kind !== 'none') return { level: 'ok', what, why: `${why}, confined by ${kind}` };
    const open = 'it could read the files of its user, since neither Landlock nor bubblewrap can be used';
    return { level: 'note', what, why: `${why}; ${open}`, fix: installCommand(machine, 'bubblewrap') };
  } catch (error) {
    const level = config.driver === 'docker' ? 'note' : 'failed';
    return { level, what, why: encodeError(error).error };
  }
}

async function checkDocker({ dockerSocket, podmanSocket }: Config, machine: Machine): Promise<Finding> {
  const what = 'Docker engine';
  const answer =
    dockerSocket === null
      ? { why: 'it is an engine of another machine' }
      : await new DockerEngine(dockerSocket).version();
  if ('version' in answer) return { level: 'ok', what, why: `${answer.version} answers` };
  const why = `${answer.why}; sessions run in browsers of this machine (process driver)`;
  if (podmanSocket !== null) {
    const fix = `nothing, or to try Podman: export DOCKER_HOST=unix://${podmanSocket}`;
    return { level: 'note', what, why, fix };
  }
  return { level: 'note', what, why, fix: `nothing, or for containers ${installDocker(machine)}` };
}

function checkMemory(config: Config): Finding {
  const what = 'Memory';
  const needed = SERVICE_MB + config.maxSessions * SESSION_MB;
  const free = Math.round(freemem() / MEGABYTE);
  const why = `${free} MB of ${Math.round(totalmem() / MEGABYTE)} MB are free; ${counted(config.maxSessions, 'session')} may need about ${needed} MB`;
  if (free >= needed) return { level: 'ok', what, why };
  return { level: 'note', what, why, fix: 'set a lower "maxSessions" in troupe.json' };
}

async function checkDisk(config: Config): Promise<Finding> {
  const what = 'Disk';
  try {
    const { bavail, bsize } = await statfs(config.home);
    const free = Math.round((bavail * bsize) / MEGABYTE);
    const why = `${free} MB are free in ${config.home}`;
    if (free >= DISK_MB) return { level: 'ok', what, why };
    return { level: 'note', what, why: `${why}; artifacts need space`, fix: 'free some, or set TROUPE_HOME elsewhere' };
  } catch (error) {
    return { level: 'failed', what, why: `${config.home} cannot be read: ${String(error)}`, fix: 'set TROUPE_HOME' };
  }
}

/** Whether artifacts can be written, read and removed where the configuration keeps them. */
async function checkArtifacts({ artifacts, sessionsDir, node }: Config): Promise<Finding> {
  const what = 'Artifacts';
  let store: ArtifactStore | undefined;
  try {
    store = await openStore(artifacts, sessionsDir);
  } catch (error) {
    return { level: 'failed', what, why: encodeError(error).error };
  }
  if (store === undefined) {
    const why = 'they stay in the home';
    if (node === undefined) return { level: 'ok', what, why };
    const fix = 'set "artifacts" in troupe.json to a bucket or a folder that all nodes have mounted';
    return { level: 'note', what, why: `${why} of each node, and are gone with it`, fix };
  }
  try {
    await store.check();
    return { level: 'ok', what, why: `${store.description} can be written and read` };
  } catch (error) {
    return { level: 'note', what, why: `${encodeError(error).error}. Until then, new artifacts stay in the home` };
  }
}

function checkModels(config: Config): Finding {
  const what = 'Models';
  if (config.models.length === 0) return { level: 'note', what, why: 'none configured; flows and live sessions work' };
  const missing = config.models.find((model) => !isCallable(model));
  if (missing !== undefined) {
    return { level: 'note', what, why: `${missing.id} has no key`, fix: `export ${missing.apiKeyEnv}=<key>` };
  }
  return { level: 'ok', what, why: config.models.map(({ id }) => id).join(', ') };
}
