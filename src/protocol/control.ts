import { z } from 'zod';

/** Proves that its bearer has control of a session: a random key, returned to the person who took control. */
export const ControlKey = z
  .string()
  .regex(/^[\w-]{22}$/, 'must be the "control" that the service returned when control was taken');
export type ControlKey = z.infer<typeof ControlKey>;

/**
 * `POST /api/sessions/{id}/control`. `takeOver` also takes control from another person. With `control`, control is given
 * back only if the key is that of the person who has it.
 */
export const ControlRequest = z.strictObject({
  take: z.boolean(),
  takeOver: z.boolean().optional(),
  control: ControlKey.optional(),
});
export type ControlRequest = z.infer<typeof ControlRequest>;

/** Its response: `control` is set if control was taken. */
export const ControlAnswer = z.object({ taken: z.boolean(), control: ControlKey.optional() });

/** Why a person's control ended: it was given back, their page disconnected, or it was unused for too long. */
export const ControlEnd = z.enum(['returned', 'left', 'idle']);
export type ControlEnd = z.infer<typeof ControlEnd>;

/** In CSS pixels of the page, relative to the size in a `frame`. */
const place = { x: z.number().min(-100).max(20_000), y: z.number().min(-100).max(20_000) };
/** The sum of 1 Alt, 2 Control, 4 Meta, 8 Shift. */
const modifiers = z.int().min(0).max(15);
const name = z.string().max(40);

/** One input of a person. Names are those of the DOM's events. */
export const PageInput = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('mouse'),
    action: z.enum(['move', 'down', 'up']),
    ...place,
    button: z.enum(['none', 'left', 'middle', 'right', 'back', 'forward']),
    /** The buttons that are pressed, as in `MouseEvent.buttons`. */
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
    /** As in `KeyboardEvent.key` and `.code`. */
    key: name,
    code: name,
    repeat: z.boolean().optional(),
    modifiers,
  }),
  z.strictObject({
    kind: z.literal('touch'),
    action: z.enum(['start', 'move', 'end', 'cancel']),
    /** The current touch points; none at the end. */
    points: z.array(z.strictObject({ ...place, id: z.int().min(0).max(20) })).max(10),
    modifiers,
  }),
  /** Pasted or composed text, inserted at once. */
  z.strictObject({ kind: z.literal('text'), text: z.string().min(1).max(32_768) }),
]);
export type PageInput = z.infer<typeof PageInput>;
