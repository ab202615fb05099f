import type { BrowserPort } from '../agent-js/browser/browser-port.js';
import type { CdpParams } from '../agent-js/browser/cdp.js';
import type { Permission } from '../protocol/session.js';

type Granted = CdpParams<'Browser.grantPermissions'>['permissions'][number];

const NAMES: { readonly [P in Permission]: Granted } = {
  accelerometer: 'sensors',
  'ambient-light-sensor': 'sensors',
  'background-sync': 'backgroundSync',
  camera: 'videoCapture',
  'clipboard-read': 'clipboardReadWrite',
  'clipboard-write': 'clipboardSanitizedWrite',
  geolocation: 'geolocation',
  gyroscope: 'sensors',
  'local-fonts': 'localFonts',
  magnetometer: 'sensors',
  microphone: 'audioCapture',
  midi: 'midi',
  'midi-sysex': 'midiSysex',
  notifications: 'notifications',
  'payment-handler': 'paymentHandler',
  'storage-access': 'storageAccess',
};

/** Lets all pages of a browser do these without asking a person; others are refused from then on. */
export async function grantPermissions(
  browser: Pick<BrowserPort, 'send'>,
  wanted: readonly Permission[],
): Promise<void> {
  const permissions = [...new Set(wanted.map((one) => NAMES[one]))];
  await browser.send('Browser.grantPermissions', { permissions });
}
