import { z } from 'zod';

/** What an engine says of itself at `GET /version`. */
export const EngineRelease = z.object({
  Version: z.string(),
  ApiVersion: z.string(),
  MinAPIVersion: z.string().optional(),
  Components: z.array(z.object({ Name: z.string() })).nullish(),
});
export type EngineRelease = z.infer<typeof EngineRelease>;

/** Engine 20.10 and Podman speak this, and no more (https://docs.docker.com/reference/api/engine/version-history/). */
const OLDEST = '1.41';

/**
 * The API version to ask an engine in: the oldest one that both sides take, since it is the one that every engine of 20.10
 * and later answers alike. Null for an engine that is too old for us.
 */
export function apiVersion({ ApiVersion, MinAPIVersion = OLDEST }: EngineRelease): string | null {
  if (isBefore(ApiVersion, OLDEST)) return null;
  return isBefore(MinAPIVersion, OLDEST) ? OLDEST : MinAPIVersion;
}

/** Podman answers Docker's API, and reads a few things in its own way. */
export function isPodman({ Components }: EngineRelease): boolean {
  return Components?.some(({ Name }) => Name === 'Podman Engine') ?? false;
}

function isBefore(version: string, other: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}
