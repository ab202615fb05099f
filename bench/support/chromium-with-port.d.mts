import type { ChromiumBinary } from '#troupe/containers/chromium/chromium-binary.js';

export function openChromiumWithPort(
  chromium: Pick<ChromiumBinary, 'path' | 'env' | 'headlessShell'>,
  viewport?: { readonly width: number; readonly height: number },
  profile?: string,
): Promise<{ readonly cdpUrl: string; readonly pid: number; close(): Promise<void> }>;
