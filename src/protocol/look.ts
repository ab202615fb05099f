import { z } from 'zod';

/** The actions for elements. */
export const ActionName = z.enum([
  'click',
  'dblclick',
  'tripleclick',
  'rightclick',
  'hover',
  'input',
  'clear',
  'press',
  'select',
  'focus',
  'check',
  'uncheck',
  'scroll',
  'wheel',
  'selectText',
  'upload',
  'drag',
]);
export type ActionName = z.infer<typeof ActionName>;

/** A control of the page. Members after the first four are omitted if they have no information. */
export const ElementDescriptor = z.object({
  role: z.string(),
  name: z.string(),
  locator: z.string(),
  actions: z.array(ActionName),
  value: z.string().optional(),
  checked: z.union([z.boolean(), z.literal('mixed')]).optional(),
  disabled: z.literal(true).optional(),
  options: z.array(z.string()).optional(),
  href: z.string().optional(),
  offscreen: z.literal(true).optional(),
});
export type ElementDescriptor = z.infer<typeof ElementDescriptor>;

/**
 * A locator and the members that changed; a removed member is null. `after` is there if the element now stands elsewhere: the
 * locator of the one before it, null if it is the first.
 */
export const ElementChange = z.looseObject({ locator: z.string() });
export type ElementChange = z.infer<typeof ElementChange>;

/** The alert, confirm, prompt, or beforeunload dialog that blocks a page. */
export interface DialogNotice {
  readonly kind: string;
  readonly message: string;
}

/** The first look of a session, or one with `full: true`. */
export interface FullLook {
  readonly url: string;
  readonly title: string;
  readonly dialog?: DialogNotice;
  /** What was still under way after the second for which a look waits. */
  readonly unsettled?: string;
  readonly elements: readonly ElementDescriptor[];
}

/** A later look. In JSON, `unchanged` is a number and `elements` is omitted (spec section 3). */
export interface DiffLook {
  readonly url: string;
  readonly title: string;
  readonly dialog?: DialogNotice;
  /** What was still under way after the second for which a look waits. */
  readonly unsettled?: string;
  readonly diff: true;
  /** The page shows another document than at the look before: `added` is the whole list, the other groups are empty. */
  readonly document?: 'new';
  readonly added: readonly ElementDescriptor[];
  readonly removed: readonly string[];
  readonly changed: readonly ElementChange[];
  readonly unchanged: readonly string[];
  readonly elements: readonly ElementDescriptor[];
}

export type Look = FullLook | DiffLook;
