import { readFileSync } from 'node:fs';
import { z } from 'zod';

const Row = z.object({
  form: z.enum(['chrome-posix', 'chrome-cmd', 'chrome-powershell', 'firefox-posix', 'firefox-cmd']),
  name: z.string(),
  text: z.string(),
  method: z.string(),
  target: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string().nullable(),
});

/**
 * What Chromium 156 and Firefox 153 copy as cURL (and Chromium for PowerShell), made by their own code from 41 requests, and
 * what they were made from. cmd has no way to write other blanks than spaces, nor Chromium what is not ASCII there: `body`
 * and `headers` are what is left.
 */
export const browserForms = z
  .array(Row)
  .parse(JSON.parse(readFileSync(new URL('./browser-forms.json', import.meta.url), 'utf8')));
