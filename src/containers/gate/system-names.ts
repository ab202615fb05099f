import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';

/** Where the system keeps what it knows of names. */
export interface NameFiles {
  readonly hosts: string;
  readonly resolvConf: string;
  readonly nsswitch: string;
}

const SYSTEM_FILES: NameFiles = {
  hosts: '/etc/hosts',
  resolvConf: '/etc/resolv.conf',
  nsswitch: '/etc/nsswitch.conf',
};

/** As in glibc (resolv.conf(5)). */
const MAX_NDOTS = 15;
const MAX_SEARCH = 6;
const MAX_NAME = 253;

/** systemd-resolved's own DNS server, which answers for DNS names as the source `resolve` does. */
const RESOLVED_STUBS: readonly string[] = ['127.0.0.53', '127.0.0.54'];

/** Who is asked for a name: the DNS servers, the system (getaddrinfo), or the system where the servers know no such name. */
export type NameSource = 'dns' | 'system' | 'dns, system';

/** What the system's files say about names; each is read again when it changes. A file that is not there says nothing. */
export class SystemNames {
  readonly #hosts: WatchedFile<ReadonlyMap<string, readonly string[]>>;
  readonly #resolv: WatchedFile<ResolvConf>;
  readonly #sources: WatchedFile<readonly string[]>;

  constructor(files: NameFiles = SYSTEM_FILES) {
    this.#hosts = new WatchedFile(files.hosts, readHosts);
    this.#resolv = new WatchedFile(files.resolvConf, readResolvConf);
    this.#sources = new WatchedFile(files.nsswitch, readSources);
  }

  /** The addresses that the hosts file has for a name in lower case; undefined where it has none. */
  listed(name: string): readonly string[] | undefined {
    return this.#hosts.read().get(name);
  }

  /** What to ask DNS for, in this order: the name with the search domains, and as it is (resolv.conf(5), `ndots`). */
  spellings(name: string): readonly string[] {
    const { search, ndots } = this.#resolv.read();
    const dots = name.split('.').length - 1;
    const searched = search.map((domain) => `${name}.${domain}`).filter((full) => full.length <= MAX_NAME);
    return dots >= ndots ? [name, ...searched] : [...searched, name];
  }

  /**
   * By the sources of nsswitch.conf. `files` and `dns` are what is done here; some others know names of a certain kind, and
   * answer for those first; others again may know any name.
   */
  source(name: string): NameSource {
    const usesStub = this.#resolv.read().servers.some((server) => RESOLVED_STUBS.includes(server));
    const scopes = this.#sources.read().map((source) => scopeOf(source, usesStub));
    if (scopes.some((knows) => knows?.(name) === true)) return 'system';
    return scopes.includes(null) ? 'dns, system' : 'dns';
  }
}

/** Which names a source has beyond DNS; null where that may be any. */
function scopeOf(source: string, usesStub: boolean): ((name: string) => boolean) | null {
  if (source === 'files' || source === 'dns') return () => false;
  if (/^mdns\w*$/.test(source)) return isLocalNetwork;
  if (source === 'myhostname') return (name) => name === hostname().toLowerCase() || /^(_\w+|gateway)$/.test(name);
  if (source === 'mymachines') return isSingleLabel;
  if (source === 'resolve' && usesStub) return (name) => isSingleLabel(name) || isLocalNetwork(name);
  return null;
}

function isLocalNetwork(name: string): boolean {
  return name.endsWith('.local');
}

function isSingleLabel(name: string): boolean {
  return !name.includes('.');
}

interface ResolvConf {
  readonly servers: readonly string[];
  readonly search: readonly string[];
  readonly ndots: number;
}

function readResolvConf(text: string): ResolvConf {
  const servers: string[] = [];
  const [, ...ownDomain] = hostname().split('.');
  let search = ownDomain.length === 0 ? [] : [ownDomain.join('.')];
  let ndots = 1;
  for (const [keyword, ...words] of wordsOfLines(text, /^[#;].*/s)) {
    if (keyword === 'nameserver') servers.push(...words.slice(0, 1));
    if (keyword === 'domain') search = words.slice(0, 1);
    if (keyword === 'search') search = words;
    if (keyword !== 'options') continue;
    for (const word of words) {
      const said = /^ndots:(\d+)$/.exec(word)?.[1];
      if (said !== undefined) ndots = Math.min(Number(said), MAX_NDOTS);
    }
  }
  const domains = search.map((domain) => domain.toLowerCase().replace(/^\.+|\.+$/g, ''));
  return { servers, ndots, search: domains.filter((domain) => domain !== '').slice(0, MAX_SEARCH) };
}

function readHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>();
  for (const [address = '', ...names] of wordsOfLines(text, /#.*/s)) {
    // A link-local address with a zone, which no rule could judge, counts as none.
    if (isIP(address) === 0 || address.includes('%')) continue;
    for (const name of names.map((name) => name.toLowerCase().replace(/\.$/, ''))) {
      const known = hosts.get(name) ?? [];
      if (!known.includes(address)) known.push(address);
      hosts.set(name, known);
    }
  }
  return hosts;
}

function readSources(text: string): readonly string[] {
  for (const [database, ...sources] of wordsOfLines(text.replace(/\[[^\]]*\]/g, ' '), /#.*/s)) {
    if (database === 'hosts:') return sources;
  }
  return [];
}

function wordsOfLines(text: string, comment: RegExp): string[][] {
  return text.split('\n').map((line) => line.replace(comment, '').trim().split(/\s+/));
}

/**
 * A file that is small and seldom changes. It is looked at synchronously: the thread pool that would do it otherwise is the
 * one that getaddrinfo may hold up.
 */
class WatchedFile<T> {
  readonly #path: string;
  readonly #parse: (text: string) => T;
  #print = '';
  #value: T;

  constructor(path: string, parse: (text: string) => T) {
    this.#path = path;
    this.#parse = parse;
    this.#value = parse('');
  }

  read(): T {
    const stats = statSync(this.#path, { throwIfNoEntry: false, bigint: true });
    const print = stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
    if (print === this.#print) return this.#value;
    this.#value = this.#parse(stats === undefined ? '' : textOf(this.#path));
    this.#print = print;
    return this.#value;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
