import { ErrorBodySchema, type SessionRecord } from '../protocol/session.js';

/** Slack's limits: of a header, and of the text of a section. */
const MAX_HEADER = 150;
const MAX_SECTION = 3_000;
const MAX_REASON = 1_000;
const MAX_LABELS = 5;

const ENDS: Readonly<Record<string, { readonly sign: string; readonly word: string }>> = {
  completed: { sign: ':white_check_mark:', word: 'passed' },
  failed: { sign: ':x:', word: 'failed' },
};

/**
 * The end of a job as a message for Slack's incoming webhooks: its name and outcome, the flow that failed with the first
 * line of the cause, counts, and a link if the service knows its public address.
 */
export function slackMessage(record: SessionRecord): object {
  const { name, id, status, flowFiles, attempt, startedAt, endedAt, labels, links, error } = record;
  const { sign, word } = ENDS[status] ?? { sign: ':white_circle:', word: 'stopped' };
  const title = `${name ?? record.prompt?.split('\n')[0] ?? id} ${word}`;
  const seconds = startedAt === null || endedAt === null ? null : (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
  const facts = [
    ...(flowFiles.length === 0 ? [] : [flowFiles.length === 1 ? '1 flow' : `${flowFiles.length} flows`]),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(seconds === null ? [] : [`${seconds.toFixed(1)} s`]),
    ...Object.entries(labels)
      .slice(0, MAX_LABELS)
      .map(([label, value]) => `${label} ${value}`),
    `session ${id}`,
  ];
  const reason = error === null ? null : reasonOf(error);
  return {
    text: cut(escaped(reason === null ? title : `${title}: ${reason.text}`), MAX_SECTION),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(`${sign} ${title}`, MAX_HEADER), emoji: true } },
      ...(reason === null
        ? []
        : [section(`${reason.flow === null ? '' : `*${escaped(reason.flow)}*\n`}${escaped(reason.text)}`)]),
      { type: 'context', elements: [{ type: 'mrkdwn', text: cut(escaped(facts.join(' · ')), MAX_SECTION) }] },
      ...(/^https?:/.test(links.view) ? [section(`<${links.view}|Open the session>`)] : []),
    ],
  };
}

/** The cause of an error: its flow, and the first line of what is wrong. */
function reasonOf(error: NonNullable<SessionRecord['error']>): { readonly flow: string | null; readonly text: string } {
  const cause = ErrorBodySchema.safeParse(error.details?.cause).data ?? error;
  const flow = cause.details?.flow ?? error.details?.flow;
  const line = cause.details?.line ?? error.details?.line;
  const [first = ''] = cause.error.split('\n');
  const place = typeof flow === 'string' ? `${flow}${typeof line === 'number' ? `:${line}` : ''}` : null;
  return { flow: place, text: cut(`${cause.code}: ${first}`, MAX_REASON) };
}

function section(text: string): object {
  return { type: 'section', text: { type: 'mrkdwn', text: cut(text, MAX_SECTION) } };
}

/** What a page or a flow says must not become a mention or a link. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
