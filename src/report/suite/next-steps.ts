import type { Failure } from '../../protocol/report/failure.js';
import { pendingLines } from '../../protocol/report/failure-context.js';

/** What a person may do about a failure, the likeliest cause first, one sentence each; at most three. */
export function nextSteps(failure: Failure): readonly string[] {
  const { file, step } = failure;
  const steps = [...fromPage(failure), ...fromCode(failure)];
  const seen =
    file === undefined || step === undefined
      ? []
      : [`See the page as the step left it: troupe run ${file} --pause (it waits for a person)`];
  return [...steps, ...seen].slice(0, 3);
}

/** What the page itself says is wrong, and then most often is. */
function fromPage({ console: errors = [], requests = [] }: Failure): readonly string[] {
  const error = errors.at(-1);
  const request = requests.findLast(({ status }) => status === null || status >= 500);
  const at = (index: number | undefined) => (index === undefined ? '' : ` in step ${index}`);
  return [
    ...(error === undefined
      ? []
      : [`The page threw an error${at(error.step)}: the flow may be right, look there first`]),
    ...(request === undefined
      ? []
      : [
          `${request.method} ${request.url.slice(0, 200)} ${request.status === null ? 'got no answer' : `was answered with ${request.status}`}${at(request.step)}: look at the log of its server`,
        ]),
  ];
}

function fromCode(failure: Failure): readonly string[] {
  const { code, message, file, nearMisses = [], seenAtStep, elsewhere } = failure;
  const pends = (pendingLines(failure) ?? []).length > 0;
  switch (code) {
    case 'LOCATOR_NOT_FOUND':
      if (seenAtStep !== undefined)
        return [`The element was there in step ${seenAtStep}: see what has removed it since`];
      if (pends) return [MORE_TIME];
      return nearMisses.length === 0 ? [] : [`If the page is right, change the locator: ${nearMisses[0]}`];
    case 'LOCATOR_AMBIGUOUS':
      return ['Use a locator that only one element matches: a number may mean another one when the page changes'];
    case 'LOCATOR_STALE':
      return ['Call agent.look() after what changed the page, and use the locators that it returns'];
    case 'MATCH_FAILED':
      if (elsewhere === true) return ['The text is elsewhere on the page: check which element the locator means'];
      return pends ? [MORE_TIME] : [];
    case 'ACTION_FAILED':
      if (message.includes('is covered by')) return ['Close what covers the element first, or wait until it has gone'];
      if (message.includes('A dialog is open')) return ["Answer the dialog first: agent.act('{dialog}OK', 'click')"];
      return pends ? [MORE_TIME] : [];
    case 'WAIT_TIMEOUT':
      return pends ? [MORE_TIME] : [];
    case 'HARD_TIMEOUT':
      return ['Give the flow more time, if its steps need it: --timeout SECONDS'];
    case 'SCRIPT_ERROR':
      return file === undefined ? [] : [`Find such faults without a browser: troupe flow check ${file}`];
    case 'INTERRUPTED':
    case 'WORKER_LOST':
      return ['The flow did not fail by itself: run it again, or let --retries do so'];
    default:
      return [];
  }
}

const MORE_TIME = 'Something was still pending: give the call more time, as in {timeout: 20000}';
