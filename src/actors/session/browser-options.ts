import type { LiveRequest } from '../../protocol/session.js';

/** What visited sites see of the session's browser: the members of the create request with the same names. */
export type BrowserOptions = Pick<
  LiveRequest,
  | 'viewport'
  | 'locale'
  | 'timezone'
  | 'device'
  | 'permissions'
  | 'geolocation'
  | 'colorScheme'
  | 'userAgent'
  | 'headers'
  | 'httpCredentials'
  | 'ignoreHTTPSErrors'
  | 'storageState'
  | 'proxy'
>;
