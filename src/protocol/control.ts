import { z } from 'zod';

/** Proof that one has a session's control: a random word, told to who took it. */
export const ControlKey = z.string().regex(/^[\w-]{22}$/, 'is what taking control answered as "control"');
export type ControlKey = z.infer<typeof ControlKey>;

/** `POST /api/sessions/{id}/control`. `takeOver` takes it from another person. */
export const ControlRequest = z.strictObject({ take: z.boolean(), takeOver: z.boolean().optional() });
export type ControlRequest = z.infer<typeof ControlRequest>;

/** Its answer: `control` is there when it was taken. */
export const ControlAnswer = z.object({ taken: z.boolean(), control: ControlKey.optional() });

/** Why a person's control ended: given back, its page gone, or nothing done with it for too long. */
export const ControlEnd = z.enum(['returned', 'left', 'idle']);
export type ControlEnd = z.infer<typeof ControlEnd>;

/** In pixels of the page, as a `frame` gives its size. */
const place = { x: z.number().min(-100).max(20_000), y: z.number().min(-100).max(20_000) };
/** 1 Alt, 2 Control, 4 Meta, 8 Shift; added up. */
const modifiers = z.int().min(0).max(15);
const name = z.string().max(40);

/** One thing that a person does with hands. Names are those of the DOM's events. */
export const PageInput = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('mouse'),
    action: z.enum(['move', 'down', 'up']),
    ...place,
    button: z.enum(['none', 'left', 'middle', 'right', 'back', 'forward']),
    /** The buttons that are down now, as `MouseEvent.buttons` has them. */
    buttons: z.int().min(0).max(31),
    /** 2 for the second press of a double click. */
    clicks: z.int().min(0).max(3),
    modifiers,
  }),
  z.strictObject({
    kind: z.literal('wheel'),
    ...place,
    dx: z.number().min(-10_000).max(10_000),
    dy: z.number().min(-10_000).max(10_000),
    modifiers,
  }),
  z.strictObject({
    kind: z.literal('key'),
    action: z.enum(['down', 'up']),
    /** As `KeyboardEvent.key` and `.code` have them. */
    key: name,
    code: name,
    repeat: z.boolean().optional(),
    modifiers,
  }),
  z.strictObject({
    kind: z.literal('touch'),
    action: z.enum(['start', 'move', 'end', 'cancel']),
    /** The fingers that touch now; none at an end. */
    points: z.array(z.strictObject({ ...place, id: z.int().min(0).max(20) })).max(10),
    modifiers,
  }),
  /** What is pasted, or was composed: it arrives at once. */
  z.strictObject({ kind: z.literal('text'), text: z.string().min(1).max(32_768) }),
]);
export type PageInput = z.infer<typeof PageInput>;
