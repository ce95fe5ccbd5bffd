/** The number of concurrent media tasks of a workspace, and the size of a body. */
import assert from 'node:assert/strict';
import { expectProblem, expectStatus } from '../expect/answer.ts';
import { KINDS } from '../operations.ts';
import { bodyFor, create } from '../prepare/jobs.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import { reservationOf } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import { adminOf, otherCaller } from '../service.ts';
import { freshToken } from '../wire/caller.ts';
import { booleanAt } from '../wire/json.ts';
import { joinRequest, requestLines, sendBeyondAnswer, sendThenRead } from '../wire/raw.ts';

const rule = section('limits');

const SLOTS = 15;

export const LIMIT_RULES: readonly Rule[] = [
  rule('spec', 'concurrency', {
    title:
      '15 jobs of all keys may run, a sixteenth is refused until one has ended, and then has its key still',
    covers: [
      'limit.concurrency',
      'service.concurrency',
      'error.CONCURRENCY_LIMIT_EXCEEDED',
      'problem.decides',
      'header.idempotency-intent',
    ],
    needs: ['jobs', 'account', 'otherKey'],
    async check(original) {
      const service = await adminOf(original).open({ idle: true });
      const first = await create(service, 'dubbing');
      const other = otherCaller(service);
      for (let made = 1; made < SLOTS; made += 1) {
        const caller = made % 2 === 0 ? service.caller : other;
        expectStatus((await create(service, 'subtitle_translation', { caller })).answer, 202);
      }
      const body = await bodyFor(service, 'subtitle_translation');
      const { path } = KINDS.subtitle_translation;
      const key = freshToken();
      for (const caller of [service.caller, other]) {
        const refused = await caller.post(path, body, key);
        expectProblem(service, refused, 429, 'CONCURRENCY_LIMIT_EXCEEDED');
        if (!service.strict) continue;
        assert.equal(booleanAt(refused.json, 'retryable'), true);
        assert.ok(Number(refused.headers['retry-after']) >= 1, 'Retry-After in seconds');
      }
      expectStatus(await service.caller.remove(first.path), 202);
      const answer = await other.post(path, body, key);
      expectStatus(answer, 202);
      if (service.strict) assert.equal(answer.headers['idempotency-replayed'], 'false');
    },
  }),
  rule('contract', 'largest-body', {
    title: 'a body of 12 MiB is accepted',
    covers: ['error.open-codes'],
    async check(service) {
      // JSON may hold any number of blanks.
      const text = JSON.stringify(reservationOf(goodSubtitleFile(service))).padEnd(12 * 1024 ** 2);
      const answer = await service.caller.call({ method: 'POST', path: '/uploads', body: Buffer.from(text) });
      expectStatus(answer, 201);
    },
  }),
  rule('contract', 'large-body-answered', {
    title:
      'a body over 12 MiB is refused by its announced length, and its sender is not cut off before it can read that',
    covers: ['error.open-codes', 'problem.content-type'],
    async check({ caller, origin }) {
      const signed = caller.sign({ method: 'POST', path: '/uploads', body: {} });
      const head = joinRequest(requestLines(signed, [`Content-Length: ${12 * 1024 ** 2 + 1}`]));
      assert.deepEqual(await sendBeyondAnswer(origin, head), { status: 413, cutOff: false });
    },
  }),
  rule('contract', 'large-body-sent-first', {
    title: 'a sender that reads only after it has sent a body over 12 MiB reads the refusal',
    covers: ['error.open-codes', 'problem.content-type'],
    async check({ caller, origin }) {
      const body = Buffer.alloc(12 * 1024 ** 2 + 1, ' ');
      const signed = caller.sign({ method: 'POST', path: '/uploads', body });
      const head = joinRequest(requestLines(signed, [`Content-Length: ${body.length}`]));
      const answer = await sendThenRead(origin, Buffer.concat([Buffer.from(head), body]));
      assert.match(answer, /^HTTP\/1\.1 413 .*"code":"CONTENT_TOO_LARGE"/s);
    },
  }),
];
