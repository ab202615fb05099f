import type { BatchFailure, BatchJob, BatchOutcome } from '../protocol/batches/batch.js';
import { counted } from '../protocol/counted.js';
import type { SessionRecord } from '../protocol/session.js';
import { recordText } from '../protocol/state-text.js';
import { formatDuration } from '../protocol/times.js';
import { cut, type FailureReason, failureReason } from './failure-reason.js';

/** Slack's limits: of a header, and of the text of a section. */
const MAX_HEADER = 150;
const MAX_SECTION = 3_000;
const MAX_LABELS = 5;
/** Failed or flaky jobs that a message about a batch names. */
const MAX_NAMED = 15;
const MAX_LINE = 180;

const ENDS: Readonly<Record<string, { readonly sign: string; readonly word: string }>> = {
  completed: { sign: ':white_check_mark:', word: 'passed' },
  failed: { sign: ':x:', word: 'failed' },
};

/**
 * The end of a job as a message for Slack's incoming webhooks: its name and outcome, the flow that failed with the first
 * line of the cause, counts, and a link if the service knows its public address.
 */
export function slackMessage(record: SessionRecord): object {
  const { name, id, status, flowFiles, labels, links, error } = record;
  const title = titleOf(name ?? record.prompt?.split('\n')[0] ?? id, status);
  const facts = [
    ...(flowFiles.length === 0 ? [] : [counted(flowFiles.length, 'flow')]),
    recordText(record, Date.now()),
    ...labelsOf(labels),
    `session ${id}`,
  ];
  const reason = error === null ? null : failureReason(error);
  const place = reason === null ? null : placeOf(reason);
  return {
    text: cut(escaped(reason === null ? title : `${title}: ${textOf(reason)}`), MAX_SECTION),
    blocks: [
      header(title, status),
      ...(reason === null
        ? []
        : [section(`${place === null ? '' : `*${escaped(place)}*\n`}${escaped(textOf(reason))}`)]),
      context(facts),
      ...(isPublic(links.view) ? [section(`<${links.view}|Open the session>`)] : []),
    ],
  };
}

/** What a script asks a person to do, with the link that gives control. */
export function slackHandoffMessage({ id, name, prompt }: SessionRecord, asked: string, link: string): object {
  const title = `${name ?? prompt?.split('\n')[0] ?? id} is waiting for a person`;
  return {
    text: cut(escaped(`${title}: ${asked}`), MAX_SECTION),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(`:wave: ${title}`, MAX_HEADER), emoji: true } },
      section(escaped(asked)),
      section(`<${link}|Open the session>`),
      context([`session ${id}`]),
    ],
  };
}

/**
 * The end of a batch as a message for Slack's incoming webhooks: its name and outcome, the failed jobs by name, each with
 * its cause, the flaky ones by name, counts, and links if the service knows its public address.
 */
export function slackBatchMessage(outcome: BatchOutcome): object {
  const { id, name, state, counts, createdAt, endedAt, labels, links, failures, flaky } = outcome;
  const flakyCount = counts.flaky ?? 0;
  const title = titleOf(name ?? id, state);
  const summary = [
    `${counts.failed} failed`,
    `${counts.completed - (counts.skipped ?? 0) - (counts.repaired ?? 0)} passed${flakyCount > 0 ? ` (${flakyCount} flaky)` : ''}`,
    ...((counts.repaired ?? 0) > 0 ? [`${counts.repaired} repaired`] : []),
    ...((counts.skipped ?? 0) > 0 ? [`${counts.skipped} skipped`] : []),
    ...(counts.stopped > 0 ? [`${counts.stopped} stopped`] : []),
    `of ${counts.total}`,
  ].join(' · ');
  const facts = [summary, ...wallTime(createdAt, endedAt), ...labelsOf(labels), `run ${id}`];
  return {
    text: cut(escaped(`${title}: ${summary}`), MAX_SECTION),
    blocks: [
      header(title, state),
      ...list('Failed', failures.map(failureLine), counts.failed),
      ...list('Flaky', flaky.map(linked), flakyCount),
      context(facts),
      ...(isPublic(links.download) ? [section(`<${links.download}|Download the reports>`)] : []),
    ],
  };
}

/** A heading, and one line for each job: as many as fit. */
function list(heading: string, lines: readonly string[], total: number): readonly object[] {
  if (lines.length === 0) return [];
  const shown: string[] = [];
  // The last line says how many are left out.
  let room = MAX_SECTION - 100;
  for (const line of lines.slice(0, MAX_NAMED)) {
    room -= line.length + 1;
    if (room < 0) break;
    shown.push(line);
  }
  const more = total > shown.length ? [`and ${total - shown.length} more`] : [];
  return [section([`*${heading}*`, ...shown, ...more].join('\n'))];
}

function failureLine(failure: BatchFailure): string {
  const place = placeOf(failure);
  const reason = escaped(cut(textOf(failure), MAX_LINE));
  return `• ${linked(failure)}${place === null ? '' : ` at ${escaped(cut(place, MAX_LINE))}`}: ${reason}`;
}

/** A job's name, as a link to its page if the service knows its public address. */
function linked({ name, view }: BatchJob): string {
  const text = escaped(cut(name.replace(/\s+/g, ' '), MAX_LINE)).replaceAll('|', '¦');
  return isPublic(view) ? `<${view}|${text}>` : text;
}

function placeOf({ flow, line }: FailureReason): string | null {
  return flow === null ? null : `${flow}${line === null ? '' : `:${line}`}`;
}

function textOf({ code, message }: FailureReason): string {
  return `${code}: ${message}`;
}

function endOf(status: string): { readonly sign: string; readonly word: string } {
  return ENDS[status] ?? { sign: ':white_circle:', word: 'stopped' };
}

function titleOf(name: string, status: string): string {
  return `${name} ${endOf(status).word}`;
}

function wallTime(createdAt: string, endedAt: string | null): readonly string[] {
  return endedAt === null ? [] : [formatDuration(Math.max(0, Date.parse(endedAt) - Date.parse(createdAt)))];
}

function labelsOf(labels: { readonly [name: string]: string }): readonly string[] {
  return Object.entries(labels)
    .slice(0, MAX_LABELS)
    .map(([label, value]) => `${label} ${value}`);
}

function isPublic(link: string): boolean {
  return /^https?:/.test(link);
}

function header(title: string, status: string): object {
  const text = cut(`${endOf(status).sign} ${title}`, MAX_HEADER);
  return { type: 'header', text: { type: 'plain_text', text, emoji: true } };
}

function context(facts: readonly string[]): object {
  return { type: 'context', elements: [{ type: 'mrkdwn', text: cut(escaped(facts.join(' · ')), MAX_SECTION) }] };
}

function section(text: string): object {
  return { type: 'section', text: { type: 'mrkdwn', text: cut(text, MAX_SECTION) } };
}

/** What a page or a flow says must not become a mention or a link. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
