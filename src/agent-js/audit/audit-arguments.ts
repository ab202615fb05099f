import { membersOf, misuse, shown, textOf, timeoutOf } from '../call-arguments.js';

/** How much a barrier hinders people, from the least. */
export const IMPACTS = ['minor', 'moderate', 'serious', 'critical'] as const;
export type Impact = (typeof IMPACTS)[number];

export interface AuditRequest {
  /** CSS; null: the whole document. */
  readonly within: string | null;
  /** CSS. */
  readonly exclude: readonly string[];
  /** Of axe: `wcag2aa`. Empty: its default rules. */
  readonly tags: readonly string[];
  /** Violations of this impact and above fail the audit; null: none does. */
  readonly impact: Impact | null;
}

/** Options of `agent.audit`. @throws SCRIPT_ERROR that says how they are written */
export function auditArguments(options: unknown): AuditRequest & { readonly timeoutMs: number | undefined } {
  const known = ['within', 'exclude', 'tags', 'impact', 'timeout'] as const;
  const { within, exclude, tags, impact = 'serious', timeout } = membersOf(options, 'agent.audit', known);
  const gate = IMPACTS.find((one) => one === impact);
  if (gate === undefined && impact !== 'none') {
    throw misuse(`impact is ${IMPACTS.join(', ')} or none, not ${shown(impact)}`);
  }
  return {
    within: within === undefined || within === null ? null : cssOf(within),
    exclude: listOf(exclude).map(cssOf),
    tags: listOf(tags).map((tag) => textOf(tag, 'tags takes tags of axe-core, such as "wcag2aa"')),
    impact: gate ?? null,
    timeoutMs: timeoutOf(timeout),
  };
}

function cssOf(value: unknown): string {
  const text = textOf(value, 'within and exclude of agent.audit take CSS');
  if (/^(\{|\/|\()/.test(text)) throw misuse(`within and exclude of agent.audit take CSS, not ${shown(value)}`);
  return text;
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
