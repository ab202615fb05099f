/*
 * What a page, a flow, or the answer of a request decides is `any`: flows are plain JavaScript, and their authors could not
 * narrow an `unknown`.
 */

/** A call of a global object of scripts. */
export interface ScriptCall {
  /** Its type as TypeScript writes it, without the name. */
  readonly type: string;
  /** What an editor shows: what it does, units, and errors. */
  readonly says: string;
  /** A line or two of JavaScript. */
  readonly example?: string;
}

export type ScriptCalls = { readonly [call: string]: ScriptCall };

/** The calls of `agent` that act on one browser: those of `agent.session(name)` too. */
export const BROWSER_CALLS: ScriptCalls = {
  go: {
    type: '(url: string): { url: string; title: string; status: number | null; dialog?: Dialog }',
    says: 'Opens a URL and waits until the page has loaded, 30 s at most. A relative URL is resolved against the page. `status` is the HTTP status, null if the page came without HTTP; `dialog` is one that is open now. Throws ACTION_FAILED if the page cannot be reached, WAIT_TIMEOUT if it does not finish loading.',
    example: "agent.go('https://shop.example/cart');",
  },
  look: {
    type: '(options?: { full?: boolean; within?: string }): Look',
    says: "Lists the page's controls with the locators for `agent.act`. From the second look on, the result also says what has changed; `elements` is always the whole list. `within` is a locator: only that part of the page. `full` starts over.",
    example: 'const links = agent.look().elements.filter(({ role }) => role === "a");',
  },
  act: {
    type: '(locator: string, action: Action, value?: ActValue | ActOptions | null, options?: ActOptions): Acted',
    says: 'Acts on an element as a person does, by real input, and waits for a navigation that this starts. Waits until the element is ready, 10 s unless the session or `timeout` says otherwise. Throws LOCATOR_NOT_FOUND, LOCATOR_AMBIGUOUS, LOCATOR_STALE, or ACTION_FAILED with the reason.',
    example: "agent.act('{input}User name', 'input', 'ada');\nagent.act('{button}Log in', 'click', { timeout: 5000 });",
  },
  wait: {
    type: "(condition: 'navigation' | 'idle' | (string & {}) | number, options?: Timeout): { waitedMs: number }",
    says: "Waits for an element (a locator), until it is gone ('!' before the locator), for a page that loads ('navigation'), for a quiet network ('idle'), or for a number of milliseconds. Throws WAIT_TIMEOUT after `timeout` milliseconds, 10,000 by default.",
    example: "agent.wait('!{div}Loading');",
  },
  text: {
    type: '(locator?: string): string',
    says: 'The visible text of an element, or of the whole page. Does not wait: throws LOCATOR_NOT_FOUND if there is no such element.',
  },
  read: {
    type: '(locator?: string): string',
    says: 'The visible text of an element, or of the whole page, as Markdown: headings, lists, tables, and links. Fields are left out.',
  },
  value: {
    type: '(locator: string): any',
    says: "The value of a field: its text; the chosen option, or an array if several can be chosen; true, false, or 'mixed' for a checkbox, radio button, or switch. A password is masked. Throws LOCATOR_NOT_FOUND.",
  },
  screenshot: {
    type: '(title?: string | { title?: string; within?: string; marks?: boolean }): { file: string; width: number; height: number }',
    says: 'Takes a picture of the page, or of one element (`within`, a locator). The file is in the zip of the artifacts; sizes are in pixels. `marks` draws a box and the locator of each element of the last look on it.',
  },
  page: {
    type: '(js: string): any',
    says: 'Evaluates JavaScript among the scripts of the page itself, awaits a promise, and returns the value as JSON. Throws SCRIPT_ERROR with whatever the JavaScript throws.',
    example: "agent.page('document.title');",
  },
  back: {
    type: '(): { url: string; title: string }',
    says: 'Goes back by one page, and waits until it has loaded, 30 s at most. Throws ACTION_FAILED if there is none.',
  },
  tabs: {
    type: '(): Tab[]',
    says: 'The open tabs, oldest first. A tab or window that the page opens becomes the active one.',
  },
  tab: {
    type: '(index: number): Tab',
    says: 'Makes a tab the active one, by its index in `agent.tabs()`. All calls act on the active tab.',
  },
  dialogs: {
    type: '(): { kind: string; message: string; url: string }[]',
    says: "The alerts, confirms, prompts, and questions whether to leave that pages have shown so far, the last 100. An open one is answered by `agent.act('{dialog}OK', 'click')`.",
  },
  downloads: {
    type: '(): { name: string; bytes: number; url: string }[]',
    says: 'The finished downloads; waits up to 10 s for those that are under way. The files are in the zip of the artifacts.',
  },
  requests: {
    type: '(filter?: string | { url?: string; method?: string; type?: string; status?: number }): PageRequest[]',
    says: "What the pages have asked servers for, oldest first, the last 1,000. The filter is an address or a glob, or an object; `type` is 'document', 'fetch', 'xhr', 'script', 'image', and so on.",
    example: "const [order] = agent.requests({ url: 'https://shop.example/api/orders', method: 'POST' });",
  },
  mock: {
    type: '(url: string, answer: MockAnswer | null): null',
    says: 'Answers the requests of all tabs to an address or a glob in place of the server, until it is called with null. A later mock wins over an earlier one.',
    example: "agent.mock('https://shop.example/api/orders', { json: [] });",
  },
  clock: {
    type: ': AgentClock',
    says: "The pages' time: sets, freezes, and advances it in all tabs until the session ends.",
  },
  saveState: {
    type: '(name: string, options?: { expiresIn?: number }): { name: string; cookies: number; origins: string[]; expiresAt: string }',
    says: 'Saves the login under a name, so that sessions with this `state` start with it: all cookies, and the local storage of the sites that are open in a tab. `expiresIn` is in seconds, a day by default, 30 days at most. `cookies` of the result is their number, `expiresAt` an ISO 8601 time.',
  },
  expect: {
    type: '(target: string | Session): Expectation & { not: Expectation }',
    says: 'Checks an element, or the page if it is given `agent`, and waits until the check passes: as long as `agent.act` waits, unless the check has a `timeout`. Throws MATCH_FAILED. Alone it checks nothing: a check has to follow.',
    example: "agent.expect('{h1}Cart').toBeVisible();\nagent.expect(agent).toHaveURL('/cart');",
  },
  until: {
    type: '<T>(body: () => T, options?: Timeout): Truthy<Awaited<T>>',
    says: 'Calls a function until it returns something true, and returns that. Page errors, such as LOCATOR_NOT_FOUND, count as "not yet". Throws MATCH_FAILED after `timeout` milliseconds.',
    example: "agent.until(() => agent.text('.status') === 'Paid');",
  },
  expectScreenshot: {
    type: '(name: string, options?: Timeout & { within?: string; mask?: string | readonly string[]; threshold?: number }): Compared',
    says: 'Compares the page, or one element (`within`), with the picture of that name beside the flow, and waits until they are alike. `mask` covers elements; `threshold`, 0 to 1, is how much the color of a pixel may differ. Throws MATCH_FAILED.',
  },
  audit: {
    type: '(options?: Timeout & AuditOptions): Audit',
    says: 'Looks for barriers to people with disabilities, by the rules of axe-core. Throws MATCH_FAILED if a rule is broken whose impact is serious or critical, or as `impact` says.',
  },
  vitals: {
    type: '(options?: Timeout): { ttfb: number | null; fcp: number | null; lcp: number | null; cls: number | null; inp: number | null }',
    says: 'The Web Vitals of the page so far, in milliseconds from the start of the navigation; `cls` is a score, `inp` the delay of the slowest interaction. null stands for what has not happened yet.',
    example: "match(agent.vitals(), { lcp: '#? _ < 2500' });",
  },
  pdf: {
    type: '(options?: Timeout & { name?: string; landscape?: boolean }): { file: string; bytes: number }',
    says: 'Prints the page to a PDF, on A4 if the page asks for no other size. The file is in the zip of the artifacts, under `pdf/`.',
  },
  expectLook: {
    type: '(name: string, options?: Timeout & { within?: string }): Compared',
    says: "Compares the list of the page's controls with the list of that name beside the flow, and waits until they are alike. Throws MATCH_FAILED with the lines that differ.",
  },
};

/** Those of the first browser alone. */
export const SESSION_CALLS: ScriptCalls = {
  handoff: {
    type: '(text: string, options?: Timeout): { waitedMs: number; note?: string }',
    says: 'Waits until a person has done what the text says, and has answered on the dashboard, over HTTP, or in an MCP client. `timeout` is in milliseconds, 600,000 by default. Throws WAIT_TIMEOUT without an answer, ACTION_FAILED if the person refuses.',
    example: "agent.handoff('Solve the captcha');",
  },
  session: {
    type: '(name: string, options?: { state?: string }): Session',
    says: 'A second browser in the same flow, with the calls of `agent`. The name stands for the same browser until the session ends. It has no login, unless `state` names one that `agent.saveState` saved. Throws CAPACITY if none becomes free.',
    example: "const ben = agent.session('ben');\nben.go('https://shop.example/chat');",
  },
};

/** The members of `match`, which is a function too. */
export const MATCH_CALLS: ScriptCalls = {
  equals: {
    type: '(actual: unknown, expected: unknown, message?: string): true',
    says: 'Compares everything: an object has exactly the expected members. Throws MATCH_FAILED with every difference.',
  },
  contains: {
    type: '(actual: unknown, part: unknown, message?: string): true',
    says: 'Looks for a part: a text in a text, an element or several in an array, members in an object. Throws MATCH_FAILED.',
  },
  each: {
    type: '(actual: readonly unknown[], expected: unknown, message?: string): true',
    says: 'Compares each element of an array with `expected`, as `match` does. Throws MATCH_FAILED with every difference.',
    example: "match.each(agent.tabs(), { url: '#regex https://.+' });",
  },
};

/** `match` itself. */
export const MATCH: ScriptCall = {
  type: '(actual: unknown, expected: unknown, message?: string): true',
  says: "Compares a value with what is expected: of an object only the members that are listed, and markers such as '#string' or '#regex \\\\d+' where they stand. Throws MATCH_FAILED with every difference.",
  example: "match(agent.requests(), [{ status: 201, body: { id: '#number' } }]);",
};

export const FLOW_CALLS: ScriptCalls = {
  run: {
    type: '(path: string, args?: object): any',
    says: "Runs another flow and returns its value. The path is below `flows/`, without its ending; './' and '../' are relative to the flow that calls. Flows can call flows, 20 deep.",
    example: "const user = Flow.run('./login', { user: 'ada', password: '{{PASSWORD}}' });",
  },
};

export const FILE_CALLS: ScriptCalls = {
  write: {
    type: '(path: string, text: string): { path: string; bytes: number }',
    says: 'Writes a text file below `flows/`, and makes its folders. `agent.act` can upload it by its path. Throws SCRIPT_ERROR for a path that leads out of `flows/`, or a name that is not valid on every system.',
  },
  read: {
    type: '(path: string): string',
    says: 'The text of a file below `flows/`. Throws SCRIPT_ERROR if there is none.',
  },
  list: {
    type: '(glob?: string): string[]',
    says: 'The paths of the files below `flows/`, or of those that a glob means.',
    example: "File.list('shop/*.js');",
  },
};

export const REQUEST_CALLS: ScriptCalls = {
  run: {
    type: '(path: string, variables?: object): RequestAnswer',
    says: "Sends a request of a collection below `requests/` from the service, and returns the answer, whatever its status. `variables` win over those of the collection. Throws NOT_FOUND if there is no such request, REQUEST_FAILED if there was no answer, MATCH_FAILED if one of the request's tests failed.",
    example: "const { body } = Request.run('shop/New user', { name: 'ada' });",
  },
};
