import { TroupeError } from '../protocol/errors.js';
import type { StoreSetting } from './artifact-store.js';

type S3Setting = Extract<StoreSetting, { readonly kind: 's3' }>;

/** Whether an error says that there is no such object; a server answers HEAD without saying what is missing. */
export function isAbsent(error: unknown): boolean {
  const { name, status } = facts(error);
  return name === 'NoSuchKey' || name === 'NoSuchUpload' || (status === 404 && name === 'UnrecognizedError');
}

/** The error of a call of S3, with its remedy. */
export function explained(cause: unknown, { bucket, endpoint, region }: S3Setting): TroupeError {
  const place = `the bucket ${bucket} ${endpoint === undefined ? `in ${region}` : `at ${endpoint}`}`;
  const because = (why: string) =>
    new TroupeError('UNAVAILABLE', `Artifacts cannot be used in ${place}: ${why}`, undefined, { cause });
  const { name, message, status, code } = facts(cause);
  switch (name) {
    case 'NoSuchBucket':
      return because('it does not exist; create it, or correct "artifacts.s3.bucket" in troupe.json');
    case 'InvalidAccessKeyId':
    case 'SignatureDoesNotMatch':
    case 'InvalidToken':
    case 'ExpiredToken':
      return because(
        `the server refuses the keys (${name}); correct AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN if they are temporary`,
      );
    case 'AccessDenied':
      return because(
        'the keys do not allow it (AccessDenied); they need s3:GetObject, PutObject, DeleteObject, AbortMultipartUpload, ListBucket and ListBucketMultipartUploads',
      );
    case 'AuthorizationHeaderMalformed':
    case 'PermanentRedirect':
    case 'UnexpectedRedirect':
      return because(`it is in another region (${name}); correct "artifacts.s3.region" in troupe.json`);
    case 'RequestTimeTooSkewed':
      return because("the machine's clock is wrong; synchronize it");
    case 'KeyTooLongError':
    case 'InvalidObjectNameError':
      return because('the path of an artifact is too long for it');
    default:
  }
  if (
    status === undefined &&
    cause instanceof Error &&
    !(cause instanceof TroupeError) &&
    code === undefined &&
    name === 'Error'
  )
    return because(`${message.slice(0, 300)}; check "artifacts.s3.endpoint" in troupe.json`);
  if (status === undefined) {
    const why = cause instanceof TroupeError ? message : (code ?? (message || name));
    return because(
      `the server does not answer (${why}); check that it runs, and "artifacts.s3.endpoint" in troupe.json`,
    );
  }
  if (status === 403)
    return because('the server refuses the keys (403); correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  if (status === 404)
    return because('it does not exist (404); create it, or correct "artifacts.s3.bucket" in troupe.json');
  return because(`the server answers ${status} (${name}: ${message.slice(0, 300)})`);
}

interface Facts {
  readonly name: string;
  readonly message: string;
  readonly code: string | undefined;
  /** Of the answer; undefined if there was none. */
  readonly status: number | undefined;
}

function facts(error: unknown): Facts {
  const read = (from: unknown, key: string): unknown => Reflect.get(Object(from), key);
  const [status, code] = [read(error, 'statusCode'), read(error, 'code') ?? read(read(error, 'cause'), 'code')];
  return {
    name: String(status === undefined ? read(error, 'name') : code),
    message: String(read(error, 'message') ?? error),
    code: typeof code === 'string' ? code : undefined,
    status: typeof status === 'number' ? status : undefined,
  };
}
