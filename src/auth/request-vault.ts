import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { errorCode, sentenceOf } from '../base/system-fault.js';
import { TroupeError } from '../protocol/errors.js';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

const Sealed = z.object({ caller: z.string(), sealed: z.string() });

/** An encrypted request as the journal stores it, and its caller. */
export type SealedRequest = z.infer<typeof Sealed>;

/**
 * Encrypts requests in the journal: they contain passwords, cookies and headers with tokens. The key is a file of the
 * home that only its owner may read; the database alone reveals nothing.
 */
export class RequestVault {
  readonly #sealing: Buffer;
  readonly #marking: Buffer;

  private constructor(key: Buffer) {
    const derive = (use: string) => Buffer.from(hkdfSync('sha256', key, '', `troupe ${use}`, KEY_BYTES));
    this.#sealing = derive('requests');
    this.#marking = derive('fingerprints');
  }

  /**
   * Reads the key file, or creates it. One service at a time may call it for a file.
   * @param clusterKey used instead of the file: a key of a key file, or any other text
   * @throws UNAVAILABLE if the file cannot be read or created, or contains no key
   */
  static async open(file: string, clusterKey?: string): Promise<RequestVault> {
    if (clusterKey !== undefined) return new RequestVault(keyOf(clusterKey));
    const found = await readFile(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return makeKey(file);
      throw unusable(file, whyNot(error), error);
    });
    // The key is stored as base64url text or as raw bytes.
    const key = found.length === KEY_BYTES ? found : Buffer.from(found.toString('utf8').trim(), 'base64url');
    if (key.length !== KEY_BYTES) {
      throw unusable(
        file,
        'it contains no key; remove it to have a new one created (running and queued sessions will be ended)',
      );
    }
    return new RequestVault(key);
  }

  /** @param request plain JSON */
  seal(request: unknown, caller: string): SealedRequest {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#sealing, nonce);
    const parts = [nonce, cipher.update(JSON.stringify(request), 'utf8'), cipher.final(), cipher.getAuthTag()];
    return { caller, sealed: Buffer.concat(parts).toString('base64url') };
  }

  /** The request; null if it was encrypted with another key or is not an encrypted request. */
  unseal(stored: unknown): { readonly request: unknown; readonly caller: string } | null {
    const parsed = Sealed.safeParse(stored);
    if (!parsed.success) return null;
    const { caller, sealed } = parsed.data;
    const bytes = Buffer.from(sealed, 'base64url');
    try {
      const decipher = createDecipheriv(CIPHER, this.#sealing, bytes.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
      return { request: JSON.parse(text), caller };
    } catch {
      return null;
    }
  }

  /** A keyed hash: equal for equal requests, and reveals nothing without the key. */
  fingerprint(request: unknown): string {
    return createHmac('sha256', this.#marking).update(JSON.stringify(request)).digest('base64url');
  }
}

/** The content of a key file means the same key here, so that a home and a cluster can share one. */
function keyOf(text: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64url');
  if (key.length === KEY_BYTES && key.toString('base64url') === text.trim()) return key;
  return Buffer.from(hkdfSync('sha256', text, '', 'troupe cluster key', KEY_BYTES));
}

/** Copies sealed values from one key to another. Values that the first key does not open stay as they are. */
export function resealer(from: RequestVault, to: RequestVault): (value: unknown) => unknown {
  const reseal = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(reseal);
    const opened = from.unseal(value);
    if (opened !== null) return to.seal(opened.request, opened.caller);
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, reseal(member)]));
  };
  return reseal;
}

/** Written completely or not at all: a truncated key would make every stored session unreadable. */
async function makeKey(file: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES);
  try {
    await writeFile(`${file}.new`, `${key.toString('base64url')}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
    return key;
  } catch (cause) {
    await rm(`${file}.new`, { force: true }).catch(() => undefined);
    throw unusable(file, whyNot(cause), cause);
  }
}

function whyNot(error: unknown): string {
  const code = errorCode(error);
  if (code === 'EISDIR') return 'it is a folder; move it away and start again';
  if (code === 'EACCES' || code === 'EPERM') return 'this user may not read or create it; change its owner or mode';
  return sentenceOf(error);
}

function unusable(file: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError('UNAVAILABLE', `The key file ${file} cannot be used: ${why}`, undefined, { cause });
}
