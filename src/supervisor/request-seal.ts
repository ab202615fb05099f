import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { TroupeError } from '../protocol/errors.js';
import type { AutoRequest, LiveRequest } from '../protocol/session.js';

/** Members of a request that hold credentials. */
const SEALED = ['secrets', 'httpCredentials', 'headers', 'storageState', 'proxy'] as const;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const StoredRequest = z.looseObject({ sealed: z.string().optional() });

/**
 * Keeps credentials out of the journal's file: a request is stored with them encrypted (AES-256-GCM), under a key of the
 * home that only its owner can read. Who has the database without the key file, a backup for one, has no secrets.
 */
export class RequestSeal {
  readonly #key: Buffer;

  private constructor(key: Buffer) {
    this.#key = key;
  }

  /**
   * Reads the key, and makes it at the first start.
   * @throws UNAVAILABLE when the file is there and is no key
   */
  static async open(file: string): Promise<RequestSeal> {
    await mkdir(dirname(file), { recursive: true });
    try {
      const made = await open(file, 'wx', 0o600);
      try {
        await made.writeFile(randomBytes(KEY_BYTES));
        await made.sync();
      } finally {
        await made.close();
      }
    } catch (error) {
      if (!(error instanceof Error) || Reflect.get(error, 'code') !== 'EEXIST') throw error;
    }
    const key = await readFile(file);
    if (key.length !== KEY_BYTES) throw new TroupeError('UNAVAILABLE', `${file} is not a key of ${KEY_BYTES} bytes`);
    return new RequestSeal(key);
  }

  /** What the journal may have of a request. */
  seal(request: LiveRequest | AutoRequest): unknown {
    const members = Object.entries(request);
    const isSecret = ([name]: readonly [string, unknown]) => SEALED.some((one) => one === name);
    const secret = members.filter(isSecret);
    if (secret.length === 0) return request;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    const text = JSON.stringify(Object.fromEntries(secret));
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return { ...Object.fromEntries(members.filter((member) => !isSecret(member))), sealed: sealed.toString('base64') };
  }

  /** The request as it was; null when it was sealed with another key. */
  unseal(stored: unknown): unknown {
    const parsed = StoredRequest.safeParse(stored);
    if (!parsed.success || parsed.data.sealed === undefined) return stored;
    const { sealed, ...open } = parsed.data;
    try {
      const bytes = Buffer.from(sealed, 'base64');
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      return { ...open, ...z.record(z.string(), z.unknown()).parse(JSON.parse(text.toString('utf8'))) };
    } catch {
      // Another key, or a row that somebody has changed: the request cannot be read either way.
      return null;
    }
  }
}
