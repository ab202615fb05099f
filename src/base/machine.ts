import { readFileSync } from 'node:fs';

/** Distributions by their package manager and by what they call a browser. */
export type Distribution = 'debian' | 'ubuntu' | 'fedora' | 'rhel' | 'amazon' | 'alpine' | 'arch' | 'suse';

/** What decides which programs and packages a machine can run. */
export interface Machine {
  /** `process.platform`: linux, darwin, win32 ... */
  readonly platform: string;
  /** `process.arch`: x64, arm64 ... */
  readonly arch: string;
  /** The C library; null where there is no Linux. */
  readonly libc: { readonly name: 'musl' } | { readonly name: 'glibc'; readonly version: string } | null;
  /** Null for one that is not known here, and where there is no Linux. */
  readonly distribution: Distribution | null;
}

/** Those whose `ID` is another word, or that say in `ID_LIKE` what they were made from. */
const NAMES: Readonly<Record<string, Distribution>> = {
  debian: 'debian',
  raspbian: 'debian',
  ubuntu: 'ubuntu',
  fedora: 'fedora',
  rhel: 'rhel',
  centos: 'rhel',
  almalinux: 'rhel',
  rocky: 'rhel',
  ol: 'rhel',
  amzn: 'amazon',
  alpine: 'alpine',
  arch: 'arch',
  suse: 'suse',
  opensuse: 'suse',
  sles: 'suse',
};

/** The distribution that the text of /etc/os-release names, or the one that it says it is like; else null. */
export function distributionOf(osRelease: string): Distribution | null {
  const valueOfKey = (key: string): string =>
    new RegExp(`^${key}=(["']?)(.*)\\1\\s*$`, 'm').exec(osRelease)?.[2]?.toLowerCase() ?? '';
  const names = [valueOfKey('ID'), ...valueOfKey('ID_LIKE').split(/\s+/)];
  for (const name of names) {
    const known = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
    if (known !== undefined) return known;
  }
  return null;
}

/** What this process runs on. Milliseconds. */
export function thisMachine(): Machine {
  const { platform, arch } = process;
  if (platform !== 'linux') return { platform, arch, libc: null, distribution: null };
  return { platform, arch, libc: libcOf(reportHeader()), distribution: distributionOf(osRelease()) };
}

/** The C library, by the header of Node's diagnostic report. */
export function libcOf(header: unknown): Machine['libc'] {
  const version: unknown = Reflect.get(Object(header), 'glibcVersionRuntime');
  return typeof version === 'string' ? { name: 'glibc', version } : { name: 'musl' };
}

/** Whether a version such as `2.9` comes before another one such as `2.28`. */
export function isOlder(version: string, other: string): boolean {
  const [one, two] = [version, other].map((text) => text.split('.').map(Number));
  const [major = 0, minor = 0] = one ?? [];
  const [otherMajor = 0, otherMinor = 0] = two ?? [];
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}

function reportHeader(): unknown {
  // Otherwise it looks up the names of all open connections.
  Reflect.set(process.report, 'excludeNetwork', true);
  return Reflect.get(Object(process.report.getReport()), 'header');
}

function osRelease(): string {
  for (const path of ['/etc/os-release', '/usr/lib/os-release']) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // A minimal system has neither.
    }
  }
  return '';
}
