import { realpath, stat } from 'node:fs/promises';
import { sep } from 'node:path';
import { deviceNamed } from '../../agent-js/devices/devices.js';
import { MAX_FILE_BYTES, pathInside, readInside } from '../../agent-js/flows/flow-folder.js';
import { whyNoFlow } from '../../agent-js/flows/flow-refusal.js';
import { isFlowFile } from '../../base/flow-file.js';
import { asAbsent } from '../../base/system-fault.js';
import { chooseModels } from '../../config/models.js';
import type { Config } from '../../config.js';
import type { Driver } from '../../containers/driver.js';
import { isMetadata } from '../../net-policy/blocked-addresses.js';
import { HOST_PATTERN, isHostPattern } from '../../net-policy/host-pattern.js';
import { readHost } from '../../net-policy/read-host.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { AutoRequest, LiveRequest } from '../../protocol/session.js';
import type { Outbox } from '../../webhooks/outbox.js';

type Offers = Driver['offers'];

/**
 * A member of a request, when it asks for something that this service cannot do in its current setup, and the reason.
 */
type Unavailable = readonly [
  field: string,
  asked: (request: LiveRequest & Partial<AutoRequest>, offers: Offers) => boolean,
  why: string,
];

const UNAVAILABLE: readonly Unavailable[] = [
  [
    'egress',
    ({ egress }) => ![...(egress?.allow ?? []), ...(egress?.deny ?? [])].every(isHostPattern),
    `an entry must be ${HOST_PATTERN}`,
  ],
  [
    'proxy',
    ({ proxy, egress }, offers) =>
      (proxy?.bypass ?? '') !== '' && egress !== undefined && !offers.has('filteredBypass'),
    'the headless shell reaches the hosts in bypass directly, past the egress rules; use Chromium, or omit bypass',
  ],
  [
    'state',
    (request) => request.state !== undefined && request.storageState !== undefined,
    'a session starts with one login state; omit state or storageState',
  ],
  [
    'forward',
    (request) => request.forward !== undefined && request.proxy !== undefined,
    'a proxy also receives the requests to localhost; omit proxy or forward',
  ],
  [
    'proxy',
    ({ proxy }) => proxy !== undefined && leadsToMetadata(proxy.server),
    'a proxy must not be at a metadata address; name another server',
  ],
  [
    'proxy',
    ({ proxy }) => proxy?.username !== undefined && /^socks/i.test(proxy.server),
    'Chromium does not send a user name to a SOCKS proxy; omit username',
  ],
  [
    'proxy',
    ({ proxy }) => proxy?.password !== undefined && proxy.username === undefined,
    'a password needs a username',
  ],
];

/** @param server `[scheme://]host[:port]`; host names are checked when they are resolved */
function leadsToMetadata(server: string): boolean {
  const [, host = ''] = /^(?:[a-z0-9]+:\/\/)?(\[[^\]]*\]|[^:]*)/i.exec(server) ?? [];
  const read = readHost(host);
  return read?.kind === 'address' && isMetadata(read.address);
}

/**
 * Rejects options that would be accepted and then ignored.
 * @throws INVALID_REQUEST naming the field
 */
export function assertSupported(request: LiveRequest | AutoRequest, offers: Offers): void {
  if (request.device !== undefined) deviceNamed(request.device);
  for (const [field, asked, why] of UNAVAILABLE) {
    if (asked(request as LiveRequest & Partial<AutoRequest>, offers)) {
      throw new TroupeError('INVALID_REQUEST', `${field}: ${why}`, { issues: [{ path: field, message: why }] });
    }
  }
}

/**
 * Checks everything about a job request that can be checked before it runs.
 * @param assertFlow see {@link flowFileCheck}
 * @throws INVALID_REQUEST, FLOW_NOT_FOUND, AUTONOMY_OFF, MODEL_NOT_ALLOWED, MISSING_API_KEY
 */
export async function checkTask(
  request: AutoRequest,
  { config, webhooks }: { readonly config: Config; readonly webhooks: Pick<Outbox, 'refusal'> },
  assertFlow: FlowFileCheck,
): Promise<void> {
  assertWebhook(request, webhooks);
  const flowFiles = request.flowFiles ?? [];
  await Promise.all(flowFiles.map(assertFlow));
  if ((request.maxIterations ?? config.maxIterations) > 0) {
    chooseModels(config.models, request.model);
    return;
  }
  if (!flowFiles.some(isFlowFile)) {
    throw new TroupeError(
      'INVALID_REQUEST',
      'flowFiles: with maxIterations 0 at least one .js or .ts flow file is needed',
      {
        issues: [{ path: 'flowFiles', message: 'at least one .js or .ts flow file is needed' }],
      },
    );
  }
}

/**
 * @throws INVALID_REQUEST if messages cannot be sent to the webhook
 */
export function assertWebhook(
  { webhook, webhookFormat }: Pick<AutoRequest, 'webhook' | 'webhookFormat'>,
  webhooks: Pick<Outbox, 'refusal'>,
): void {
  const alone = webhookFormat === undefined ? null : 'webhookFormat is for a webhook: add its address';
  const why = webhook === undefined ? alone : webhooks.refusal(webhook);
  if (why !== null)
    throw new TroupeError('INVALID_REQUEST', `webhook: ${why}`, { issues: [{ path: 'webhook', message: why }] });
}

type FlowFileCheck = (file: string) => Promise<void>;

/** Returns a check that rejects files that cannot be run. Each file is read once, however often it is checked. */
export function flowFileCheck(flowsDir: string): FlowFileCheck {
  const seen = new Map<string, Promise<void>>();
  return (file) => {
    const looked = seen.get(file) ?? assertFlowFile(file, flowsDir);
    seen.set(file, looked);
    return looked;
  };
}

async function assertFlowFile(file: string, flowsDir: string): Promise<void> {
  const refuse = (message: string) =>
    new TroupeError('INVALID_REQUEST', `flowFiles: ${message}`, { issues: [{ path: 'flowFiles', message }] });
  if (!isFlowFile(file) && !/[^/]\.md$/.test(file))
    throw refuse(`'${file}' is neither a .js or .ts flow nor a .md task file`);
  let path: string;
  let found = false;
  let source: string | null = null;
  try {
    path = pathInside(flowsDir, file);
  } catch (error) {
    throw refuse(encodeError(error).error);
  }
  try {
    // Also checks where a symbolic link leads.
    const [real, realDir] = await Promise.all([realpath(path), realpath(flowsDir)]);
    if (real.startsWith(realDir + sep) && (await stat(real)).isFile()) {
      // One that is too large fails when it is run.
      source = isFlowFile(file) ? await readInside(flowsDir, file, MAX_FILE_BYTES).catch(() => null) : null;
      found = true;
    }
  } catch (error) {
    // An unreadable file cannot be run, for whatever reason.
    asAbsent(error);
  }
  if (found) {
    const why = source === null ? null : whyNoFlow(file, source);
    if (why === null) return;
    const { line = 1 } = why.details ?? {};
    throw refuse(`${file}:${line}: ${why.message}`);
  }
  throw new TroupeError('FLOW_NOT_FOUND', `There is no flow file '${file}' in ${flowsDir}`, { flow: file });
}
