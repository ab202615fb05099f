import { sentenceOf } from '../../base/system-fault.js';
import type { JournalBatch } from '../../journal/journal.js';
import { eventRow } from '../../protocol/event-row.js';
import { AutoRequest, type SessionRecord } from '../../protocol/session.js';
import type { Outbox } from '../../webhooks/outbox.js';
import type { ArtifactKeeper } from '../artifacts/index.js';
import type { SessionDependencies } from './session-dependencies.js';
import type { SessionEnd } from './session-end.js';
import { endedRecord } from './session-record.js';

/** What is needed to end a session that exists only in the journal. */
export interface EndParts extends Pick<SessionDependencies, 'hub' | 'clock' | 'log' | 'cluster'> {
  readonly artifacts: Pick<ArtifactKeeper, 'finish'>;
  readonly webhooks: Pick<Outbox, 'entries'>;
}

/**
 * Ends a session that is only in the journal. Resolves when its end is on disk.
 * @param request the session's request, as far as it can be read: its webhook is notified
 * @param options.isKept waits for a database that is away; see `JournalBatch`
 * @throws the journal's error
 */
export async function endStored(
  { hub, clock, artifacts, log, webhooks, cluster }: EndParts,
  { record, request }: { readonly record: SessionRecord; readonly request?: unknown },
  end: SessionEnd,
  { isKept = false }: Pick<JournalBatch, 'isKept'> = {},
): Promise<void> {
  const ended = endedRecord(record, end, clock.now());
  const { status, reason: endReason, summary, error, outcome } = end;
  const event = eventRow(
    record.id,
    {
      type: 'SessionEnded',
      data: { status, endReason, summary, error, ...(outcome === undefined ? {} : { outcome }) },
    },
    clock.now().toISOString(),
  );
  const asked = AutoRequest.safeParse(request).data;
  const keyValues = webhooks.entries(ended, asked?.webhook, 'ended', asked?.webhookFormat);
  await hub.write({ records: [{ record: ended, lease: null }], events: [event], keyValues, isKept });
  cluster?.release(record.id);
  // A session that never started has nothing to report; its artifacts are created on request.
  if (record.startedAt === null) return;
  // Artifacts can be created again at any time, so an error here must not keep the service from starting.
  artifacts.finish(ended).catch((error) => log(`no artifacts: ${sentenceOf(error)}`, { session: record.id }));
}
