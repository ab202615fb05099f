import { BatchId } from '../protocol/batch.js';
import { TroupeError } from '../protocol/errors.js';
import { isFileName } from '../protocol/file-name.js';
import { SessionId } from '../protocol/session.js';
import type { RouteRequest } from './route.js';

/**
 * The session or job that a path names.
 * @throws NOT_FOUND for what cannot be an id: there is no session with it
 */
export function sessionIdOf(request: RouteRequest): SessionId {
  const id = SessionId.safeParse(request.params.id);
  if (!id.success) throw new TroupeError('NOT_FOUND', 'There is no such session');
  return id.data;
}

/**
 * The batch that a path names.
 * @throws NOT_FOUND for what cannot be an id: there is no batch with it
 */
export function batchIdOf(request: RouteRequest): BatchId {
  const id = BatchId.safeParse(request.params.id);
  if (!id.success) throw new TroupeError('NOT_FOUND', 'There is no such batch');
  return id.data;
}

/**
 * The file that a path names: one segment, nothing that a file system takes for more than a name.
 * @throws INVALID_REQUEST
 */
export function fileNameOf(request: RouteRequest): string {
  const name = request.params.name ?? null;
  if (name === null) throw new TroupeError('INVALID_REQUEST', 'The file name is not well percent-encoded');
  if (!isFileName(name)) {
    throw new TroupeError('INVALID_REQUEST', 'A file name is one path segment of at most 255 bytes', {
      issues: [{ path: 'name', message: 'not a file name' }],
    });
  }
  return name;
}

/**
 * The flow file that a path names, with its folders.
 * @throws NOT_FOUND for what cannot be a path: there is no file at it
 */
export function flowPathOf(request: RouteRequest): string {
  const path = request.params.path ?? null;
  if (path === null) throw new TroupeError('NOT_FOUND', 'There is no such flow: its path is not well percent-encoded');
  return path;
}
