import { resolve } from 'node:path';
import { z } from 'zod';
import type { StoreSetting } from '../artifact-store/artifact-store.js';
import { TroupeError } from '../protocol/errors.js';

const REGION = 'us-east-1';

/** The key `artifacts`: where the artifacts of ended sessions are kept, if not in the home. */
export const ArtifactsKey = z.union(
  [
    z.strictObject({ folder: z.string().min(1) }),
    z.strictObject({
      s3: z.strictObject({
        bucket: z
          .string()
          .regex(
            /^(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
            'is a name of 3 to 63 lowercase letters, digits, dots and hyphens',
          ),
        /** Of another server than Amazon's. */
        endpoint: z
          .string()
          .refine(isOrigin, 'is an address such as https://s3.example.com, without a path')
          .optional(),
        region: z.string().min(1).max(100).optional(),
        prefix: z
          .string()
          .max(200)
          .regex(
            /^(?!\/)(?!.*\/\/)(?!(.*\/)?\.\.?(\/|$))[\w .=+@/-]*$/,
            'is a path such as ci/troupe/, without a slash at its beginning or ..',
          )
          .optional(),
      }),
    }),
  ],
  {
    error:
      'is {"folder": "/mnt/artifacts"} or {"s3": {"bucket": "name", "endpoint": "https://s3.example.com", "region": "eu-central-1", ' +
      '"prefix": "troupe/"}}; endpoint (without a path), region and prefix may be omitted, and nothing else belongs there',
  },
);

/** @throws INVALID_REQUEST if a bucket has no keys, or temporary ones without their token */
export function resolveArtifacts(
  artifacts: z.infer<typeof ArtifactsKey> | undefined,
  home: string,
  env: NodeJS.ProcessEnv,
): StoreSetting | undefined {
  if (artifacts === undefined) return undefined;
  if ('folder' in artifacts) {
    const folder = resolve(home, artifacts.folder);
    return folder === home ? undefined : { kind: 'folder', folder };
  }
  const { bucket, endpoint, region, prefix = '' } = artifacts.s3;
  const named = { AWS_ACCESS_KEY_ID: env.AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: env.AWS_SECRET_ACCESS_KEY };
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = named;
  const missing = Object.entries(named).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length > 0) {
    throw new TroupeError(
      'INVALID_REQUEST',
      `The configuration has "artifacts.s3", and its keys are missing: set the environment ${missing.length === 1 ? 'variable' : 'variables'} ${missing.join(' and ')}`,
    );
  }
  const token = env.AWS_SESSION_TOKEN;
  if (accessKeyId.startsWith('ASIA') && !token) {
    throw new TroupeError(
      'INVALID_REQUEST',
      'AWS_ACCESS_KEY_ID is a temporary key, which needs its token: set the environment variable AWS_SESSION_TOKEN',
    );
  }
  return {
    kind: 's3',
    bucket,
    endpoint: endpoint ?? endpointIn(env),
    region: region ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION || REGION),
    prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`,
    keys: { accessKeyId, secretAccessKey, ...(token ? { sessionToken: token } : {}) },
  };
}

function endpointIn(env: NodeJS.ProcessEnv): string | undefined {
  const name = env.AWS_ENDPOINT_URL_S3 ? 'AWS_ENDPOINT_URL_S3' : 'AWS_ENDPOINT_URL';
  const endpoint = env[name] || undefined;
  if (endpoint === undefined || isOrigin(endpoint)) return endpoint;
  throw new TroupeError(
    'INVALID_REQUEST',
    `The variable ${name} must hold an address such as https://s3.example.com, without a path`,
  );
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash, username } = new URL(text);
  return /^https?:$/.test(protocol) && pathname === '/' && search + hash + username === '';
}
