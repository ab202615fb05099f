import {
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server';
import { encodeError } from '../../protocol/errors.js';
import { parseJson } from '../check-shape.js';
import { RpcFault } from './rpc-fault.js';

/** The most messages in one POST. */
const MAX_BATCH = 100;
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

/** The content of one POST: one message, or a batch, which clients up to revision 2025-03-26 may send. */
export interface RpcMessages {
  /** As sent: a message, or an array of messages. */
  readonly body: unknown;
  readonly isBatch: boolean;
  /** The ids of the requests, in their order. */
  readonly requestIds: readonly RequestId[];
  /** The ids of requests that the client cancels. */
  readonly cancelledIds: readonly RequestId[];
  /** The protocol revision of an initialize request; null if there is none. */
  readonly initialize: string | null;
}

/** @throws RpcFault 400 for anything that is not JSON-RPC */
export function readMessages(body: unknown): RpcMessages {
  const isBatch = Array.isArray(body);
  const list: readonly unknown[] = isBatch ? body : [body];
  if (list.length === 0) throw new RpcFault(400, INVALID_REQUEST, 'A batch must contain at least one message');
  if (list.length > MAX_BATCH)
    throw new RpcFault(400, INVALID_REQUEST, `A batch may contain at most ${MAX_BATCH} messages`);
  const messages = list.map(message);
  return {
    body,
    isBatch,
    requestIds: messages.filter(isJSONRPCRequest).map(({ id }) => id),
    cancelledIds: messages.filter(isJSONRPCNotification).flatMap(cancelledId),
    initialize: messages.flatMap((one) => (isInitializeRequest(one) ? [one.params.protocolVersion] : []))[0] ?? null,
  };
}

/** The JSON of a body. @throws RpcFault 400 */
export function parseBody(bytes: Buffer): unknown {
  if (bytes.byteLength === 0) throw new RpcFault(400, PARSE_ERROR, 'The body is empty');
  try {
    return parseJson(bytes);
  } catch (error) {
    const { code, error: sentence } = encodeError(error);
    throw new RpcFault(400, code === 'INVALID_JSON' ? PARSE_ERROR : INVALID_REQUEST, sentence);
  }
}

function message(value: unknown): JSONRPCMessage {
  try {
    return parseJSONRPCMessage(value);
  } catch {
    throw new RpcFault(
      400,
      INVALID_REQUEST,
      'The body is JSON, but not a JSON-RPC 2.0 request, notification or response',
    );
  }
}

function cancelledId({ method, params }: { method: string; params?: object | undefined }): RequestId[] {
  if (method !== 'notifications/cancelled' || params === undefined) return [];
  const id: unknown = Reflect.get(params, 'requestId');
  return typeof id === 'string' || typeof id === 'number' ? [id] : [];
}
