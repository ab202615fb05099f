import { comparedPictures } from '../../protocol/report/compared-pictures.js';
import type { Report } from '../../protocol/report/report.js';
import { escapeMarkup as esc } from '../escape.js';
import type { ImageSource } from '../images.js';

type Step = Report['steps'][number];

/** The files that {@link comparedSection} shows of a step. */
export function comparedFiles(step: Step | null): readonly string[] {
  const pictures = comparedPictures(step?.error?.details);
  if (pictures === null) return [];
  const { received, expected, difference } = pictures;
  return [received, expected, difference].filter((one) => one !== null);
}

/**
 * Expected, received and difference of a picture that was compared, and the first two over each other. The page has no script:
 * the edge between them is that of a box that can be resized.
 */
export function comparedSection(step: Step | null, image: (name: string) => ImageSource | null): string {
  const pictures = comparedPictures(step?.error?.details);
  if (pictures === null) return '';
  const { expected, received, difference } = pictures;
  const files = Object.entries({ expected, received, difference });
  const sources = files.map(([name, file]) => [name, file === null ? null : image(file)] as const);
  const shown = sources.map(([name, source]) => {
    if (source === null) return '';
    const picture =
      'inline' in source
        ? `<img src="${source.inline}" alt="${LABELS[name] ?? name}">`
        : `<a href="${esc(source.link)}">${LABELS[name] ?? name}</a>`;
    return `<figure><figcaption>${LABELS[name] ?? name}</figcaption>${picture}</figure>`;
  });
  const at = new Map(sources);
  return `<div class="compared">${slider(at.get('expected'), at.get('received'))}${shown.join('')}</div>`;
}

const LABELS: { readonly [name in string]?: string } = {
  expected: 'Expected',
  received: 'Received',
  difference: 'Difference',
};

function slider(expected: ImageSource | null | undefined, received: ImageSource | null | undefined): string {
  if (expected == null || received == null || !('inline' in expected) || !('inline' in received)) return '';
  return `<figure><figcaption>Expected over received: drag the corner of the upper picture</figcaption><div class="slider">
<img src="${received.inline}" alt="Received"><div class="upper"><img src="${expected.inline}" alt="Expected"></div></div></figure>`;
}
