import {
  ArtifactsAnswer,
  CLAIM_LEASE_S,
  ClaimAnswer,
  ClaimRequest,
  JoinedBatch,
  JoinedFlows,
  JoinedResult,
  JoinRequest,
  RenewAnswer,
  RenewRequest,
  ResultAnswer,
} from '../../protocol/batches/joined.js';
import { TroupeError } from '../../protocol/errors.js';
import { batchIdOf, fileNameOf } from '../path-params.js';
import { defineRoute, type Route, type RouteRequest } from '../route.js';

/** Ten thousand jobs. */
const JOIN_BYTES = 8 * 1024 * 1024;
/** Of 10,000 results, all are in memory when they are read. */
const RESULT_BYTES = 64 * 1024;
const ARTIFACT_BYTES = 100 * 1024 * 1024;

export const joinedRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/batches/join',
    summary: 'Makes the batch of a CI build whose machines claim the flows, or answers with the one that there is.',
    body: JoinRequest,
    jsonBytes: JOIN_BYTES,
    answer: JoinedBatch,
    async handle({ body, request }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.batches.joined.join(body, request.caller) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/batches/{id}/claim',
    summary: 'Claims the next flow of a joined batch for a machine, for 30 s unless the claim is renewed.',
    // Machines without a flow ask every two seconds; the batch says who ran what.
    changes: false,
    body: ClaimRequest,
    answer: ClaimAnswer,
    errors: ['CLAIM_LOST'],
    async handle({ body, request }, sessions) {
      const answer = await sessions.batches.joined.claim(batchIdOf(request), body, request.caller);
      return { kind: 'json', status: 200, body: answer };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/batches/{id}/claims/{token}/renew',
    summary: 'Renews a claim: its lease starts over.',
    changes: false,
    body: RenewRequest,
    answer: RenewAnswer,
    errors: ['CLAIM_LOST'],
    async handle({ body, request }, sessions) {
      const { lease = CLAIM_LEASE_S } = body;
      const answer = await sessions.batches.joined.renew(batchIdOf(request), tokenOf(request), lease);
      return { kind: 'json', status: 200, body: answer };
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/batches/{id}/claims/{token}/artifacts',
    summary: 'Stores the zip with the artifacts of a claimed flow; before its result.',
    uploadBytes: ARTIFACT_BYTES,
    answer: ArtifactsAnswer,
    errors: ['CLAIM_LOST'],
    async handle({ request }, sessions) {
      if (!request.upload) throw new TroupeError('INTERNAL', 'The route has no body');
      const bytes = await sessions.batches.joined.storeArtifacts(batchIdOf(request), tokenOf(request), request.upload);
      return { kind: 'json', status: 200, body: { bytes } };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/batches/{id}/claims/{token}/result',
    summary: 'Ends a claim with its result. A failed flow that has retries left can be claimed again.',
    body: JoinedResult,
    jsonBytes: RESULT_BYTES,
    answer: ResultAnswer,
    errors: ['CLAIM_LOST'],
    async handle({ body, request }, sessions) {
      await sessions.batches.joined.finish(batchIdOf(request), tokenOf(request), body);
      return { kind: 'json', status: 200, body: { stored: true } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/batches/{id}/results',
    summary: 'The flows of a joined batch, with the results of all attempts.',
    answer: JoinedFlows,
    async handle({ request }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.batches.joined.results(batchIdOf(request)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/batches/{id}/results/{name}',
    summary: 'The zip with the artifacts of an attempt at a flow of a joined batch.',
    answer: 'application/zip',
    async handle({ request }, sessions) {
      const id = batchIdOf(request);
      const name = fileNameOf(request);
      const { bytes, stream } = await sessions.batches.joined.artifacts(id, name);
      return { kind: 'stream', contentType: 'application/zip', fileName: `${id}-${name}`, stream, bytes };
    },
  }),
];

/** What is in the path; whether it is the token of a claim is for the service to say. */
function tokenOf(request: RouteRequest): string {
  return request.params.token ?? '';
}
