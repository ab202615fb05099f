import type { AutoRequest, LiveRequest } from '../protocol/session.js';

/** How a member of a session's request takes effect. */
type Use =
  /** The browser is started with it. One that was started with something else does not fit. */
  | 'start'
  /** Every connection to the browser sets it, on its pages or in the browser as a whole. */
  | 'pages'
  /** The driver opens and closes the browser's way out by it, whenever a session gets a browser. */
  | 'network'
  /** The session's actor is started with it. One that was started with something else does not fit. */
  | 'actor'
  /** The service acts on it: no browser and no actor gets it. */
  | 'service';

/** A request of either mode. */
type AnyRequest = Partial<Omit<AutoRequest, 'mode'>> & { readonly mode?: AutoRequest['mode'] | LiveRequest['mode'] };

/**
 * What each member of a request is for. Browsers and actors get what is listed here and nothing else, so a member takes effect
 * the same way in a browser that was started ahead, in one of the session's own, in a second one, and in one that is taken
 * over.
 */
const USES = {
  mode: ['actor', 'service'],
  name: ['service'],
  labels: ['service'],
  viewport: ['start', 'pages'],
  locale: ['start', 'pages'],
  timezone: ['pages'],
  device: ['pages'],
  permissions: ['pages'],
  geolocation: ['pages'],
  colorScheme: ['pages'],
  userAgent: ['pages'],
  headers: ['pages'],
  ignoreHTTPSErrors: ['pages'],
  httpCredentials: ['pages'],
  storageState: ['pages'],
  // The service reads it, and passes it on as storageState.
  state: ['service'],
  // Its credentials are given to the pages that are asked for them.
  proxy: ['start', 'pages'],
  idleTimeout: ['service'],
  hardTimeout: ['service'],
  video: ['actor', 'service'],
  trace: ['actor', 'service'],
  screenshots: ['actor'],
  har: ['actor'],
  // The actor sends the requests of `Request.run`.
  egress: ['network', 'actor'],
  forward: ['network'],
  prompt: ['service'],
  flowFiles: ['service'],
  args: ['actor', 'service'],
  secrets: ['actor', 'service'],
  model: ['service'],
  maxIterations: ['service'],
  maxTokens: ['service'],
  retries: ['service'],
  actTimeout: ['actor'],
  updateBaselines: ['actor'],
  pauseOnFailure: ['actor'],
  webhook: ['service'],
  webhookFormat: ['service'],
} as const satisfies { readonly [Member in keyof Required<AnyRequest>]: readonly Use[] };

type MembersFor<U extends Use> = {
  [Member in keyof typeof USES]: U extends (typeof USES)[Member][number] ? Member : never;
}[keyof typeof USES];

/** The members of a request that have this use. */
export type OptionsFor<U extends Use> = Pick<AnyRequest, MembersFor<U>>;

/** What visited sites see of the session's browser: the members of the create request with the same names. */
export type BrowserOptions = OptionsFor<'pages'>;

/** The members of a request that have this use, and no others. */
export function optionsFor<U extends Use>(use: U, request: LiveRequest | AutoRequest): OptionsFor<U> {
  const uses: { readonly [member: string]: readonly Use[] } = USES;
  const meant = Object.entries(request).filter(([member, value]) => value !== undefined && uses[member]?.includes(use));
  return Object.fromEntries(meant) as OptionsFor<U>; // The filter leaves no other member.
}
