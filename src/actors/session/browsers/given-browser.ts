import type { BrowserEndpoint, DevToolsAddress } from '../../../containers/driver.js';
import type { BrowserOptions } from '../browser-options.js';

/** A browser that a session has got. */
export interface GivenBrowser {
  readonly endpoint: BrowserEndpoint;
  readonly devTools: DevToolsAddress;
  readonly page: BrowserOptions;
}
