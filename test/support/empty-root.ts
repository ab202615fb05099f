import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Test } from 'tap';

const PREFIX = '/usr/local';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
/** Makes `/` of new namespaces a folder. A chroot would not do: the kernel refuses user namespaces in one. */
const ENTER = `set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
mkdir "$1/.machine"
cd "$1"
pivot_root . .machine
umount -l /.machine
rmdir /.machine
echo entered
exec sleep infinity`;

/** What a command printed, standard error included, and how it ended. */
export interface Typed {
  readonly output: string;
  readonly code: number;
}

/**
 * A Debian with nothing but its own packages, Node and npm, and a checkout of this project in `/troupe`. It has the
 * network of this machine. Needs root and debootstrap. When the test ends, all that runs in it ends with it.
 */
export class EmptyRoot {
  readonly #pid: number;
  readonly #terminals: Terminal[] = [];

  private constructor(pid: number) {
    this.#pid = pid;
  }

  static async make(t: Test): Promise<EmptyRoot> {
    const folder = mkdtempSync(join(tmpdir(), 'empty-root-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    execFileSync('tar', ['-C', folder, '-xf', debian(folder)]);
    chmodSync(folder, 0o755);
    installNode(folder);
    copyCheckout(join(folder, 'troupe'));
    const holder = spawn('unshare', [
      ...['--mount', '--pid', '--fork', '--kill-child=SIGKILL'],
      ...['sh', '-c', ENTER, 'sh', folder],
    ]);
    // The process that holds the namespaces is the child of unshare.
    const ended = new Promise((resolve) => holder.once('close', resolve));
    t.teardown(async () => {
      holder.kill('SIGKILL');
      await ended;
    });
    await new Promise<void>((resolve, reject) => {
      holder.stdout.once('data', () => resolve());
      holder.stderr.once('data', (text) => reject(new Error(`no empty root: ${text}`)));
    });
    const pid = Number(execFileSync('pgrep', ['-P', String(holder.pid)], { encoding: 'utf8' }));
    return new EmptyRoot(pid);
  }

  /** A shell in the checkout. */
  openTerminal(): Terminal {
    const terminal = new Terminal(
      spawn('nsenter', ['--target', String(this.#pid), '--mount', '--pid', 'sh', '-c', 'cd /troupe && exec bash'], {
        env: environment(),
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
    this.#terminals.push(terminal);
    return terminal;
  }

  /** Ends what runs in all terminals: the service with its browsers, and the example shop. */
  async closeTerminals(): Promise<void> {
    const everything = ['--target', String(this.#pid), '--mount', '--pid', 'sh', '-c', 'kill -TERM -1'];
    execFileSync('nsenter', everything, { stdio: 'ignore' });
    await Promise.all(this.#terminals.splice(0).map((terminal) => terminal.closed));
  }
}

/** One line after the other, as somebody types them. */
export class Terminal {
  readonly #shell: ChildProcessByStdio<Writable, Readable, null>;
  readonly closed: Promise<unknown>;
  #output = '';
  #onOutput = () => {};

  constructor(shell: ChildProcessByStdio<Writable, Readable, null>) {
    this.#shell = shell;
    this.closed = new Promise((resolve) => shell.once('close', resolve));
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
      this.#onOutput();
    });
    shell.stdin.write('exec 2>&1\n');
  }

  /** Waits until the command has ended, an hour at most. */
  async type(command: string): Promise<Typed> {
    const match = await this.#write(command, /\n?__ended:(\d+)\n/);
    return { output: match.input.slice(0, match.index), code: Number(match[1]) };
  }

  /** Waits until a command that goes on has printed this. */
  async start(command: string, printed: RegExp): Promise<string> {
    const match = await this.#write(command, new RegExp(`${printed.source}|__ended:\\d+\\n`));
    if (match[0].startsWith('__ended')) throw new Error(`${command} ended: ${match.input}`);
    return match.input;
  }

  async #write(command: string, until: RegExp): Promise<RegExpExecArray> {
    this.#output = '';
    if (this.#shell.exitCode !== null) throw new Error('the shell has ended');
    this.#shell.stdin.write(`{ ${command}\n} </dev/null; code=$?; echo; echo "__ended:$code"\n`);
    return await new Promise((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`${command} does not end: ${this.#output}`)), 3_600_000);
      void this.closed.then(() => reject(new Error(`the shell ended at ${command}: ${this.#output}`)));
      this.#onOutput = () => {
        const match = until.exec(this.#output);
        if (match === null) return;
        clearTimeout(limit);
        this.#onOutput = () => {};
        resolve(match);
      };
    });
  }
}

/** The tar file of the base of the worker's image: the one that is there from building it, or a new one. */
function debian(folder: string): string {
  const kept = join(homedir(), '.cache', 'troupe', `base-bookworm-${process.arch}.tar`);
  if (existsSync(kept)) return kept;
  const file = `${folder}.tar`;
  execFileSync(join('worker-container', 'debootstrap-base'), [file], { stdio: ['ignore', 'ignore', 'inherit'] });
  return file;
}

function installNode(folder: string): void {
  const bin = join(folder, PREFIX, 'bin');
  cpSync(process.execPath, join(bin, 'node'));
  const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())));
  cpSync(npm, join(folder, PREFIX, 'lib/node_modules/npm'), { recursive: true });
  for (const command of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${command}-cli.js`, join(bin, command));
  }
  for (const file of ['/etc/resolv.conf', '/etc/hosts', CERTIFICATES]) {
    if (!existsSync(file)) continue;
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    cpSync(file, join(folder, file), { dereference: true });
  }
}

/** What is committed, or would be with `git add`. */
function copyCheckout(folder: string): void {
  mkdirSync(folder);
  const list =
    'git ls-files -z --cached --others --exclude-standard | tar --null -T - --ignore-failed-read -cf - | tar -C "$1" -xf -';
  execFileSync('sh', ['-c', list, 'sh', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** How this machine reaches the registry, and nothing else of it. */
function environment(): NodeJS.ProcessEnv {
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  const kept = Object.entries(process.env).filter(([name]) => /^(https?_proxy|no_proxy)$/i.test(name));
  return {
    ...Object.fromEntries(kept),
    HOME: '/root',
    PATH: `${PREFIX}/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
    NODE_EXTRA_CA_CERTS: CERTIFICATES,
    NPM_CONFIG_REGISTRY: registry,
  };
}
