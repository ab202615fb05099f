import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreSetting } from '#troupe/artifact-store/artifact-store.js';
import { freePort } from '../free-ports.js';
import { skipWithout } from '../programs.js';
import type { Teardown } from '../service.js';

const SERVE = join(import.meta.dirname, 'serve.py');
/** The Python that Debian's packages are for. */
const PYTHON = '/usr/bin/python3';
/** Only ends what hangs. */
const START_MS = 60_000;
const REGION = 'us-east-1';
const KEYS = { accessKeyId: 'test:tester', secretAccessKey: 'testing' };

/** For tap's `skip`: what is missing of Swift, Debian's S3 server. */
export function swiftMissing(): string | false {
  const missing = skipWithout('swift-proxy-server', 'swift-object-server', 'memcached');
  if (missing !== false) return missing;
  try {
    accessSync('/etc/swift/swift.conf');
    return false;
  } catch {
    return 'not installed here: /etc/swift/swift.conf';
  }
}

/** OpenStack Swift with s3api, which checks signatures, as an S3 server. What it stores outlives its process. */
export interface Swift {
  readonly endpoint: string;
  readonly bucket: string;
  /** For readConfig. */
  readonly env: { readonly [name: string]: string };
  readonly artifacts: object;
  setting(over?: {
    readonly secretAccessKey?: string;
    readonly bucket?: string;
  }): StoreSetting & { readonly kind: 's3' };
  /** A signed request of its own; `path` begins with the bucket. */
  send(method: string, path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** Keys of all objects. */
  keys(): Promise<readonly string[]>;
  /** Uploads in parts that were neither completed nor aborted. */
  unfinished(): Promise<readonly string[]>;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** Starts one with an empty bucket. It ends with the test. */
export async function startSwift(t: Teardown): Promise<Swift> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-swift-'));
  const cachePort = await freePort();
  const cache = spawn('memcached', ['-p', String(cachePort), '-l', '127.0.0.1', '-u', 'root'], { stdio: 'ignore' });
  let server: ChildProcess | null = null;
  let port = 0;
  const kill = async () => {
    const ending = server;
    server = null;
    if (ending !== null) await killed(ending);
  };
  t.teardown(async () => {
    await kill();
    await killed(cache);
    rmSync(folder, { recursive: true, force: true });
  });
  const start = async () => {
    server = spawn(PYTHON, [SERVE, folder, String(cachePort)], { stdio: ['ignore', 'pipe', 'pipe'] });
    port = await portOf(server);
  };
  await start();
  const send: Swift['send'] = async (method, path) => {
    const url = new URL(`http://127.0.0.1:${port}${path}`);
    const response = await fetch(url, { method, headers: signed(method, url) });
    return { status: response.status, text: await response.text() };
  };
  const bucket = 'artifacts';
  const made = await send('PUT', `/${bucket}`);
  if (made.status !== 200) throw new Error(`Swift answered ${made.status}: ${made.text}`);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    env: { AWS_ACCESS_KEY_ID: KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey },
    artifacts: { s3: { bucket, endpoint: `http://127.0.0.1:${port}`, prefix: 'troupe/' } },
    setting: ({ secretAccessKey = KEYS.secretAccessKey, bucket: named = bucket } = {}) => ({
      kind: 's3',
      bucket: named,
      endpoint: `http://127.0.0.1:${port}`,
      region: REGION,
      prefix: 'troupe/',
      keys: { ...KEYS, secretAccessKey },
    }),
    send,
    keys: async () => texts((await send('GET', `/${bucket}?list-type=2`)).text, 'Key'),
    unfinished: async () => texts((await send('GET', `/${bucket}?uploads=`)).text, 'UploadId'),
    kill,
    start,
  };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

async function portOf(child: ChildProcess): Promise<number> {
  let said = '';
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`Swift did not start in time: ${said}`)), START_MS);
    child.once('exit', () => {
      clearTimeout(late);
      reject(new Error(`Swift ended: ${said}`));
    });
    const read = (text: string) => {
      if (said.length < 100_000) said += text;
      const [, port] = /^listening (\d+)$/m.exec(said) ?? [];
      if (port === undefined) return;
      clearTimeout(late);
      resolve(Number(port));
    };
    child.stdout?.setEncoding('utf8').on('data', read);
    child.stderr?.setEncoding('utf8').on('data', read);
  });
}

/** Signature Version 4 of a request without a body, by hand: the product's own client signs differently if it is wrong. */
function signed(method: string, url: URL): { [name: string]: string } {
  const now = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const day = now.slice(0, 8);
  const hash = createHash('sha256').update('').digest('hex');
  const scope = `${day}/${REGION}/s3/aws4_request`;
  const names = 'host;x-amz-content-sha256;x-amz-date';
  const query = [...url.searchParams]
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .sort()
    .join('&');
  const heads = `host:${url.host}\nx-amz-content-sha256:${hash}\nx-amz-date:${now}\n`;
  const request = [method, url.pathname, query, heads, names, hash].join('\n');
  const text = ['AWS4-HMAC-SHA256', now, scope, createHash('sha256').update(request).digest('hex')].join('\n');
  let key: Buffer = Buffer.from(`AWS4${KEYS.secretAccessKey}`);
  for (const part of [day, REGION, 's3', 'aws4_request']) key = createHmac('sha256', key).update(part).digest();
  const signature = createHmac('sha256', key).update(text).digest('hex');
  return {
    'x-amz-date': now,
    'x-amz-content-sha256': hash,
    authorization: `AWS4-HMAC-SHA256 Credential=${KEYS.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function texts(xml: string, tag: string): readonly string[] {
  return [...xml.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, 'g'))].map(([, text = '']) => text);
}
