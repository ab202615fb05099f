import { z } from 'zod';
import { StateName } from './login-state.js';

/** The name of a second browser of a session: of a person in a flow, such as `bob`. */
export const BrowserName = z.string().regex(/^[A-Za-z0-9][\w.-]{0,99}$/);

/** A session has at most so many browsers beside its own. */
export const MAX_SECOND_BROWSERS = 8;

/** What a script asks for with `agent.session(name, {state}?)`. */
export const BrowserRequest = z.object({
  /** The request's id. */
  browser: z.string(),
  name: BrowserName,
  /** The login state that the browser begins with. */
  state: StateName.optional(),
  /** How long the script can wait for a slot, in milliseconds. */
  withinMs: z.int(),
});
export type BrowserRequest = z.infer<typeof BrowserRequest>;
