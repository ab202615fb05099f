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

/** A request as the journal has it, and who submitted it. */
export type SealedRequest = z.infer<typeof Sealed>;

/**
 * Keeps requests closed on disk. They hold what must not lie about in a database: passwords, cookies, headers with
 * tokens. The key is a file of the home that its owner alone may read; whoever has the database without it has nothing.
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
   * Reads the key file, or makes it. One service at a time may call it for a file.
   * @throws UNAVAILABLE when the file cannot be read or made, or holds no key
   */
  static async open(file: string): Promise<RequestVault> {
    const found = await readFile(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return makeKey(file);
      throw unusable(file, whyNot(error), error);
    });
    // A key as text, or its bytes as they are.
    const key = found.length === KEY_BYTES ? found : Buffer.from(found.toString('utf8').trim(), 'base64url');
    if (key.length !== KEY_BYTES) {
      throw unusable(file, 'it holds no key; remove it, and sessions that run or wait are ended');
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

  /** The request, or null where it was sealed with another key or was never one of ours. */
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

  /** The same for the same request; tells nobody without the key what is in it. */
  fingerprint(request: unknown): string {
    return createHmac('sha256', this.#marking).update(JSON.stringify(request)).digest('base64url');
  }
}

/** Whole or not at all: a half-written key would lose every session. */
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
  if (code === 'EACCES' || code === 'EPERM') return 'this user may not read or make it; change its owner or mode';
  return sentenceOf(error);
}

function unusable(file: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError('UNAVAILABLE', `The key file ${file} cannot be used: ${why}`, undefined, { cause });
}
