import { TroupeError } from '../../protocol/errors.js';
import type { SessionEvent } from '../../protocol/events.js';
import type { HostCallContext } from '../../script/host-module.js';
import { boundsOf, remainingMs } from '../browser/bounds.js';
import { screenshotOptions } from '../call-arguments.js';
import type { Steps } from '../steps.js';
import type { Tabs } from '../tabs/tabs.js';
import {
  CAPTURE_MS,
  captureScreenshot,
  clipOf,
  keepScreenshot,
  markedScreenshot,
  type Screenshot,
} from './screenshots.js';

/**
 * `agent.screenshot(title | options)`, as a step whose picture it is.
 *
 * @param parts.dir made with the first picture
 * @throws ACTION_FAILED for a page that draws nothing, and without a look to mark
 */
export async function wantedScreenshot(
  title: unknown,
  context: HostCallContext,
  parts: {
    readonly tabs: Tabs;
    readonly steps: Steps;
    readonly dir: string;
    readonly emit: (event: SessionEvent) => void;
  },
): Promise<Screenshot> {
  const { tabs, steps, dir, emit } = parts;
  const { title: named, within, marks } = screenshotOptions(title);
  const shown = tabs.asker.numbers;
  if (marks && shown === null) {
    throw new TroupeError('ACTION_FAILED', 'There is no look to mark: call agent.look() first');
  }
  const more = { ...(within === null ? {} : { within }), ...(marks ? { marks } : {}) };
  const call = {
    method: 'screenshot',
    shownArgs: () => [within === null && !marks ? named : { ...(named === null ? {} : { title: named }), ...more }],
    touched: () => false,
    tab: () => (tabs.all.length === 0 ? undefined : tabs.active),
    picture: 'own',
  } as const;
  return steps.run(call, context.site, async (file) => {
    const tab = tabs.active;
    const bounds = boundsOf(context, CAPTURE_MS);
    const clip = within === null ? null : await clipOf(tab, within, bounds);
    const plain = await captureScreenshot(tab, Math.max(1, remainingMs(bounds)), clip);
    const png =
      plain === null || !marks || shown === null ? plain : await markedScreenshot(tab, plain, clip, shown, bounds);
    const picture = png === null ? null : await keepScreenshot(png, dir, file());
    if (picture === null) {
      if (tab.dialog !== null) throw tab.dialogError();
      throw new TroupeError('ACTION_FAILED', 'No screenshot of the page is possible: it draws nothing');
    }
    emit({ type: 'ScreenshotTaken', data: { ...picture, title: named ?? '' } });
    return picture;
  });
}
