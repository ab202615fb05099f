import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';
import type { Call } from './devtools-calls.js';

const length = z.union([
  z.number().positive(),
  z.string().regex(/^\d+(\.\d+)?(px|in|cm|mm)?$/, 'is a length such as 2cm'),
]);
const zero = z.union([z.literal(0), length]);

/** Puppeteer's options of `page.pdf()`. */
export const PdfOptions = z.strictObject({
  scale: z.number().min(0.1).max(2).optional(),
  displayHeaderFooter: z.boolean().optional(),
  headerTemplate: z.string().optional(),
  footerTemplate: z.string().optional(),
  printBackground: z.boolean().optional(),
  landscape: z.boolean().optional(),
  pageRanges: z.string().optional(),
  format: z.string().optional(),
  width: length.optional(),
  height: length.optional(),
  preferCSSPageSize: z.boolean().optional(),
  margin: z
    .strictObject({ top: zero.optional(), bottom: zero.optional(), left: zero.optional(), right: zero.optional() })
    .optional(),
});

/** Puppeteer's options of `page.screenshot()`. */
export const ScreenshotOptions = z.strictObject({
  type: z.enum(['png', 'jpeg', 'webp']).default('png'),
  quality: z.int().min(0).max(100).optional(),
  fullPage: z.boolean().default(false),
  omitBackground: z.boolean().default(false),
  encoding: z.enum(['binary', 'base64']).default('binary'),
  clip: z
    .strictObject({ x: z.number(), y: z.number(), width: z.number().positive(), height: z.number().positive() })
    .optional(),
});

/** Inches, as Puppeteer's formats are. */
const FORMATS: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['letter', [8.5, 11]],
  ['legal', [8.5, 14]],
  ['tabloid', [11, 17]],
  ['ledger', [17, 11]],
  ['a0', [33.1, 46.8]],
  ['a1', [23.4, 33.1]],
  ['a2', [16.54, 23.4]],
  ['a3', [11.7, 16.54]],
  ['a4', [8.27, 11.7]],
  ['a5', [5.83, 8.27]],
  ['a6', [4.13, 5.83]],
]);
const PER_INCH: { readonly [unit: string]: number } = { px: 96, in: 1, cm: 2.54, mm: 25.4 };
/** Chromium keeps the picture in memory several times. */
const MAX_PIXELS = 16_384 * 8_192;

const Data = z.object({ data: z.string() });
const Metrics = z.object({ cssContentSize: z.object({ width: z.number(), height: z.number() }) });

/** @throws INVALID_REQUEST, ACTION_FAILED */
export async function printPdf(call: Call, options: z.infer<typeof PdfOptions>): Promise<Buffer> {
  const { format, width, height, margin = {}, ...rest } = options;
  const named = FORMATS.get((format ?? 'letter').toLowerCase());
  if (named === undefined) {
    throw new TroupeError('INVALID_REQUEST', `"options.format" must be one of ${[...FORMATS.keys()].join(', ')}`);
  }
  const params = {
    ...rest,
    paperWidth: width === undefined ? named[0] : inches(width),
    paperHeight: height === undefined ? named[1] : inches(height),
    marginTop: inches(margin.top ?? 0),
    marginBottom: inches(margin.bottom ?? 0),
    marginLeft: inches(margin.left ?? 0),
    marginRight: inches(margin.right ?? 0),
  };
  return Buffer.from(Data.parse(await call('Page.printToPDF', params)).data, 'base64');
}

/** @throws INVALID_REQUEST, ACTION_FAILED */
export async function takeScreenshot(call: Call, options: z.infer<typeof ScreenshotOptions>): Promise<Buffer> {
  const { type, quality, fullPage, omitBackground, clip } = options;
  if (quality !== undefined && type === 'png') {
    throw new TroupeError('INVALID_REQUEST', '"options.quality" has no meaning for a PNG; choose "jpeg" or "webp"');
  }
  if (fullPage && clip !== undefined) throw new TroupeError('INVALID_REQUEST', 'Give either "fullPage" or "clip"');
  if (omitBackground) {
    await call('Emulation.setDefaultBackgroundColorOverride', { color: { r: 0, g: 0, b: 0, a: 0 } });
  }
  const area = fullPage ? { x: 0, y: 0, ...Metrics.parse(await call('Page.getLayoutMetrics')).cssContentSize } : clip;
  if (area !== undefined && area.width * area.height > MAX_PIXELS) {
    throw new TroupeError('INVALID_REQUEST', `The picture would have more than ${MAX_PIXELS} points; give a "clip"`);
  }
  const params = {
    format: type,
    ...(quality === undefined ? {} : { quality }),
    ...(area === undefined ? {} : { clip: { ...area, scale: 1 }, captureBeyondViewport: true }),
  };
  return Buffer.from(Data.parse(await call('Page.captureScreenshot', params)).data, 'base64');
}

function inches(value: number | string): number {
  const [, number = '0', unit = 'px'] = /^([\d.]+)(\w+)?$/.exec(String(value)) ?? [];
  return Number(number) / (PER_INCH[unit] ?? 96);
}
