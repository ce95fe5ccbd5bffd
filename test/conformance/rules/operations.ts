/** The operation table: every operation answers with its success statuses. */
import assert from 'node:assert/strict';
import { expectStatus } from '../expect/answer.ts';
import { KINDS, OPERATIONS, type Operation, pathOf } from '../operations.ts';
import { createdJob, startLasting } from '../prepare/jobs.ts';
import { readPage } from '../prepare/lists.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import { complete, readySubtitle, reserve, store } from '../prepare/uploads.ts';
import { needsOf, type Rule, section } from '../rule.ts';
import type { ServiceUnderTest } from '../service.ts';
import { numberAt, textAt } from '../wire/json.ts';

const rule = section('operations');

function successRule(
  operation: Operation,
  status: number,
  check: (service: ServiceUnderTest) => Promise<void>,
): Rule {
  const { id, kind, list } = operation;
  return rule('spec', `${id}.${status}`, {
    title: `${id} answers ${status}`,
    covers: [
      `operation.${id}`,
      'shape.responses',
      kind === null ? 'service.supporting' : 'service.five-capabilities',
    ],
    needs: kind === null || list ? [] : needsOf(KINDS[kind].input),
    check,
  });
}

function successRules(operation: Operation): Rule[] {
  const { id, kind, list, method } = operation;
  if (list)
    return [successRule(operation, 200, async ({ caller }) => void (await readPage(caller, operation.path)))];
  if (kind !== null) return [jobRule(operation, kind, method)];
  switch (id) {
    case 'getCredits':
      return [
        successRule(operation, 200, async ({ caller }) => {
          const answer = await caller.get('/credits');
          expectStatus(answer, 200);
          numberAt(answer.json, 'balance_credits');
        }),
      ];
    case 'createUpload':
      return [
        successRule(operation, 201, async (service) => {
          const { answer } = await reserve(service.caller, goodSubtitleFile(service));
          expectStatus(answer, 201);
        }),
      ];
    case 'getUpload':
      return [
        successRule(operation, 200, async (service) => {
          const reservation = await reserve(service.caller, goodSubtitleFile(service));
          const answer = await service.caller.get(pathOf(operation, reservation.id));
          expectStatus(answer, 200);
          assert.equal(textAt(answer.json, 'id'), reservation.id);
        }),
      ];
    default:
      return completionRules(operation);
  }
}

function jobRule(operation: Operation, kind: NonNullable<Operation['kind']>, method: string): Rule {
  if (method === 'DELETE') {
    return successRule(operation, 202, async (service) => {
      const job = await startLasting(service, kind);
      const answer = await job.service.caller.remove(job.path);
      expectStatus(answer, 202);
      assert.equal(textAt(answer.json, 'id'), job.id);
    });
  }
  if (method === 'POST') {
    return successRule(operation, 202, async (service) => {
      const { answer } = await createdJob(service, kind);
      expectStatus(answer, 202);
      assert.equal(textAt(answer.json, 'object'), kind);
    });
  }
  return successRule(operation, 200, async (service) => {
    const job = await createdJob(service, kind);
    const answer = await service.caller.get(job.path);
    expectStatus(answer, 200);
    assert.equal(textAt(answer.json, 'id'), job.id);
    assert.equal(textAt(answer.json, 'object'), kind);
  });
}

function completionRules(operation: Operation): Rule[] {
  return [
    successRule(operation, 202, async (service) => {
      const { id, etag } = await store(service.caller, goodSubtitleFile(service));
      expectStatus(await complete(service.caller, id, etag), 202);
    }),
    successRule(operation, 200, async (service) => {
      const { id, etag } = await readySubtitle(service);
      expectStatus(await complete(service.caller, id, etag), 200);
    }),
  ];
}

export const OPERATION_RULES: readonly Rule[] = OPERATIONS.flatMap(successRules);
