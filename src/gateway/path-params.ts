import { BatchId } from '../protocol/batches/batch.js';
import { TroupeError } from '../protocol/errors.js';
import { isFileName } from '../protocol/file-name.js';
import { SessionId } from '../protocol/session.js';
import type { RouteRequest } from './route.js';

/**
 * The session or job in the path.
 * @throws NOT_FOUND if it cannot be an id
 */
export function sessionIdOf(request: RouteRequest): SessionId {
  const id = SessionId.safeParse(request.params.id);
  if (!id.success) throw new TroupeError('NOT_FOUND', 'There is no such session');
  return id.data;
}

/**
 * The batch in the path.
 * @throws NOT_FOUND if it cannot be an id
 */
export function batchIdOf(request: RouteRequest): BatchId {
  const id = BatchId.safeParse(request.params.id);
  if (!id.success) throw new TroupeError('NOT_FOUND', 'There is no such batch');
  return id.data;
}

/**
 * The file in the path: one segment that is a plain file name.
 * @throws INVALID_REQUEST
 */
export function fileNameOf(request: RouteRequest): string {
  const name = request.params.name ?? null;
  if (name === null)
    throw new TroupeError('INVALID_REQUEST', 'The percent-encoding of the file name is malformed; encode it as UTF-8');
  if (!isFileName(name)) {
    throw new TroupeError('INVALID_REQUEST', 'A file name must be one path segment of at most 255 bytes', {
      issues: [{ path: 'name', message: 'not a file name' }],
    });
  }
  return name;
}

/**
 * The flow file in the path, with its folders.
 * @throws NOT_FOUND if the percent-encoding is malformed
 */
export function flowPathOf(request: RouteRequest): string {
  const path = request.params.path ?? null;
  if (path === null)
    throw new TroupeError('NOT_FOUND', 'There is no such flow: the percent-encoding of its path is malformed');
  return path;
}
