import { sentenceOf } from '../../base/system-fault.js';
import { eventRow } from '../../protocol/event-row.js';
import { AutoRequest, type SessionRecord } from '../../protocol/session.js';
import type { Outbox } from '../../webhooks/outbox.js';
import type { ArtifactKeeper } from '../artifacts/index.js';
import type { SessionDependencies } from './session-dependencies.js';
import type { SessionEnd } from './session-end.js';
import { endedRecord } from './session-record.js';

/** What is needed to end a session of which there is nothing but what stands in the journal. */
export interface EndParts extends Pick<SessionDependencies, 'hub' | 'clock' | 'log'> {
  readonly artifacts: Pick<ArtifactKeeper, 'write'>;
  readonly webhooks: Pick<Outbox, 'entries'>;
}

/**
 * Ends a session that no living one stands for. Settles when its end is on disk.
 * @param request what it was asked for, as far as it can be read: the webhook in it is told
 * @throws what the disk said
 */
export async function endStored(
  { hub, clock, artifacts, log, webhooks }: EndParts,
  { record, request }: { readonly record: SessionRecord; readonly request?: unknown },
  end: SessionEnd,
): Promise<void> {
  const ended = endedRecord(record, end, clock.now());
  const { status, reason: endReason, summary, error } = end;
  const event = eventRow(
    record.id,
    { type: 'SessionEnded', data: { status, endReason, summary, error } },
    clock.now().toISOString(),
  );
  const asked = AutoRequest.safeParse(request).data?.webhook;
  const keyValues = webhooks.entries(ended, asked, 'ended');
  await hub.write({ records: [{ record: ended, lease: null }], events: [event], keyValues });
  // Of one that never began there is nothing to read; it is made when somebody asks for it.
  if (record.startedAt === null) return;
  // They can be made again at any time; what keeps them from being made now keeps no service from starting.
  artifacts.write(ended).catch((error) => log(`no artifacts: ${sentenceOf(error)}`, { session: record.id }));
}
