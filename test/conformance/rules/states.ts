/** The states of a job, from its creation to its end. */
import assert from 'node:assert/strict';
import { expectMembers, expectOneOf, expectStatus } from '../expect/answer.ts';
import { JOB_KINDS, KINDS } from '../operations.ts';
import {
  create,
  createdJob,
  finish,
  finishedJob,
  hasEnded,
  startLasting,
  untilJob,
} from '../prepare/jobs.ts';
import { needsOf, type Rule, section } from '../rule.ts';
import { adminOf } from '../service.ts';
import { instantAt, isObject, numberAt, textAt, valueAt } from '../wire/json.ts';
import { ITEM_MEMBERS, JOB_STATUSES } from './list-item.ts';

const rule = section('states');

const JOB_MEMBERS = [
  ...ITEM_MEMBERS,
  'stage',
  'input',
  'error',
  'result',
  'billing',
  'expires_at',
  'started_at',
  'finished_at',
];
/** Longer than the service waits before any of its attempts. */
const MINUTE_MS = 60_000;

export const STATE_RULES: readonly Rule[] = [
  ...JOB_KINDS.flatMap((kind) => {
    const needs = needsOf(KINDS[kind].input);
    return [
      rule('spec', `${kind}.succeeded`, {
        title: `a ${kind} succeeds, and its GET returns the result`,
        covers: ['job.succeeded', 'transition.succeeded', 'service.result-by-get', 'behavior.get-job'],
        needs,
        async check(service) {
          const { last } = await finishedJob(service, kind);
          assert.equal(textAt(last.json, 'status'), 'succeeded');
          assert.equal(numberAt(last.json, 'progress'), 100);
          assert.ok(isObject(valueAt(last.json, 'result')), 'there is a result');
        },
      }),
      rule('contract', `${kind}.members`, {
        title: `a ${kind} has its sixteen members from its creation to its end`,
        covers: ['job.fields', 'shape.responses'],
        needs,
        async check(service) {
          const { answer, last } = await finishedJob(service, kind);
          expectMembers(answer.json, JOB_MEMBERS, 'a created job');
          expectMembers(last.json, JOB_MEMBERS, 'a finished job');
          assert.equal(valueAt(answer.json, 'result'), null);
          assert.equal(valueAt(answer.json, 'expires_at'), null);
          assert.equal(valueAt(answer.json, 'finished_at'), null);
          assert.equal(valueAt(last.json, 'error'), null);
          const names = ['created_at', 'started_at', 'finished_at'];
          const instants = names.map((name) => instantAt(last.json, name));
          assert.deepEqual(instants, instants.toSorted(), names.join(' ≤ '));
        },
      }),
    ];
  }),
  rule('spec', 'created', {
    title: 'a created job is queued or processing, and can be read immediately',
    covers: ['service.create-is-202', 'service.persisted', 'transition.created', 'behavior.create'],
    needs: ['jobs'],
    async check(service) {
      const { answer, path, id } = await createdJob(service, 'subtitle_translation');
      expectStatus(answer, 202);
      expectOneOf(valueAt(answer.json, 'status'), ['queued', 'processing'], 'status');
      const read = await service.caller.get(path);
      expectStatus(read, 200);
      assert.equal(textAt(read.json, 'id'), id);
      expectOneOf(valueAt(read.json, 'status'), JOB_STATUSES, 'status');
    },
  }),
  rule('spec', 'queued', {
    title: 'a job that has not started is queued, without result',
    covers: ['job.queued', 'transition.created'],
    needs: ['jobs', 'account'],
    async check(original) {
      const service = await adminOf(original).open({ idle: true });
      const { answer, path } = await create(service, 'subtitle_translation');
      assert.equal(textAt(answer.json, 'status'), 'queued');
      const read = await service.caller.get(path);
      assert.equal(textAt(read.json, 'status'), 'queued');
      assert.equal(valueAt(read.json, 'result'), null);
    },
  }),
  rule('spec', 'processing', {
    title: 'a running job is processing, without result',
    covers: ['job.processing', 'transition.started'],
    needs: ['jobs', 'engines'],
    async check(original) {
      const job = await startLasting(original, 'dubbing');
      const read = await untilJob(job.service, job, ['processing']);
      assert.equal(textAt(read.json, 'status'), 'processing');
      assert.equal(valueAt(read.json, 'result'), null);
      expectStatus(await job.service.caller.remove(job.path), 202);
    },
  }),
  rule('contract', 'progress', {
    title: 'progress never goes down, and a status never goes back',
    covers: ['item.progress', 'transition.started', 'transition.succeeded'],
    needs: ['jobs'],
    async check(service) {
      const job = await create(service, 'subtitle_translation');
      const seen: { progress: number; rank: number }[] = [];
      await service.until(
        'the job to end',
        async () => {
          const read = await service.caller.get(job.path);
          const rank = JOB_STATUSES.indexOf(textAt(read.json, 'status'));
          seen.push({ progress: numberAt(read.json, 'progress'), rank });
          return read;
        },
        hasEnded,
      );
      seen.reduce((before, now) => {
        assert.ok(now.progress >= before.progress && now.rank >= before.rank, JSON.stringify(seen));
        return now;
      });
    },
  }),
  rule('spec', 'retried', {
    title: 'a job whose first attempt failed is processing meanwhile and succeeds in the end',
    covers: ['job.processing'],
    needs: ['jobs', 'engines', 'clock'],
    async check(original) {
      const service = await adminOf(original).open();
      await adminOf(service).failWork('passing');
      const job = await create(service, 'subtitle_translation');
      const last = await service.until(
        'the job to succeed',
        async () => {
          await adminOf(service).advance(MINUTE_MS);
          return service.caller.get(job.path);
        },
        hasEnded,
      );
      assert.equal(textAt(last.json, 'status'), 'succeeded');
    },
  }),
  rule('spec', 'failed', {
    title: 'a job whose result cannot be produced fails after its start, without result, and says why',
    covers: ['job.failed', 'transition.failed', 'failed.conditions', 'job.fields'],
    needs: ['jobs', 'engines'],
    async check(original) {
      const service = await adminOf(original).open();
      await adminOf(service).failWork('final');
      const { last } = await finish(service, 'subtitle_translation');
      assert.equal(textAt(last.json, 'status'), 'failed');
      assert.equal(valueAt(last.json, 'result'), null);
      if (!service.strict) return;
      const error = valueAt(last.json, 'error');
      expectMembers(error, ['code', 'message', 'retryable'], 'error');
      assert.equal(textAt(error, 'code'), 'NO_SPEECH_DETECTED');
      assert.equal(valueAt(error, 'retryable'), false);
      assert.notEqual(textAt(error, 'message'), '');
      const instants = ['created_at', 'started_at', 'finished_at'].map((name) => instantAt(last.json, name));
      assert.deepEqual(instants, instants.toSorted());
    },
  }),
  rule('contract', 'three-attempts', {
    title: 'a job with three failed attempts fails with ENGINE_ERROR',
    covers: ['failed.conditions', 'job.processing'],
    needs: ['jobs', 'engines', 'clock'],
    async check(original) {
      const service = await adminOf(original).open();
      await adminOf(service).failWork('passing', 'passing', 'passing');
      const job = await create(service, 'subtitle_translation');
      const last = await service.until(
        'the job to fail',
        async () => {
          await adminOf(service).advance(MINUTE_MS);
          return service.caller.get(job.path);
        },
        hasEnded,
      );
      assert.equal(textAt(last.json, 'status'), 'failed');
      assert.equal(textAt(last.json, 'error', 'code'), 'ENGINE_ERROR');
      assert.equal(valueAt(last.json, 'error', 'retryable'), true);
    },
  }),
];
