import type { LiveRequest } from '../../protocol/session.js';

/** What the sites that a session visits are to see of it: the create request's members of the same names. */
export type BrowserOptions = Pick<
  LiveRequest,
  | 'viewport'
  | 'locale'
  | 'timezone'
  | 'userAgent'
  | 'headers'
  | 'httpCredentials'
  | 'ignoreHTTPSErrors'
  | 'storageState'
  | 'proxy'
>;
