import { stretched } from '../../base/deadline.js';
import type { HostCall, HostCallContext } from '../../script/host-module.js';
import { callSource } from '../call-source.js';
import type { SmallScreenshots } from '../pictures/small-screenshots.js';
import type { StepCall, Steps } from '../steps.js';
import type { Tab } from '../tabs/tab.js';
import type { Tabs } from '../tabs/tabs.js';
import type { Baselines } from './baselines.js';
import { expectLook } from './expect-look.js';
import { expectScreenshot } from './expect-screenshot.js';
import { PictureComparer } from './picture-comparer.js';
import { lookExpectation, screenshotExpectation } from './visual-arguments.js';

/** A page that is not drawn by then is compared as it is drawn. */
const DRAWN_MS = stretched(2_000);

/** `agent.expectScreenshot` and `agent.expectLook`: the page beside a file of how it has to be. Each is one step. */
export class Visual {
  readonly calls: { readonly [method: string]: HostCall };
  readonly #comparer = new PictureComparer();
  readonly #parts: {
    readonly tabs: Tabs;
    readonly steps: Steps;
    readonly baselines: Baselines;
    readonly smaller: SmallScreenshots;
    readonly screenshotsDir: string;
    readonly waitMs: number;
    readonly redact: <T>(shown: T) => T;
  };

  /** @param parts.waitMs how long a check waits if it does not say */
  constructor(parts: {
    readonly tabs: Tabs;
    readonly steps: Steps;
    readonly baselines: Baselines;
    readonly smaller: SmallScreenshots;
    readonly screenshotsDir: string;
    readonly waitMs: number;
    readonly redact: <T>(shown: T) => T;
  }) {
    this.#parts = parts;
    this.calls = {
      expectScreenshot: (args, context) => this.#expectScreenshot(args, context),
      expectLook: (args, context) => this.#expectLook(args, context),
    };
  }

  /** Idempotent; never rejects. */
  close(): Promise<void> {
    return this.#comparer.close();
  }

  #expectScreenshot(args: readonly unknown[], context: HostCallContext): Promise<object> {
    const { tabs, steps, baselines, smaller, screenshotsDir, waitMs } = this.#parts;
    const [name, options] = args;
    const wanted = screenshotExpectation(options);
    const ending = `${baselines.platform}.png`;
    const baseline = baselines.of('agent.expectScreenshot', name, context.site.flow, ending);
    return steps.run(this.#call('expectScreenshot', args), context.site, async (file) => {
      await smaller.keepViewDrawn(tabs.active, DRAWN_MS);
      return await expectScreenshot(
        {
          tab: tabs.active,
          baselines,
          comparer: this.#comparer,
          baseline,
          wanted,
          timeoutMs: wanted.timeoutMs ?? waitMs,
          screenshotsDir,
          file: file().replace(/\.png$/, ''),
        },
        context,
      );
    });
  }

  #expectLook(args: readonly unknown[], context: HostCallContext): Promise<object> {
    const { tabs, steps, baselines, waitMs } = this.#parts;
    const [name, options] = args;
    const { within, timeoutMs = waitMs } = lookExpectation(options);
    const baseline = baselines.of('agent.expectLook', name, context.site.flow, 'look.txt');
    return steps.run(this.#call('expectLook', args), context.site, () =>
      expectLook(tabs, baselines, { baseline, within, timeoutMs }, context),
    );
  }

  #call(method: string, args: readonly unknown[]): StepCall {
    const { tabs, redact } = this.#parts;
    const tab = (): Tab | undefined => (tabs.all.length === 0 ? undefined : tabs.active);
    return {
      method,
      shownArgs: () => redact(args),
      source: () => redact(callSource(method, args)),
      // Animations are held for the picture.
      touched: () => true,
      tab,
      picture: 'after',
    };
  }
}
