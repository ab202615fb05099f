import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { ClientCertificate, ConnectionSettings } from '#troupe/config/connection-settings.js';
import { readFile } from '#troupe/files/thread-files.js';
import { TargetPatterns } from '#troupe/net-policy/target-pattern.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { RequestTarget } from '../run/request-target.js';

/** Own authorities and client certificates. Files are read when they are first needed, and once. */
export class TlsIdentities {
  readonly #ca: readonly string[];
  readonly #certificates: readonly { readonly hosts: TargetPatterns; readonly certificate: ClientCertificate }[];
  /** By certificate; null for none. */
  readonly #contexts = new Map<ClientCertificate | null, Promise<SecureContext>>();

  constructor({ ca, certificates }: ConnectionSettings) {
    this.#ca = ca;
    this.#certificates = certificates.map((certificate) => ({
      hosts: new TargetPatterns([certificate.host]),
      certificate,
    }));
  }

  /**
   * What to trust and to show on a connection; undefined for Node's own defaults.
   * @throws REQUEST_FAILED naming the file that cannot be used
   */
  async contextFor({ hostname, port }: Pick<RequestTarget, 'hostname' | 'port'>): Promise<SecureContext | undefined> {
    const found = this.#certificates.find(({ hosts }) => hosts.matches(hostname, hostname, port));
    const certificate = found?.certificate ?? null;
    if (certificate === null && this.#ca.length === 0) return undefined;
    const known = this.#contexts.get(certificate) ?? this.#read(certificate);
    this.#contexts.set(certificate, known);
    // A file that could not be used may be repaired.
    known.catch(() => this.#contexts.delete(certificate));
    return await known;
  }

  async #read(certificate: ClientCertificate | null): Promise<SecureContext> {
    const ca = await Promise.all(this.#ca.map((path) => pem(path, 'certificate authority')));
    const trusted = ca.length === 0 ? {} : { ca: [...rootCertificates, ...ca] };
    if (certificate === null) return createSecureContext(trusted);
    const { cert, key, pfx, passphrase } = certificate;
    const content =
      pfx === ''
        ? { cert: await bytes(cert, 'client certificate'), key: await bytes(key, 'key of the client certificate') }
        : { pfx: await bytes(pfx, 'client certificate') };
    try {
      return createSecureContext({ ...trusted, ...content, ...(passphrase === '' ? {} : { passphrase }) });
    } catch (error) {
      throw unusable(`The client certificate ${pfx === '' ? cert : pfx} cannot be used`, reasonOf(error));
    }
  }
}

/** OpenSSL's errors, as what to do. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/mac verify failure|bad decrypt|interrupted or cancelled/i.test(message)) return 'check its passphrase';
  if (/key values mismatch/i.test(message)) return 'its key belongs to another certificate';
  if (/no start line|not enough data|wrong tag/i.test(message))
    return 'the file is not in this format; use PEM, or PFX';
  if (/unsupported/i.test(message)) return 'it uses an old encryption; export it again with AES';
  return message;
}

async function pem(path: string, what: string): Promise<string> {
  const text = (await bytes(path, what)).toString('latin1');
  // OpenSSL ignores a text without certificates.
  if (!text.includes('-----BEGIN ')) throw unusable(`The ${what} ${path} cannot be used`, 'it is not a PEM file');
  return text;
}

async function bytes(path: string, what: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw unusable(`The ${what} ${path} cannot be read`, error instanceof Error ? error.message : String(error));
  }
}

function unusable(what: string, why: string): TroupeError {
  return new TroupeError('REQUEST_FAILED', `${what}: ${why}`, { cause: 'CERTIFICATE' });
}
