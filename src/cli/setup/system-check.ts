import { type Distribution, isOlder, type Machine } from '../../base/machine.js';
import type { Finding } from './finding.js';

/** Node's own binaries need it. */
const LEAST_GLIBC = '2.28';
const LINUX_MACHINE = 'run Troupe in a Linux virtual machine';

const INSTALL: Readonly<Record<Distribution, string>> = {
  debian: 'apt-get install',
  ubuntu: 'apt-get install',
  fedora: 'dnf install',
  rhel: 'dnf install',
  amazon: 'dnf install',
  alpine: 'apk add',
  arch: 'pacman -S',
  suse: 'zypper install',
};

/** Where the engine has another name than `docker`. */
const DOCKER: Readonly<Partial<Record<Distribution, string>>> = {
  debian: 'docker.io',
  ubuntu: 'docker.io',
  fedora: 'moby-engine',
  rhel: 'docker-ce (from the repository of Docker)',
};

/** The command that installs a program which has the same name everywhere. */
export function installCommand({ distribution }: Machine, name: string): string {
  return distribution === null ? `install ${name}` : `${INSTALL[distribution]} ${name}`;
}

/** The command that installs a Docker engine. */
export function installDocker({ platform, distribution }: Machine): string {
  if (platform !== 'linux') return 'install Docker';
  const name = distribution === null ? undefined : DOCKER[distribution];
  return installCommand({ platform, arch: '', libc: null, distribution }, name ?? 'docker');
}

/** The npm package with the journal's database for a machine, or null where there is none. */
export function libsqlPackage({ platform, arch, libc }: Machine): string | null {
  if (arch !== 'x64' && arch !== 'arm64') return null;
  if (platform === 'darwin') return `@libsql/darwin-${arch}`;
  if (platform !== 'linux') return null;
  return `@libsql/linux-${arch}-${libc?.name === 'musl' ? 'musl' : 'gnu'}`;
}

/** Whether the service runs on such a machine: the system, its processor and its C library. */
export function checkSystem({ platform, arch, libc, distribution }: Machine): Finding {
  const what = 'System';
  const failed = (why: string, fix: string): Finding => ({ level: 'failed', what, why, fix });
  if (platform === 'win32') return failed('Windows is not supported', 'wsl --install, and run Troupe in it');
  if (platform !== 'linux' && platform !== 'darwin') return failed(`${platform} is not supported`, LINUX_MACHINE);
  if (arch !== 'x64' && arch !== 'arm64') {
    return failed(`the processor is ${arch}, and x64 or arm64 is needed`, 'use a machine with one of these');
  }
  if (platform === 'darwin') {
    const why = `macOS on ${arch}: for development; browsers of sessions need Linux`;
    return { level: 'note', what, why, fix: `to run sessions, ${LINUX_MACHINE}` };
  }
  const name = `Linux on ${arch}${distribution === null ? '' : ` (${distribution})`}`;
  if (libc?.name === 'glibc' && isOlder(libc.version, LEAST_GLIBC)) {
    const fix = 'upgrade the system, or run the service in a container (deploy/Dockerfile)';
    return failed(`${name} has glibc ${libc.version}, and ${LEAST_GLIBC} or later is needed`, fix);
  }
  if (libc?.name === 'musl') return { level: 'ok', what, why: `${name} with musl; see docs/deployment.md` };
  return { level: 'ok', what, why: `${name}${libc === null ? '' : ` with glibc ${libc.version}`}` };
}
