import { z } from 'zod';
import { ActionName } from '../look.js';
import { MAX_RECORDED_TEXT } from './limits.js';

const MAX_PATH = 500;

const Text = z.string().max(MAX_RECORDED_TEXT);
const Distance = z.number().min(-1_000_000).max(1_000_000);
const PointXY = z.object({ x: Distance, y: Distance });

/** An element as it was called when a person acted on it. Everything here is text of the page. */
export const RecordedTarget = z.object({
  /** Means this element and no other, without a look. */
  locator: Text,
  /** ARIA role and accessible name, for Playwright; null where these do not find it. `nth`: of several alike, from 0. */
  byRole: z.object({ role: Text, name: Text, nth: z.int().nullable() }).nullable(),
  /** A CSS path, in its document or shadow root. */
  css: Text,
  /** CSS paths of the frames around its document, outermost first. */
  frames: z.array(Text).max(20),
  /** It is in a frame whose surroundings its script cannot reach. */
  apart: z.boolean(),
});
export type RecordedTarget = z.infer<typeof RecordedTarget>;

/** Where something was dragged: see `agent.act`. */
export const RecordedDrag = z.union([
  z.object({ to: RecordedTarget, at: PointXY.nullable() }),
  z.object({ by: z.tuple([Distance, Distance]) }),
  z.object({
    path: z
      .array(z.tuple([Distance, Distance]))
      .min(2)
      .max(MAX_PATH),
  }),
]);
export type RecordedDrag = z.infer<typeof RecordedDrag>;

const Act = z.object({
  kind: z.literal('act'),
  action: ActionName,
  target: RecordedTarget,
  value: z.union([Text, z.array(Text).max(1_000), z.tuple([Distance, Distance])]).nullable(),
  drag: RecordedDrag.nullable(),
  /** In CSS pixels from the element's corner. */
  at: PointXY.nullable(),
  /** The field hides what is typed, which is not recorded. */
  secret: z.boolean(),
});

/** What an assertion by pointing says of an element. */
const Expectation = z.object({
  kind: z.literal('expect'),
  target: RecordedTarget,
  what: z.enum(['visible', 'text', 'value', 'checked']),
  expected: z.union([Text, z.boolean()]).nullable(),
});

/** Something that a flow cannot repeat. */
const Note = z.object({ kind: z.literal('note'), text: Text });

/** What a page's script tells of a person's input. `replaces`: the act before it is a part of this one. */
export const PageAct = z.object({
  act: z.discriminatedUnion('kind', [Act, Expectation, Note]),
  replaces: z.boolean(),
});
export type PageAct = z.infer<typeof PageAct>;

/** One thing that a person did in a browser. */
export const RecordedAct = z.discriminatedUnion('kind', [
  Act,
  Expectation,
  Note,
  z.object({ kind: z.literal('go'), url: Text }),
  z.object({ kind: z.literal('back') }),
  /** Another tab is in front; counted from 0. `opened`: the act before has opened it. */
  z.object({ kind: z.literal('tab'), index: z.int(), opened: z.boolean() }),
  z.object({ kind: z.literal('dialog'), accepted: z.boolean(), input: Text.nullable() }),
]);
export type RecordedAct = z.infer<typeof RecordedAct>;
