import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';

/** Names that an error lists. */
const MAX_LISTED = 5;

const Device = z.object({
  userAgent: z.string(),
  viewport: z.object({ width: z.number(), height: z.number() }),
  deviceScaleFactor: z.number(),
  isMobile: z.boolean(),
  hasTouch: z.boolean(),
});

/** A phone, tablet, or desktop as Playwright describes it: sizes in CSS pixels. */
export type Device = z.infer<typeof Device>;

let known: ReadonlyMap<string, Device> | undefined;

/** Playwright's list of devices, which the build copies; read when a session first asks for one. */
function devices(): ReadonlyMap<string, Device> {
  known ??= new Map(
    Object.entries(
      z.record(z.string(), Device).parse(JSON.parse(readFileSync(new URL('devices.json', import.meta.url), 'utf8'))),
    ),
  );
  return known;
}

/** @throws INVALID_REQUEST with similar names, for one that is not in the list */
export function deviceNamed(name: string): Device {
  const device = devices().get(name);
  if (device !== undefined) return device;
  const words = name.toLowerCase().split(/\s+/);
  const scored = [...devices().keys()].map((one) => ({
    one,
    score: words.filter((word) => one.toLowerCase().includes(word)).length,
  }));
  const similar = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  const near = similar.slice(0, MAX_LISTED).map(({ one }) => one);
  const message = `There is no device '${name}'; ${near.length === 0 ? "names are Playwright's, such as 'iPhone 15'" : `similar: ${near.join(', ')}`}`;
  throw new TroupeError('INVALID_REQUEST', message, { issues: [{ path: 'device', message }] });
}
