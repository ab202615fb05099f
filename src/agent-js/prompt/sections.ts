/** A part of what a model must know to write agent JS. */
export interface PromptSection {
  readonly id: 'scripts' | 'look' | 'locators' | 'calls' | 'match' | 'flows' | 'errors';
  readonly title: string;
  /** Markdown. Short: every word is paid for with each request. */
  readonly text: string;
}

/**
 * The agent JS reference for models: the one source of the autonomous loop's system prompt and of every other place
 * that explains agent JS to a model.
 */
export const PROMPT_SECTIONS: readonly PromptSection[] = [
  {
    id: 'scripts',
    title: 'Scripts',
    text: `Plain JavaScript that reads as synchronous: no await, no promises. The value of the last expression is the result.
What a script declares is there for the next one. There are only the language, agent, match, Flow, File, args and console:
no fetch, timers, require or document. Put several steps into one script when you know what follows.`,
  },
  {
    id: 'look',
    title: 'Seeing the page',
    text: `agent.look() lists what a person can operate, one element a line: its locator, and its value or state where there is
one. Later looks tell what changed: + added, - removed, ~ changed. agent.look({full: true}) starts afresh,
agent.look({within: locator}) narrows. agent.text(locator?) reads the visible text of an element or of the page.`,
  },
  {
    id: 'locators',
    title: 'Locators',
    text: `{role}name is what a person sees: {button}Save, {input}Password, {a}Sign in. {^role}text contains the text.
{role:2}name is the second of that name. {*}text is any element. CSS (#id, .class) and XPath (//a) work too.
Copy locators from a look; do not guess them.`,
  },
  {
    id: 'calls',
    title: 'Calls',
    text: `- agent.go(url): opens an address; {url, title, status}
- agent.act(locator, action, value?): click, dblclick, rightclick, hover, input (replaces the text), clear, press (a key),
  select (an option's text), check, uncheck, focus, scroll, upload (a file name), drag (a locator). It waits until the
  element can take the action, and for a navigation that it starts.
- agent.wait(condition, {timeout}?): a locator (appears), "!" + locator (goes), "navigation", "idle", or milliseconds
- agent.text(locator?), agent.value(locator), agent.page(js): read; page(js) evaluates an expression in the page
- agent.back(), agent.tabs(), agent.tab(n), agent.downloads(), agent.screenshot(title?)
- An open alert, confirm or prompt is seen as {dialog}OK and {dialog}Cancel: act on those.`,
  },
  {
    id: 'match',
    title: 'Checking',
    text: `match(actual, expected, message?) throws with every difference. An expected object checks only the members that it
lists. Markers: '#string', '#number', '#present', '#regex RE', '#? _ > 3', '#[3]'.`,
  },
  {
    id: 'flows',
    title: 'Flows',
    text: `Flow.run(path, args?) runs flows/<path>.js, a recorded script, and answers its value. File.list(), File.read(path) and
File.write(path, text) work on that folder.`,
  },
  {
    id: 'errors',
    title: 'Errors',
    text: `A failing call throws an error with a code: LOCATOR_NOT_FOUND, LOCATOR_AMBIGUOUS (add an index), ACTION_FAILED (it says
what stands in the way), WAIT_TIMEOUT, MATCH_FAILED. Steps before the failing one have happened: look before you repeat
anything.`,
  },
];

/** The sections as one text, each under a heading of the given depth. */
export function renderSections(sections: readonly PromptSection[] = PROMPT_SECTIONS, depth = 2): string {
  return sections.map(({ title, text }) => `${'#'.repeat(depth)} ${title}\n\n${text}`).join('\n\n');
}
