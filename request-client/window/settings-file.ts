import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorCode } from '#troupe/base/system-fault.js';
import {
  type ConnectionSettings,
  environmentProxies,
  listed,
  type ProxySettings,
  withNodeAuthorities,
} from '#troupe/config/connection-settings.js';
import { withLogin } from '#troupe/config/request-settings.js';
import { isTargetPattern } from '#troupe/net-policy/target-pattern.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { readProxy } from '../engine/connection/proxy-rules.js';
import { ClientSettings } from '../protocol/request-settings.js';

/** The settings of the request client. They contain passwords, so only their owner can read the file. */
export class SettingsFile {
  /** Null if nothing is stored on disk. */
  readonly #path: string | null;
  #settings: ClientSettings;

  constructor(path: string | null, settings: ClientSettings = ClientSettings.parse({})) {
    this.#path = path;
    this.#settings = settings;
  }

  /**
   * A missing file has the defaults.
   * @throws INVALID_REQUEST if the file is not valid: without its proxy or certificates, requests would go elsewhere
   */
  static async open(path: string): Promise<SettingsFile> {
    try {
      return new SettingsFile(path, ClientSettings.parse(JSON.parse(await readFile(path, 'utf8'))));
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return new SettingsFile(path);
      throw new TroupeError(
        'INVALID_REQUEST',
        `The settings in ${path} cannot be read; repair or remove the file`,
        {},
        {
          cause: error,
        },
      );
    }
  }

  get settings(): ClientSettings {
    return this.#settings;
  }

  /** Writes the settings, and uses them once they are written. @throws INVALID_REQUEST naming what cannot be used */
  async save(settings: ClientSettings): Promise<void> {
    check(settings);
    if (this.#path !== null) await this.#write(this.#path, settings);
    this.#settings = settings;
  }

  async #write(path: string, settings: ClientSettings): Promise<void> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    try {
      await writeFile(temporary, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** Relative paths are in the folder of the file. */
  get connection(): ConnectionSettings {
    const { ca, certificates } = this.#settings;
    const folder = this.#path === null ? '.' : dirname(this.#path);
    const file = (path: string): string => (path === '' ? '' : resolve(folder, path));
    return withNodeAuthorities({
      proxy: proxyOf(this.#settings),
      ca: ca.filter((path) => path !== '').map(file),
      certificates: certificates.map(({ cert, key, pfx, ...rest }) => ({
        ...rest,
        cert: file(cert),
        key: file(key),
        pfx: file(pfx),
      })),
    });
  }
}

function proxyOf({ proxy, proxyUrl, proxyUser, proxyPassword, noProxy }: ClientSettings): ProxySettings {
  if (proxy === 'environment') return environmentProxies();
  const written = proxyUrl.trim();
  const full = written === '' || written.includes('://') ? written : `http://${written}`;
  const url = proxy === 'none' ? '' : withLogin(full, proxyUser, proxyPassword);
  return { http: url, https: url, bypass: listed(noProxy) };
}

function check(settings: ClientSettings): void {
  if (settings.proxy === 'manual') {
    if (settings.proxyUrl.trim() === '') throw wrong('The proxy needs a URL such as http://proxy.example:3128');
    try {
      readProxy(settings.proxyUrl);
    } catch (error) {
      throw wrong(error instanceof Error ? error.message : String(error));
    }
  }
  for (const { host, cert, key, pfx } of settings.certificates) {
    if (!isTargetPattern(host)) {
      throw wrong(
        `'${host}' is not a host for a certificate; use a name, *.domain or an address, with an optional port`,
      );
    }
    if ((pfx !== '') === (cert !== '' || key !== '') || (pfx === '' && (cert === '' || key === ''))) {
      throw wrong(`The certificate for ${host} needs a certificate and a key file, or a PFX file`);
    }
  }
}

function wrong(message: string): TroupeError {
  return new TroupeError('INVALID_REQUEST', message);
}
