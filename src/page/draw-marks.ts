import { shownLooks } from './controls/shown-looks.js';
import { isProblem, type MarksRequest } from './page-calls.js';
import { viewportRect } from './tree/geometry.js';
import { isShown } from './tree/visibility.js';

/** Adjacent marks have different colors. */
const COLORS = ['#c00000', '#0050c0', '#007030', '#8000a0', '#a04000', '#006080'];
const MAX_LABEL = 40;
/** Heights in CSS pixels. */
const LINE = 13;
const FONT = 11;

/**
 * Draws a box and the locator of each element of a look on a picture. The page sees nothing of it: the canvas is in no
 * document. Null where the picture cannot be read.
 */
export async function drawMarks({ png, clip, marks }: MarksRequest): Promise<string | null> {
  try {
    const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    const context = canvas.getContext('2d');
    if (context === null) return null;
    context.drawImage(picture, 0, 0);
    const across = picture.width / (clip?.width ?? innerWidth);
    const down = picture.height / (clip?.height ?? innerHeight);
    context.scale(across, down);
    if (clip !== null) context.translate(scrollX - clip.left, scrollY - clip.top);
    context.font = `${FONT}px sans-serif`;
    context.textBaseline = 'middle';
    for (const [index, { label, locator, look }] of marks.entries()) {
      const element = shownLooks.find({ locator, look });
      if (element === null || isProblem(element) || !isShown(element)) continue;
      mark(context, viewportRect(element), label.slice(0, MAX_LABEL), COLORS[index % COLORS.length] ?? '');
    }
    return base64(new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer()));
  } catch {
    return null;
  }
}

function mark(context: OffscreenCanvasRenderingContext2D, box: DOMRect, label: string, color: string): void {
  const { x, y, width, height } = box;
  context.strokeStyle = color;
  context.lineWidth = 2;
  context.strokeRect(x, y, width, height);
  const top = y >= LINE ? y - LINE : y;
  context.fillStyle = color;
  context.fillRect(x - 1, top, context.measureText(label).width + 6, LINE);
  context.fillStyle = '#ffffff';
  context.fillText(label, x + 2, top + LINE / 2);
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text);
}
