/** Cancelling a job. */
import assert from 'node:assert/strict';
import { expectProblem, expectStatus } from '../expect/answer.ts';
import { KINDS } from '../operations.ts';
import { create, finish, finishedJob, startLasting, untilJob } from '../prepare/jobs.ts';
import { idsOf, readPage } from '../prepare/lists.ts';
import { needsOf, type Rule, section } from '../rule.ts';
import { adminOf } from '../service.ts';
import { asObject, textAt, valueAt } from '../wire/json.ts';

const rule = section('cancel');

export const CANCEL_RULES: readonly Rule[] = [
  ...(['dubbing', 'auto_localization'] as const).map((kind) =>
    rule('spec', `${kind}.processing`, {
      title: `a running ${kind} is cancelled: 202, and the record is kept`,
      covers: ['behavior.cancel', 'transition.cancelled', 'job.cancelled'],
      needs: needsOf(KINDS[kind].input),
      async check(original) {
        const job = await startLasting(original, kind);
        const { caller } = job.service;
        if (job.service.admin !== null) await untilJob(job.service, job, ['processing']);
        const answer = await caller.remove(job.path);
        expectStatus(answer, 202);
        assert.equal(textAt(answer.json, 'id'), job.id);
        assert.equal(textAt(answer.json, 'status'), 'cancelled');
        const read = await caller.get(job.path);
        expectStatus(read, 200);
        assert.equal(textAt(read.json, 'status'), 'cancelled');
        assert.equal(asObject(read.json).result ?? null, null);
        assert.ok(idsOf(await readPage(caller, KINDS[kind].path)).includes(job.id), 'the list shows it');
      },
    }),
  ),
  rule('spec', 'succeeded', {
    title: 'a job that has succeeded cannot be cancelled and keeps its result',
    covers: ['behavior.cancel', 'error.open-codes'],
    needs: ['jobs'],
    async check(service) {
      const { path } = await finishedJob(service, 'dubbing');
      expectProblem(service, await service.caller.remove(path), 409, 'JOB_NOT_CANCELLABLE');
      const read = await service.caller.get(path);
      assert.equal(textAt(read.json, 'status'), 'succeeded');
      assert.notEqual(valueAt(read.json, 'result'), null);
    },
  }),
  rule('spec', 'queued', {
    title: 'a queued job is cancelled',
    covers: ['behavior.cancel', 'transition.cancelled'],
    needs: ['jobs', 'account'],
    async check(original) {
      const service = await adminOf(original).open({ idle: true });
      const { path } = await create(service, 'dubbing');
      const answer = await service.caller.remove(path);
      expectStatus(answer, 202);
      assert.equal(textAt(answer.json, 'status'), 'cancelled');
    },
  }),
  rule('spec', 'twice', {
    title: 'a cancelled job cannot be cancelled again under another Idempotency-Key',
    covers: ['behavior.cancel', 'error.open-codes'],
    needs: ['jobs'],
    async check(original) {
      const { service, path } = await startLasting(original, 'subtitle_translation');
      expectStatus(await service.caller.remove(path), 202);
      expectProblem(service, await service.caller.remove(path), 409, 'JOB_NOT_CANCELLABLE');
    },
  }),
  rule('spec', 'failed', {
    title: 'a failed job cannot be cancelled',
    covers: ['behavior.cancel', 'error.open-codes'],
    needs: ['jobs', 'engines'],
    async check(original) {
      const service = await adminOf(original).open();
      await adminOf(service).failWork('final');
      const { path } = await finish(service, 'dubbing');
      expectProblem(service, await service.caller.remove(path), 409, 'JOB_NOT_CANCELLABLE');
      assert.equal(textAt((await service.caller.get(path)).json, 'status'), 'failed');
    },
  }),
  rule('spec', 'stays-cancelled', {
    title: 'a cancelled auto localization starts no further stage, even if the current one finishes',
    covers: ['transition.localization', 'job.cancelled', 'behavior.cancel-localization'],
    needs: ['jobs', 'media', 'engines'],
    async check(original) {
      const service = await adminOf(original).open();
      await adminOf(service).holdWork();
      const job = await create(service, 'auto_localization');
      await untilJob(service, job, ['processing']);
      const cancelled = await service.caller.remove(job.path);
      await adminOf(service).letWorkGo();
      // The end of a later job shows that the released work had enough time.
      await finish(service, 'subtitle_translation');
      const read = await service.caller.get(job.path);
      for (const name of ['status', 'stage', 'result', 'updated_at']) {
        assert.deepEqual(valueAt(read.json, name), valueAt(cancelled.json, name), name);
      }
      assert.equal(textAt(read.json, 'status'), 'cancelled');
    },
  }),
];
