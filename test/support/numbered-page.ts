import { inflateSync } from 'node:zlib';

/** Bits of the number that a page shows, each a square of 40 CSS pixels. */
const BITS = 8;
const PITCH = 48;
const MIDDLE = 36;
/** A page without the squares, or with something over them. */
export const UNREADABLE = -1;

/**
 * A page that shows a number, which each of its controls raises by one. Buttons are painted while the mouse is over them
 * too, so that a click paints twice.
 *
 * @param next where its link leads, with the next number
 */
export function numberedPage(number: number, next: string, more = ''): string {
  const squares = Array.from({ length: BITS }, (_, bit) => `<i style="left:${16 + PITCH * bit}px"></i>`).join('');
  return `<!doctype html><title>Number</title><style>body { margin: 0; font: 20px sans-serif; height: 2000px }
i { position: absolute; top: 16px; width: 40px; height: 40px } button:hover, a:hover { background: #fc8 }
#controls { position: fixed; top: 90px }</style>${squares}<div id="controls"><button id="more">More</button>
<input id="text" aria-label="Text"><input type="checkbox" id="check" aria-label="Check">
<select id="choice" aria-label="Choice"><option>a<option>b<option>c</select> <a id="link">Link</a><p id="words"></p></div>
<script>let number = ${number};
const show = () => {
  document.querySelectorAll('i').forEach((square, bit) => { square.style.background = number >> bit & 1 ? '#000' : '#0f0'; });
  words.textContent = 'number ' + number;
  link.href = '${next}?n=' + (number + 1);
};
const raise = () => { number += 1; show(); };
more.onclick = raise; text.oninput = raise; check.onchange = raise; choice.onchange = raise; show();</script>${more}`;
}

/** The number that a picture of such a page shows; UNREADABLE where none can be seen. */
export function numberOn(png: Buffer, viewport = 1280): number {
  const { width, at } = decodePng(png);
  let number = 0;
  for (let bit = 0; bit < BITS; bit += 1) {
    const scale = width / viewport;
    const [red = 0, green = 0, blue = 0] = at(Math.round((MIDDLE + PITCH * bit) * scale), Math.round(MIDDLE * scale));
    if (blue > 60 || red > 60) return UNREADABLE;
    if (green < 128) number |= 1 << bit;
  }
  return number;
}

/** A PNG of 8 bits a channel, not interlaced (https://www.w3.org/TR/png/). */
export function decodePng(png: Buffer): { width: number; height: number; at(x: number, y: number): number[] } {
  const parts: Buffer[] = [];
  let header = png.subarray(16, 29);
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const kind = png.toString('latin1', at + 4, at + 8);
    if (kind === 'IHDR') header = png.subarray(at + 8, at + 8 + length);
    if (kind === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const step = header[9] === 6 ? 4 : 3;
  const stride = width * step;
  const raw = inflateSync(Buffer.concat(parts));
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const left = x < step ? 0 : (pixels[y * stride + x - step] ?? 0);
      const up = y === 0 ? 0 : (pixels[(y - 1) * stride + x] ?? 0);
      const corner = x < step || y === 0 ? 0 : (pixels[(y - 1) * stride + x - step] ?? 0);
      const value = raw[y * (stride + 1) + 1 + x] ?? 0;
      pixels[y * stride + x] = (value + predicted(filter, left, up, corner)) & 255;
    }
  }
  return { width, height, at: (x, y) => [...pixels.subarray(y * stride + x * step, y * stride + x * step + 3)] };
}

function predicted(filter: number | undefined, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
