import {
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { encodeError } from '../../protocol/errors.js';
import { parseJson } from '../check-shape.js';
import { RpcFault } from './rpc-fault.js';

/** Messages of one POST. */
const MAX_BATCH = 100;
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

/** The messages of one POST: one, or a batch, which clients up to 2025-03-26 may send. */
export interface RpcMessages {
  /** As it was sent: a message, or an array of them. */
  readonly body: unknown;
  readonly isBatch: boolean;
  /** Ids of the requests among them, in their order. */
  readonly requestIds: readonly RequestId[];
  /** Ids of requests that the client no longer wants. */
  readonly cancelledIds: readonly RequestId[];
  /** The protocol revision that an initialize request asks for; null where there is none. */
  readonly initialize: string | null;
}

/** @throws RpcFault 400 for what is not JSON, or not JSON-RPC */
export function readMessages(bytes: Buffer): RpcMessages {
  const body = parsed(bytes);
  const isBatch = Array.isArray(body);
  const list: readonly unknown[] = isBatch ? body : [body];
  if (list.length === 0) throw new RpcFault(400, INVALID_REQUEST, 'A batch holds at least one message');
  if (list.length > MAX_BATCH) throw new RpcFault(400, INVALID_REQUEST, `A batch holds at most ${MAX_BATCH} messages`);
  const messages = list.map(message);
  return {
    body,
    isBatch,
    requestIds: messages.filter(isJSONRPCRequest).map(({ id }) => id),
    cancelledIds: messages.filter(isJSONRPCNotification).flatMap(cancelledId),
    initialize: messages.flatMap((one) => (isInitializeRequest(one) ? [one.params.protocolVersion] : []))[0] ?? null,
  };
}

function parsed(bytes: Buffer): unknown {
  if (bytes.byteLength === 0) throw new RpcFault(400, PARSE_ERROR, 'The body is empty');
  try {
    return parseJson(bytes);
  } catch (error) {
    const { code, error: sentence } = encodeError(error);
    throw new RpcFault(400, code === 'INVALID_JSON' ? PARSE_ERROR : INVALID_REQUEST, sentence);
  }
}

function message(value: unknown): JSONRPCMessage {
  const result = JSONRPCMessageSchema.safeParse(value);
  if (result.success) return result.data;
  throw new RpcFault(400, INVALID_REQUEST, 'The body is JSON, but not a JSON-RPC 2.0 request, notification or answer');
}

function cancelledId({ method, params }: { method: string; params?: object | undefined }): RequestId[] {
  if (method !== 'notifications/cancelled' || params === undefined) return [];
  const id: unknown = Reflect.get(params, 'requestId');
  return typeof id === 'string' || typeof id === 'number' ? [id] : [];
}
