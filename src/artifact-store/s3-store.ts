import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ReadableStream } from 'node:stream/web';
import { S3Client } from '@bradenmacdonald/s3-lite-client';
import { settlesWithin, withDeadline } from '../base/deadline.js';
import { TroupeError } from '../protocol/errors.js';
import {
  type ArtifactPlace,
  type ArtifactStore,
  exactly,
  isArtifactPath,
  type OpenStored,
  type StoredArtifact,
  type StoreSetting,
} from './artifact-store.js';
import { explained, isAbsent } from './s3-errors.js';

type S3Setting = Extract<StoreSetting, { readonly kind: 's3' }>;

/** Larger artifacts are sent in parts of this size, four at a time: 80 GB at most. */
const PART_BYTES = 8 * 1024 * 1024;
/** How long the server may take to answer, and then to send more of a content. */
const ANSWER_MS = 30_000;
/** A slower upload is given up. */
const BYTES_PER_MS = 32;
const REMOVALS_AT_ONCE = 8;

/** Artifacts in a bucket: `<prefix><session>/<path>`, an object for each. */
export class S3Store implements ArtifactStore {
  readonly description: string;
  readonly #setting: S3Setting;
  readonly #client: S3Client;

  constructor(setting: S3Setting) {
    const { bucket, endpoint, region, keys, prefix } = setting;
    this.#setting = setting;
    this.description = `the bucket ${bucket}${prefix === '' ? '' : `/${prefix}`} ${endpoint === undefined ? `in ${region}` : `at ${endpoint}`}`;
    this.#client = new S3Client({
      endPoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
      // Servers other than Amazon's seldom have names for their buckets, and no certificate covers a name with a dot.
      pathStyle: endpoint !== undefined || bucket.includes('.'),
      region,
      bucket,
      accessKey: keys.accessKeyId,
      secretKey: keys.secretAccessKey,
      ...(keys.sessionToken === undefined ? {} : { sessionToken: keys.sessionToken }),
    });
  }

  async put(
    place: ArtifactPlace,
    content: Readable,
    { bytes, signal }: { readonly bytes: number; readonly signal: AbortSignal },
  ): Promise<void> {
    let fault: unknown;
    const failed = (error: unknown) => {
      fault = error;
    };
    const counted = Readable.from(exactly(content, bytes, failed), { objectMode: false });
    const key = this.#key(place);
    // The same class; the client is written for browsers too.
    const stream = Readable.toWeb(counted) as unknown as globalThis.ReadableStream<Uint8Array>;
    const sending = this.#client.putObject(key, stream, { size: bytes, partSize: PART_BYTES });
    try {
      await this.#call(() => sending, { ms: ANSWER_MS + bytes / BYTES_PER_MS, signal });
    } catch (error) {
      counted.destroy();
      await settlesWithin(sending, ANSWER_MS);
      if (signal.aborted) throw signal.reason;
      if (bytes >= PART_BYTES) await this.#dropParts(key).catch(() => undefined);
      throw fault ?? error;
    } finally {
      content.destroy();
    }
  }

  async list(session: string): Promise<readonly StoredArtifact[]> {
    const prefix = this.#key({ session, path: '' });
    const found: StoredArtifact[] = [];
    for await (const { key, bytes, modifiedAt } of this.#objects(prefix)) {
      const path = key.slice(prefix.length);
      if (isArtifactPath(path)) found.push({ path, bytes, modifiedAt });
    }
    return found;
  }

  async open(place: ArtifactPlace): Promise<OpenStored | null> {
    if (!isArtifactPath(place.path)) return null;
    const key = this.#key(place);
    const head = await this.#call(() => this.#client.statObject(key)).catch(absentOr);
    if (head === null) {
      // A bucket that is missing is answered in the same way.
      for await (const _ of this.#objects(key)) break;
      return null;
    }
    const { size: bytes, lastModified: modifiedAt, etag } = head;
    return {
      bytes,
      modifiedAt,
      open: ({ start, end } = { start: 0, end: bytes - 1 }) =>
        Readable.from(end < start ? [] : this.#content(key, etag, start, end), { objectMode: false }),
      close: async () => undefined,
    };
  }

  /** Fails if the object was replaced meanwhile. */
  async *#content(objectName: string, etag: string, start: number, end: number): AsyncGenerator<Buffer> {
    const headers = new Headers({ range: `bytes=${start}-${end}`, 'if-match': `"${etag}"` });
    const asked = { method: 'GET', objectName, headers, statusCode: 206, returnBody: true };
    const { body } = await this.#call(() => this.#client.makeRequest(asked));
    // The same class under two names.
    const content = body === null ? Readable.from([]) : Readable.fromWeb(body as unknown as ReadableStream);
    try {
      yield* exactly(steadily(content), end - start + 1);
    } catch (error) {
      throw explained(error, this.#setting);
    } finally {
      content.destroy();
    }
  }

  async remove(session: string): Promise<void> {
    await this.dropUnfinished(session);
    const keys: string[] = [];
    for await (const { key } of this.#objects(this.#key({ session, path: '' }))) keys.push(key);
    const left = keys.values();
    // One by one: the call that removes many needs checksums on which servers disagree.
    const removeNext = async () => {
      for (const key of left) await this.#call(() => this.#client.deleteObject(key)).catch(absentOr);
    };
    await Promise.all(Array.from({ length: REMOVALS_AT_ONCE }, removeNext));
  }

  dropUnfinished(session: string): Promise<void> {
    return this.#dropParts(this.#key({ session, path: '' }));
  }

  /** Aborts the uploads in parts of keys that begin with `prefix`. */
  async #dropParts(prefix: string): Promise<void> {
    for (let marker: { [name: string]: string } | null = {}; marker !== null; ) {
      const xml: string = await this.#query('ListMultipartUploadsResult', {
        uploads: '',
        prefix,
        'encoding-type': 'url',
        ...marker,
      });
      for (const upload of elements(xml, 'Upload')) {
        const [objectName, uploadId] = [decoded(text(upload, 'Key')), text(upload, 'UploadId')];
        if (!objectName.startsWith(prefix)) continue;
        const order = { method: 'DELETE', objectName, query: { uploadId }, statusCode: 204 };
        await this.#call(() => this.#client.makeRequest(order)).catch(absentOr);
      }
      const next = decoded(text(xml, 'NextKeyMarker'));
      const isLast = text(xml, 'IsTruncated') !== 'true' || next === '';
      marker = isLast ? null : { 'key-marker': next, 'upload-id-marker': text(xml, 'NextUploadIdMarker') };
    }
  }

  async check(): Promise<void> {
    const place = { session: `probe-${randomUUID()}`, path: 'probe.txt' };
    const probe = Buffer.from('written by Troupe to check the bucket');
    const { signal } = new AbortController();
    await this.put(place, Readable.from([probe]), { bytes: probe.byteLength, signal });
    try {
      const opened = await this.open(place);
      const read = opened === null ? null : await buffer(opened.open({ start: 11, end: 16 }));
      if (read?.toString() !== 'Troupe')
        throw explained(new Error('what was read back differs from what was written'), this.#setting);
    } finally {
      await this.remove(place.session);
    }
  }

  /** With the keys percent-encoded: XML cannot contain every name that a page may choose. */
  async *#objects(prefix: string): AsyncGenerator<{ readonly key: string } & Omit<StoredArtifact, 'path'>> {
    for (let token: string | null = ''; token !== null; ) {
      const page = { 'list-type': '2', 'encoding-type': 'url', prefix, 'max-keys': '1000' };
      const query = token === '' ? page : { ...page, 'continuation-token': token };
      const xml: string = await this.#query('ListBucketResult', query);
      for (const object of elements(xml, 'Contents')) {
        const key = decoded(text(object, 'Key'));
        const [bytes, modifiedAt] = [Number(text(object, 'Size')), new Date(text(object, 'LastModified'))];
        if (key.startsWith(prefix)) yield { key, bytes, modifiedAt };
      }
      token = text(xml, 'IsTruncated') === 'true' ? text(xml, 'NextContinuationToken') : null;
      if (token === '') throw explained(new Error('its list is cut off, without a token for the rest'), this.#setting);
    }
  }

  /** The list that the bucket answers to a query. A proxy's page must not look like an empty one. */
  #query(root: string, query: { readonly [name: string]: string }): Promise<string> {
    const asked = { method: 'GET', objectName: '', query, returnBody: true };
    return this.#call(async () => {
      const xml = await (await this.#client.makeRequest(asked)).text();
      if (!xml.includes(`<${root}`)) throw new Error('it does not answer as S3 does');
      return xml;
    });
  }

  #key({ session, path }: ArtifactPlace): string {
    return `${this.#setting.prefix}${session}/${path}`;
  }

  async #call<T>(
    work: () => Promise<T>,
    { ms = ANSWER_MS, signal }: { readonly ms?: number; readonly signal?: AbortSignal } = {},
  ): Promise<T> {
    try {
      const late = () => new TroupeError('UNAVAILABLE', `it did not answer within ${Math.round(ms / 1000)} s`);
      return await withDeadline(work(), { ms, signal, late });
    } catch (error) {
      throw explained(error, this.#setting);
    }
  }
}

/** Fails if more of the content does not come in time; a slow reader has all the time that it wants. */
async function* steadily(content: Readable): AsyncGenerator<Uint8Array> {
  const late = () => new TroupeError('UNAVAILABLE', `it sent nothing for ${ANSWER_MS / 1000} s`);
  const chunks: AsyncIterator<Uint8Array> = content[Symbol.asyncIterator]();
  for (;;) {
    const next = await withDeadline(chunks.next(), { ms: ANSWER_MS, late });
    if (next.done) return;
    yield next.value;
  }
}

/** The contents of the elements with a name, which are not nested. */
function elements(xml: string, name: string): readonly string[] {
  return [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, content = '']) => content);
}

/** The text of the first element with a name; '' if there is none. */
function text(xml: string, name: string): string {
  const [, content = ''] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  return content.replace(/&(lt|gt|quot|apos|amp);/g, (_, entity: string) => ENTITIES[entity] ?? '');
}

const ENTITIES: { readonly [name: string]: string } = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function decoded(key: string): string {
  return decodeURIComponent(key.replaceAll('+', ' '));
}

/** @throws the error, unless it says that there is no such object */
function absentOr(error: unknown): null {
  if (isAbsent(Reflect.get(Object(error), 'cause'))) return null;
  throw error;
}
