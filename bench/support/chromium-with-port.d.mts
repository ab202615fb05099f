import type { ChromiumBinary } from '#troupe/containers/chromium-binary.js';

export function openChromiumWithPort(
  chromium: Pick<ChromiumBinary, 'path' | 'env' | 'headlessShell'>,
  viewport?: { readonly width: number; readonly height: number },
): Promise<{ readonly cdpUrl: string; close(): Promise<void> }>;
