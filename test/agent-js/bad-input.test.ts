import t from 'tap';
import { filesModule } from '#troupe/agent-js/files/files.js';
import { flowModule } from '#troupe/agent-js/flows/flow.js';
import { openSandbox } from '../script/open-sandbox.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
// What does not come is not waited for long.
const { agent, call } = await openAgent(t, lease, { actMs: 200 });
const flowsDir = t.testdir({ 'login.js': '() => 1' });
const modules = [agent.module, filesModule({ flowsDir }), flowModule({ flowsDir })];
const { fails } = await openSandbox(t, { modules });

const PAGE = `<title>Form</title><button>Go</button><input aria-label=Name><input type=date aria-label=Day>
<input type=file aria-label=Photo><select aria-label=Size><option>Small</select><button disabled>Off</button>`;

/** What somebody writes wrongly, and the beginning of what they are told. */
const MISUSES: { readonly [script: string]: string } = {
  'agent.clik("{button}Go")': 'TypeError: agent has no clik; it has go, look, act',
  'agent.go()': 'agent.go takes a URL',
  'agent.go({ url: "/" })': 'agent.go takes a URL, not {"url":"/"}',
  'agent.go("/", { timeout: 5 })': 'agent.go takes a URL alone: {"timeout":5} was given',
  'agent.act("{button}Go", "click", null, { timeout: 5 }, { x: 1 })':
    'agent.act takes a locator, an action, a value and options alone: {"',
  'agent.act("{button}Go", "click", { z: 5 })': 'agent.act has no option "z"; it has x, y, timeout',
  'agent.act("{button}Go", "click", { x: 5 })':
    "x and y are numbers of CSS pixels from the element's corner, not 5 and",
  'agent.act("{input}Name", "input", "a", { x: 1, y: 1 })': 'input goes to no point: x and y are options of click, ',
  'agent.act("{button}Go", "click", { timeout: "5s" })': 'timeout is a number of milliseconds, not "5s"',
  'agent.act("{button}Go", "wheel", 5)': 'The value of wheel is a distance, [dx, dy], not 5',
  'agent.act("{button}Go", "wheel")': 'agent.act(locator, "wheel", value) takes a distance, [dx, dy]',
  'agent.act("{button}Go", "drag", { by: [1] })': "The value of drag is the target's locator, {by: [dx, dy]}, ",
  'agent.act("{button}Go", "drag", { by: [1, 2], to: "#x" })': "The value of drag is the target's locator, ",
  'agent.act("{button}Go", "drag", { path: [[1, 2]] })': "The value of drag is the target's locator, ",
  'agent.act("{button}Go", "drag", { at: 1 })': 'drag has no option "at"; it has by, to, x, y, path',
  'agent.page("1", { x: 1 })': 'agent.page takes JavaScript alone: {"x":1} was given',
  'agent.back(2)': 'agent.back takes nothing: 2 was given; it goes back by one page',
  'agent.tabs(1)': 'agent.tabs takes nothing: 1 was given; agent.tab(index) goes to a tab',
  'agent.dialogs("accept")': 'agent.dialogs takes nothing: "accept" was given; an open dialog is acted on: ',
  'agent.downloads("x.csv")': 'agent.downloads takes nothing: "x.csv" was given; it lists them',
  'agent.look("#cart")': 'The options of agent.look are an object, not "#cart"',
  'agent.look([])': 'The options of agent.look are an object, not []',
  'agent.look({ wihtin: "#cart" })': 'agent.look has no option "wihtin"; it has full, within',
  'agent.look({ full: "yes" })': 'full is true or false, not "yes"',
  'agent.look({ within: 7 })': 'agent.look takes a locator, not 7',
  'agent.look({ within: "{cart" })': '{cart is not a locator: a locator is {role}text, CSS or XPath',
  'agent.act()': 'agent.act takes a locator',
  'agent.act("{button}Go")': 'agent.act takes an action. Use one of: click, ',
  'agent.act("{button}Go", "klick")': 'Unknown action "klick". Use one of: click, ',
  'agent.act(["{button}Go"], "click")': 'agent.act takes a locator, not ["{button}Go"]',
  'agent.act("{button}Go", "click", 2)': 'click takes no value: 2 was given',
  'agent.act("{input}Name", "input")': 'agent.act(locator, "input", value) takes a text',
  'agent.act("{input}Name", "input", { text: 1 })': 'The value of input is a text, not {"text":1}',
  'agent.act("{select}Size", "select", [{}])': "The value of select is an option's text, or an array of them, not [{}]",
  'agent.act("{input}Name", "press", "Entr")': '"Entr" is not a key: Enter, Tab',
  'agent.act("{input}Name", "press", "ctrl+enter")': '"ctrl+enter" is not a key: Ctrl+Enter is',
  'agent.act("{input}Name", "press", "")': 'The value of press is a key, like "Enter" or "Control+A", not ""',
  'agent.act("{button}Go", "drag", "")':
    "The value of drag is the target's locator, {by: [dx, dy]}, {to: locator, x, y} or ",
  'agent.act("{input}Photo", "upload", {})': "The value of upload is a file's name, or an array of them, not {}",
  'agent.wait()': 'agent.wait takes "navigation", "idle", a locator, ',
  'agent.wait("!")': 'agent.wait takes "navigation"',
  'agent.wait(-1)': 'agent.wait takes "navigation"',
  'agent.wait("{button}Go", 500)': 'The options of agent.wait are an object, not 500',
  'agent.wait("{button}Go", { timout: 500 })': 'agent.wait has no option "timout"; it has timeout',
  'agent.wait("{button}Go", { timeout: "5s" })': 'timeout is a number of milliseconds, not "5s"',
  'agent.wait("{button}Go", { timeout: -1 })': 'timeout is a number of milliseconds, not -1',
  'agent.text(7)': 'agent.text takes a locator, not 7',
  'agent.value()': 'agent.value takes a locator',
  'agent.value("button:Go")': 'button:Go is not a locator: it is neither valid CSS nor {role}text',
  'agent.value("//[")': '//[ is not a locator: it is not valid XPath',
  'agent.screenshot({of: "a"})': 'agent.screenshot has no option "of"; it has title, within, marks',
  'agent.screenshot("{div:2}")':
    'agent.screenshot takes a title; a picture of "{div:2}" alone is agent.screenshot({within: "{div:2}"})',
  'agent.page(() => 1)': 'agent.page takes JavaScript as text',
  'agent.page("(")': 'In the page: SyntaxError: ',
  'agent.page("nobody.name")': 'In the page: ReferenceError: nobody is not defined',
  'agent.tab("0")': 'agent.tab takes the index of a tab, as agent.tabs() lists them',
  'File.exists("a.js")': 'TypeError: File has no exists; it has write, read, list',
  'File.read()': 'The path undefined is refused: a path is a text like "shop/login"',
  'File.read(7)': 'The path 7 is refused: a path is a text like "shop/login"',
  'File.read("other.js")': 'The path "other.js" is refused: there is no such file',
  'File.read("../x")': 'The path "../x" is refused: it leads out of the flows folder',
  'File.write("a.js")': 'The path "a.js" is refused: what is written has to be a text',
  'File.write({}, "x")': 'The path {} is refused: a path is a text like "shop/login"',
  'File.write("shop/", "x")': 'The path "shop/" is refused: it names a folder',
  'File.list(7)': 'The path 7 is refused: a glob is a text',
  'File.list("../*")': 'The path "../*" is refused: it leads out of the flows folder',
  'Flow.run()': 'Flow.run needs the path of a flow',
  'Flow.run("../x")': 'The path "../x.js" is refused: it leads out of the flows folder',
  'match({ id: 1 }, { id: "#numbr" })': 'TypeError: #numbr is not a marker; use one of #string',
};

/** What is written well and cannot be done here. */
const FAILURES: { readonly [script: string]: readonly [code: string, error: string] } = {
  'agent.go("http://")': ['ACTION_FAILED', '"http://" is not a URL'],
  'agent.go("file:///etc/passwd")': ['ACTION_FAILED', 'file: addresses may not be visited; allowed are http, '],
  'agent.go("localhost:4500/shop")': ['ACTION_FAILED', '. Did you mean http://localhost:4500/shop?'],
  'agent.act("{button}Go", "input", "x")': [
    'ACTION_FAILED',
    '{button}Go does not accept text: it is a button, which takes click',
  ],
  'agent.act("{input}Photo", "input", "x")': [
    'ACTION_FAILED',
    'does not accept text: it is a file input, which takes upload',
  ],
  'agent.act("{button}Go", "check")': ['ACTION_FAILED', '{button}Go cannot be checked: it is a button'],
  'agent.act("{button}Go", "scroll", "sideways")': ['ACTION_FAILED', '{button}Go scrolls up, down, left, right, '],
  'agent.act("{input}Day", "input", "tomorrow")': ['ACTION_FAILED', 'a date is like 2030-12-31'],
  'agent.act("{select}Size", "select", "Large")': [
    'ACTION_FAILED',
    '{select}Size has no option "Large"; it has "Small"',
  ],
  'agent.act("{select}Size", "select", [])': ['ACTION_FAILED', '{select}Size takes exactly one option'],
  'agent.act("{input}Photo", "upload", "../x")': ['ACTION_FAILED', '"../x" is not a file name'],
  'agent.act("{input}Photo", "upload", "x.png")': ['ACTION_FAILED', 'There is no file "x.png" to upload'],
  'agent.act("{input}Photo", "upload", [])': ['ACTION_FAILED', 'upload takes the name of a file'],
  'agent.act("{dialog}OK", "click")': ['LOCATOR_NOT_FOUND', 'No visible element matches {dialog}OK'],
  'agent.act("{button:3}Go", "click")': ['LOCATOR_NOT_FOUND', '{button:3}Go: there is only 1 of them'],
  'agent.act("{button}Off", "click")': ['ACTION_FAILED', '{button}Off is disabled'],
  'agent.text("{button}Gone")': [
    'LOCATOR_NOT_FOUND',
    'No visible element matches {button}Gone. Did you mean {button}Go?',
  ],
  'agent.text("{input}Name Ph")': [
    'LOCATOR_NOT_FOUND',
    'No visible element matches {input}Name Ph. Did you mean {input}Name? The page also has {input}Photo',
  ],
  'agent.text("Go")': ['LOCATOR_NOT_FOUND', 'matches Go as CSS; a text is written {*}Go. Did you mean {button}Go?'],
  'agent.text("{Go}")': ['LOCATOR_NOT_FOUND', 'No visible element matches {Go}. Did you mean {button}Go?'],
  'agent.wait("Welcome back", { timeout: 200 })': [
    'WAIT_TIMEOUT',
    'Welcome back did not appear as CSS; a text is written {*}Welcome back',
  ],
  'agent.tab(9)': ['ACTION_FAILED', 'There is no tab 9: there is only 0'],
  'agent.tab(0.5)': ['ACTION_FAILED', 'There is no tab 0.5: there is only 0'],
  'Flow.run("logn")': ['FLOW_NOT_FOUND', "There is no flow 'logn' (flows/logn.js, flows/logn.ts)"],
};

t.test('What is written wrongly is SCRIPT_ERROR, and says how it is written', async (t) => {
  await call('go', site.set('/form', PAGE));
  for (const [script, told] of Object.entries(MISUSES)) {
    const { code, message: error } = await fails(script);
    t.equal(code, 'SCRIPT_ERROR', script);
    t.ok(error.startsWith(told), `${script}: ${error}`);
  }
});

t.test('What cannot be done says what stands in its way', async (t) => {
  await call('go', site.set('/form', PAGE));
  for (const [script, [wanted, told]] of Object.entries(FAILURES)) {
    const { code, message: error } = await fails(script);
    t.equal(code, wanted, script);
    t.ok(error.includes(told), `${script}: ${error}`);
  }
  await call('go', 'about:blank');
  t.equal(
    (await fails('agent.go("/shop")')).message,
    '"/shop" is not a URL, and there is no page to resolve it against',
  );
});

t.end();
