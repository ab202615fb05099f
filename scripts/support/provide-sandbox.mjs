import { browserUser } from '../../dist/containers/chromium/browser-user.js';
import { hasUserNamespaces } from '../../dist/containers/process/chromium-sandbox.js';

/**
 * Switches Chromium's sandbox off for the tests where it cannot start, as in most containers. CI must be able to start it.
 * Call after the build.
 */
export async function provideSandbox() {
  if (process.platform !== 'linux' || process.env.TROUPE_REFUSE_SKIPS === '1') return;
  if (process.env.TROUPE_CHROMIUM_SANDBOX || (await hasUserNamespaces(browserUser(undefined)))) return;
  console.log("User namespaces are refused here: browsers run without Chromium's sandbox, and tests of it are skipped");
  process.env.TROUPE_CHROMIUM_SANDBOX = 'false';
}
