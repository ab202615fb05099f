import { done, evaluate, type ModelMessage, type ModelRequest, type Turn } from './model-server.js';

/** Names that mean the same, as a reader would know. */
const SAME_MEANING: readonly (readonly string[])[] = [
  ['Name', 'Full name'],
  ['Country', 'Land'],
  ['Terms', 'I agree to everything', 'I have read the terms and agree to them', 'I accept the terms'],
  ['Sign up', 'Join'],
  ['Add to cart', 'Put in basket'],
  ['Cart', 'Basket'],
  ['Check out', 'Go to payment'],
  ['Place order', 'Buy now'],
  ['Street and number', 'Address'],
  ['City', 'Town'],
  ['Delivery date', 'Preferred day'],
  ['Reference', 'Your own order reference'],
];
/** What stands in the way until it is clicked. */
const IN_THE_WAY = /^\{(?:button|summary|a|dialog)\}(Only the cart|OK|Close|Got it|Menu|More|Continue|Sign up here)$/;

/**
 * A scripted model that mends flows as a person would who reads what it is told: it looks at the page, finds what the
 * failed step was for under another name or behind something else, does it, and lets the flow go on.
 */
export function handyman({ body: { messages } }: ModelRequest): Turn {
  const last = messages.at(-1)?.content ?? '';
  const before = lastScript(messages);
  const failed = messages.findLast(({ content }) => content?.includes('<error>'))?.content ?? '';
  if (before.startsWith('Flow.resume') && !last.includes('<error>')) return done(true, 'The flow went through');
  if (before.startsWith('agent.look'))
    return repair(failed, /<result>\n([\s\S]*?)\n<\/result>/.exec(last)?.[1] ?? '', messages);
  if (before.includes('// then ')) return evaluate(/\/\/ then (.*)$/.exec(before)?.[1] ?? '');
  return evaluate('agent.look({full: true})');
}

function repair(error: string, page: string, messages: readonly ModelMessage[]): Turn {
  const lines = page.split('\n');
  const wanted = /matches (\{[^}]*\})(.*?)(?:\. (?:Did you mean|The page has|The page says).*)?$/m.exec(error);
  const [, role = '', name = ''] = wanted ?? [];
  const step = failedStep(error, messages);
  const named = (line: string) => line.replace(/ (?:=|\[|\(|->|disabled).*$/, '');
  const way = lines.map(named).find((line) => IN_THE_WAY.test(line));
  if (lines.map(named).includes(role + name)) return evaluate('Flow.resume({retry: true})');
  const meaning = SAME_MEANING.find((names) => names.includes(name)) ?? [name];
  const other = lines.map(named).find((line) => line.startsWith(role) && meaning.includes(line.slice(role.length)));
  if (other !== undefined) return evaluate(`Flow.resume({locator: ${JSON.stringify(other)}})`);
  // A choice that is made with another control.
  const option = step.includes("'select'") ? /'select', '(.*)'/.exec(step)?.[1] : name;
  const radio = lines.map(named).find((line) => line === `{input}${option}`);
  if (radio !== undefined) return evaluate(`agent.act('${radio}', 'check') // then Flow.resume()`);
  for (const line of lines) {
    const choice = /^(\{select\}[^=(]*?) (?:= .*?)?\((.*)\)/.exec(line);
    const found = choice?.[2]
      ?.split(' | ')
      .find((one) => option !== undefined && option !== '' && one.includes(option));
    if (choice && found) return evaluate(`agent.act('${choice[1]}', 'select', '${found}') // then Flow.resume()`);
  }
  const kind = lines.map(named).find((line) => line === `{select}${name}`);
  if (kind !== undefined) {
    const value = /'input', '(.*)'/.exec(step)?.[1] ?? '';
    return evaluate(`agent.act('${kind}', 'select', '${value}') // then Flow.resume()`);
  }
  if (way !== undefined) return evaluate(`agent.act('${way}', 'click') // then Flow.resume({retry: true})`);
  if (error.includes('answers to #said')) return evaluate(`Flow.resume({locator: '.greeting'})`);
  return done(false, `Nothing on the page does what ${role}${name} was for:\n${page}`);
}

/** The step as the listing of the flow has it, or as the error tells of it. */
function failedStep(error: string, messages: readonly ModelMessage[]): string {
  const line = /"line":(\d+)/.exec(error)?.[1];
  const flow = /"flow":"([^"]*)"/.exec(error)?.[1] ?? '';
  const listings = messages[1]?.content?.split('flows/').find((part) => part.startsWith(`${flow}.js`)) ?? '';
  return new RegExp(`^[> ] ${line} (.*);$`, 'm').exec(listings)?.[1]?.trim() ?? '';
}

function lastScript(messages: readonly ModelMessage[]): string {
  const text = messages.findLast(({ role }) => role === 'assistant')?.tool_calls?.[0]?.function.arguments;
  return text === undefined ? '' : String(JSON.parse(text).js ?? '');
}
