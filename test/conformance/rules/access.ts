/** The permissions of a key: capabilities, addresses, the plan, and access to other keys' records. */
import assert from 'node:assert/strict';
import { expectProblem, expectStatus } from '../expect/answer.ts';
import { JOB_KINDS, type JobKind, KINDS, OPERATIONS, pathOf } from '../operations.ts';
import { bodyFor, createdJob, finishedJob, startLasting } from '../prepare/jobs.ts';
import { idsOf, readPage, walk } from '../prepare/lists.ts';
import { bareCall } from '../prepare/operations.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import { complete, readySubtitle, reserve } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import { adminOf, otherCaller, shared } from '../service.ts';

const rule = section('access');

/** A workspace whose owner's plan has expired. */
const lapsed = shared((service) => adminOf(service).open({ planEnded: true }));

export const ACCESS_RULES: readonly Rule[] = [
  rule('spec', 'plan', {
    title: 'every operation is refused when the workspace has no valid plan',
    covers: ['service.plan-required', 'auth.plan', 'error.API_ACCESS_NOT_INCLUDED_IN_PLAN'],
    needs: ['account'],
    async check(service) {
      const place = await lapsed(service);
      for (const operation of OPERATIONS) {
        const answer = await place.caller.call(bareCall(operation));
        expectProblem(place, answer, 403, 'API_ACCESS_NOT_INCLUDED_IN_PLAN');
      }
    },
  }),
  rule('spec', 'allow-list', {
    title: 'a key works from an address on its allow-list, but not after the address is removed',
    covers: ['auth.allow-list', 'error.SOURCE_IP_NOT_ALLOWED', 'service.key-choices'],
    needs: ['keys'],
    async check(service) {
      const key = await adminOf(service).issueKey({ allowedAddresses: ['127.0.0.0/8', '::1'] });
      const caller = service.callerFor(key);
      expectStatus(await caller.get('/credits'), 200);
      // A network that is reserved for documentation.
      await adminOf(service).changeKey(key, { allowedAddresses: ['192.0.2.7'] });
      expectProblem(service, await caller.get('/credits'), 403, 'SOURCE_IP_NOT_ALLOWED');
    },
  }),
  rule('contract', 'permissions', {
    title: 'a key is refused by the operations of the capabilities that it lacks, and by no others',
    covers: ['auth.permissions', 'service.key-choices', 'error.open-codes'],
    needs: ['keys'],
    async check(service) {
      const others = JOB_KINDS.filter((kind) => kind !== 'dubbing');
      for (const permissions of [['dubbing'], others] as const) {
        const caller = service.callerFor(await adminOf(service).issueKey({ permissions }));
        const isPermitted = (kind: JobKind) => permissions.some((each) => each === kind);
        for (const operation of OPERATIONS) {
          if (operation.kind === null || isPermitted(operation.kind)) continue;
          const answer = await caller.call(bareCall(operation));
          expectProblem(service, answer, 403, 'CAPABILITY_NOT_PERMITTED');
        }
        for (const kind of permissions) expectStatus(await caller.get(KINDS[kind].path), 200);
        expectStatus(await caller.get('/uploads'), 200);
      }
    },
  }),
  rule('spec', 'foreign-lists', {
    title: 'no list shows a record of another key',
    covers: ['service.own-records', 'transaction.own-jobs', 'transaction.excluded'],
    needs: ['jobs', 'otherKey'],
    async check(service) {
      const job = await finishedJob(service, 'subtitle_translation');
      const upload = await readySubtitle(service);
      const own = await walk(service.caller, '/uploads', [['status', 'ready']]);
      assert.ok(own.includes(upload.id), 'its own key sees the upload');
      const other = otherCaller(service);
      assert.ok(!idsOf(await readPage(other, '/uploads')).includes(upload.id), 'the upload');
      assert.ok(!idsOf(await readPage(other, KINDS[job.kind].path)).includes(job.id), 'the job');
      const transactions = await readPage(other, '/credit-transactions');
      assert.ok(!transactions.bytes.toString().includes(job.id), 'the transaction');
    },
  }),
  rule('spec', 'foreign-records', {
    title: 'a record of another key is not found, cannot be completed and cannot be cancelled',
    covers: ['service.own-records', 'path.ids'],
    needs: ['jobs', 'otherKey'],
    async check(service) {
      const other = otherCaller(service);
      const job = await startLasting(service, 'subtitle_translation');
      const reservation = await reserve(service.caller, goodSubtitleFile(service));
      const elsewhere = otherCaller(job.service);
      expectProblem(service, await other.get(`/uploads/${reservation.id}`), 404);
      expectProblem(service, await complete(other, reservation.id, 'a'.repeat(32)), 404);
      expectProblem(service, await elsewhere.get(job.path), 404);
      expectProblem(service, await elsewhere.remove(job.path), 404);
      expectStatus(await job.service.caller.remove(job.path), 202);
    },
  }),
  rule('spec', 'foreign-input', {
    title: 'an upload of another key cannot be used as input',
    covers: ['service.own-records', 'upload.only-ready'],
    needs: ['jobs', 'otherKey'],
    async check(service) {
      const { id } = await readySubtitle(service);
      const body = { ...(await bodyFor(service, 'dubbing')), subtitle: { type: 'upload', upload_id: id } };
      const answer = await otherCaller(service).post(KINDS.dubbing.path, body);
      expectProblem(service, answer, service.strict ? 422 : [400, 403, 404, 409, 422], 'INPUT_NOT_USABLE');
      expectStatus(await service.caller.post(KINDS.dubbing.path, body), 202);
    },
  }),
  rule('spec', 'kinds-apart', {
    title: 'a job is found under its own kind only',
    covers: ['path.ids', 'service.five-capabilities'],
    needs: ['jobs'],
    async check(service) {
      const { id, kind } = await createdJob(service, 'dubbing');
      for (const operation of OPERATIONS) {
        if (operation.method !== 'GET' || !operation.single || operation.kind === null) continue;
        const answer = await service.caller.get(pathOf(operation, id));
        if (operation.kind === kind) expectStatus(answer, 200);
        else expectProblem(service, answer, 404);
      }
    },
  }),
];
