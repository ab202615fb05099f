import { z } from 'zod';
import { PendingTimer } from '../events.js';
import { ErrorBodySchema } from '../session.js';
import { ElementBox } from './element-box.js';

/** A request of the page that got no answer, or an answer of 400 and up. */
const FailedRequest = z.object({
  method: z.string(),
  url: z.string(),
  /** Null if there was no answer. */
  status: z.int().nullable(),
  /** Why there was no answer, in Chromium's words, such as `net::ERR_CONNECTION_REFUSED`. */
  error: z.string().optional(),
  /** The beginning of the answer's body if it says why: JSON or plain text, or the text of a page of 500 and up. */
  body: z.string().optional(),
  /** The step that was under way, or had ended last, when the request began. */
  step: z.int().optional(),
});

/** What a wait saw: a value, and from when on, in milliseconds since the wait began. */
const SeenValue = z.object({ value: z.string(), fromMs: z.number() });

/**
 * Why a flow, a script, or a session failed: the one object that terminals, reports, and `troupe why` show. The report
 * builder makes it from the session's events. Every text is bounded and redacted. Fields that are not known are absent.
 */
export const Failure = z.object({
  /** The cause's own code: that of the call that failed rather than FLOW_FAILED. */
  code: ErrorBodySchema.shape.code,
  message: z.string(),
  /** The flow in which it was thrown: a path under `flows/`, without extension. Absent for scripts and sessions. */
  flow: z.string().optional(),
  /** The flow's file as editors open it, such as `flows/shop/login.js`. */
  file: z.string().optional(),
  /** The Playwright test of the flow in which it was thrown, with the titles of its `describe` blocks. */
  test: z.string().optional(),
  /** 1-based, in the flow or the script. Without a column, the place is somewhere after the beginning of this line. */
  line: z.int().optional(),
  column: z.int().optional(),
  /** The failing line with up to two lines before and after it, numbered, and a caret if the column is known; several lines of plain text. */
  frame: z.string().optional(),
  /** Where the page stood. */
  url: z.string().optional(),
  title: z.string().optional(),
  /** The locator of the call that failed, as the script wrote it. */
  locator: z.string().optional(),
  /** What an assertion wanted, and what the page had at the end; plain text, or JSON. */
  expected: z.string().optional(),
  received: z.string().optional(),
  /** What the wait of an assertion saw, oldest first: the first value and the newest ones, at most 10. */
  history: z.array(SeenValue).optional(),
  /** How long the assertion waited, in milliseconds. */
  waitedMs: z.number().optional(),
  /** Whether the expected text is somewhere else on the page. */
  elsewhere: z.boolean().optional(),
  /** The last step before that found the element, or saw the expected value. Absent if none did. */
  seenAtStep: z.int().optional(),
  /** Every difference that `match` found, at most 50. */
  differences: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  /** Locators of the page that are most like the failing one, best first, at most 10. */
  nearMisses: z.array(z.string()).optional(),
  /** The page's last errors before the failure, oldest first, at most 5. */
  console: z.array(z.object({ text: z.string(), url: z.string(), step: z.int().optional() })).optional(),
  /** The page's last failed requests before the failure, oldest first, at most 5. */
  requests: z.array(FailedRequest).optional(),
  /** What the page was waiting for when the step failed. Absent if that is not known. */
  pending: z
    .object({
      /** Oldest first, at most 5; `ms`: how long each had been waiting. */
      requests: z.array(z.object({ method: z.string(), url: z.string(), ms: z.number() })),
      /** Those that are due first, at most 5. */
      timers: z.array(PendingTimer),
    })
    .optional(),
  /** The steps before, oldest first, at most 5, and what came of each, in words. */
  earlierSteps: z.array(z.object({ index: z.int(), js: z.string(), outcome: z.string() })).optional(),
  /** The step that failed. `before`: no step did, as in an error of the flow's own code; this is the last one before. */
  step: z
    .object({
      index: z.int(),
      /** 1-based within its attempt; absent if that is `index`. */
      number: z.int().optional(),
      js: z.string(),
      url: z.string(),
      title: z.string(),
      before: z.literal(true).optional(),
    })
    .optional(),
  /** The picture of the page, as a path in the artifacts: `screenshots/NAME.png`. */
  screenshot: z.string().optional(),
  /** Where the picture shows the element that the step failed on. */
  box: ElementBox.optional(),
  /** Why there is no picture. */
  noScreenshot: z.string().optional(),
  /** The trace of the session, as a path in the artifacts. */
  trace: z.string().optional(),
  /** Why there is no trace. */
  noTrace: z.string().optional(),
});
export type Failure = z.infer<typeof Failure>;
