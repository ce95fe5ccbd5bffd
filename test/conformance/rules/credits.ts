/** The balance, its quota, and how jobs change it. */
import assert from 'node:assert/strict';
import { expectMembers, expectProblem, expectStatus } from '../expect/answer.ts';
import { KINDS } from '../operations.ts';
import { expectCredits, quotaMember, readBalance, usedCredits } from '../prepare/credits.ts';
import { bodyFor, create, createBriefly, finish } from '../prepare/jobs.ts';
import { type Rule, section } from '../rule.ts';
import { adminOf } from '../service.ts';
import { booleanAt, instantAt, numberAt, textAt, valueAt } from '../wire/json.ts';

const rule = section('credits');

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

/** Member names that would reveal an account or another key. */
const IDENTITY =
  /"(account|workspace|owner|user|email|name|key|keys|api_key|key_id|tenant|organization)[a-z_]*":/i;

/** Returns the calendar month in Shanghai at a time, such as `2026-11`. */
function monthInShanghai(ms: number): string {
  return new Date(ms + 8 * HOUR_MS).toISOString().slice(0, 7);
}

export const CREDIT_RULES: readonly Rule[] = [
  rule('spec', 'balance', {
    title: 'the balance has balance, reserved and available credits, and the quota of the key',
    covers: ['balance.fields', 'operation.getCredits', 'shape.responses'],
    async check({ caller }) {
      const balance = await readBalance(caller);
      const amounts = [balance.balance, balance.reserved, balance.available];
      assert.ok(
        amounts.every((amount) => amount >= 0),
        `amounts are ${amounts.join(', ')}`,
      );
      for (const name of ['limit_credits', 'remaining_credits'] as const) {
        const value = quotaMember(balance, name);
        assert.ok(value === null || typeof value === 'number', `${name} is null or a number`);
      }
    },
  }),
  rule('spec', 'available', {
    title: 'available credits are at most the balance minus the reserved credits',
    covers: ['balance.available'],
    async check({ caller }) {
      const { balance, reserved, available } = await readBalance(caller);
      assert.ok(available <= balance - reserved + 0.0005, `${available} > ${balance} - ${reserved}`);
    },
  }),
  rule('spec', 'no-identity', {
    title: 'the balance contains nothing about the account and other keys',
    covers: ['balance.no-identity'],
    async check(service) {
      const { json } = await readBalance(service.caller);
      const text = JSON.stringify(json);
      assert.doesNotMatch(text, IDENTITY);
      assert.ok(!text.includes(service.caller.credentials.key), 'the key itself');
    },
  }),
  rule('contract', 'members', {
    title: 'the balance has its five members, the usage its six',
    covers: ['balance.shape', 'balance.month'],
    async check(service) {
      const { json } = await readBalance(service.caller);
      const top = ['object', 'balance_credits', 'reserved_credits', 'available_credits', 'monthly_usage'];
      expectMembers(json, top, 'the balance');
      assert.equal(json.object, 'credit_balance');
      const usage = valueAt(json, 'monthly_usage');
      const members = [
        'month',
        'time_zone',
        'used_credits',
        'limit_credits',
        'remaining_credits',
        'resets_at',
      ];
      expectMembers(usage, members, 'monthly_usage');
      assert.equal(textAt(usage, 'time_zone'), 'Asia/Shanghai');
      assert.equal(textAt(usage, 'month'), monthInShanghai(service.now()));
    },
  }),
  rule('spec', 'reserved', {
    title: 'a running job reserves credits: reserved rises, available falls, the balance is unchanged',
    covers: ['balance.available', 'billing.state', 'job.billing'],
    needs: ['jobs', 'engines'],
    async check(original) {
      const service = await adminOf(original).open();
      await adminOf(service).holdWork();
      const before = await readBalance(service.caller);
      await create(service, 'subtitle_translation');
      const during = await readBalance(service.caller);
      const held = during.reserved - before.reserved;
      assert.ok(held > 0, 'something is reserved');
      expectCredits(before.available - during.available, held, 'available went down by as much');
      expectCredits(during.balance, before.balance, 'the balance');
    },
  }),
  rule('spec', 'released', {
    title: 'a cancelled job releases its reservation, and costs nothing',
    covers: ['balance.released', 'transaction.release', 'billing.state'],
    needs: ['jobs', 'engines'],
    async check(original) {
      const service = await adminOf(original).open();
      await adminOf(service).holdWork();
      const before = await readBalance(service.caller);
      const { path } = await create(service, 'dubbing');
      expectStatus(await service.caller.remove(path), 202);
      const after = await readBalance(service.caller);
      for (const name of ['balance', 'reserved', 'available'] as const) {
        expectCredits(after[name], before[name], name);
      }
      const ledger = await service.caller.get('/credit-transactions');
      assert.deepEqual(valueAt(ledger.json, 'data'), [], 'no line in the ledger');
    },
  }),
  rule('spec', 'charged', {
    title: 'a job that succeeded is charged once, and reserves nothing any longer',
    covers: ['billing.state', 'balance.available'],
    needs: ['jobs', 'account'],
    async check(original) {
      const service = await adminOf(original).open();
      const before = await readBalance(service.caller);
      const { last } = await finish(service, 'subtitle_translation');
      const after = await readBalance(service.caller);
      assert.ok(after.balance < before.balance, 'the balance went down');
      expectCredits(after.reserved, before.reserved, 'reserved');
      expectCredits(before.available - after.available, before.balance - after.balance, 'available');
      expectCredits(
        before.balance - after.balance,
        numberAt(last.json, 'billing', 'charged_credits'),
        'the charge',
      );
    },
  }),
  rule('spec', 'failed-is-free', {
    title: 'a job that failed costs nothing',
    covers: ['billing.state', 'balance.released'],
    needs: ['jobs', 'engines'],
    async check(original) {
      const service = await adminOf(original).open();
      await adminOf(service).failWork('final');
      const before = await readBalance(service.caller);
      const { last } = await finish(service, 'subtitle_translation');
      assert.equal(textAt(last.json, 'status'), 'failed');
      assert.deepEqual((await readBalance(service.caller)).json, before.json);
    },
  }),
  rule('spec', 'expired-credits', {
    title: 'credits that expired are not available, though they are in the balance',
    covers: ['balance.available'],
    needs: ['account', 'clock'],
    async check(original) {
      const service = await adminOf(original).open({ credits: 5 });
      await adminOf(service).grantCredits(7, service.now() + DAY_MS);
      expectCredits((await readBalance(service.caller)).available, 12, 'before');
      await adminOf(service).advance(2 * DAY_MS);
      const after = await readBalance(service.caller);
      expectCredits(after.available, 5, 'available afterwards');
    },
  }),
  rule('spec', 'usage', {
    title: 'the monthly usage counts charged and reserved credits, not released ones',
    covers: ['balance.usage', 'balance.released', 'limit.quota'],
    needs: ['jobs', 'engines'],
    async check(original) {
      const service = await adminOf(original).open();
      const { last } = await finish(service, 'subtitle_translation');
      const charged = numberAt(last.json, 'billing', 'charged_credits');
      expectCredits(usedCredits(await readBalance(service.caller)), charged, 'after a finished job');
      await adminOf(service).holdWork();
      const { path, answer } = await create(service, 'dubbing');
      const held = numberAt(answer.json, 'billing', 'reserved_credits');
      expectCredits(usedCredits(await readBalance(service.caller)), charged + held, 'with a running job');
      await service.caller.remove(path);
      expectCredits(usedCredits(await readBalance(service.caller)), charged, 'after it was cancelled');
    },
  }),
  rule('contract', 'month', {
    title: 'the month begins at midnight in Shanghai, and its usage with it',
    covers: ['balance.month', 'balance.usage', 'limit.quota'],
    needs: ['jobs', 'clock'],
    async check(original) {
      const service = await adminOf(original).open();
      await finish(service, 'subtitle_translation');
      const before = await readBalance(service.caller);
      const resets = instantAt(before.json, 'monthly_usage', 'resets_at');
      assert.equal(new Date(resets).toISOString().slice(11), '16:00:00.000Z', 'midnight in Shanghai');
      await adminOf(service).advance(resets - service.now() - 60_000);
      assert.ok(usedCredits(await readBalance(service.caller)) > 0, 'a minute before');
      await adminOf(service).advance(2 * 60_000);
      const after = await readBalance(service.caller);
      expectCredits(usedCredits(after), 0, 'a minute after');
      assert.equal(textAt(after.json, 'monthly_usage', 'month'), monthInShanghai(service.now()));
    },
  }),
  rule('spec', 'no-limit', {
    title:
      'limit and remaining are null for a key without a quota, which does not make the account unlimited',
    covers: ['balance.no-limit', 'balance.null-is-not-unlimited', 'error.INSUFFICIENT_CREDITS'],
    needs: ['jobs', 'account'],
    async check(original) {
      const service = await adminOf(original).open({ credits: 0.001 });
      const balance = await readBalance(service.caller);
      assert.equal(quotaMember(balance, 'limit_credits'), null);
      assert.equal(quotaMember(balance, 'remaining_credits'), null);
      const answer = await service.caller.post(KINDS.dubbing.path, await bodyFor(service, 'dubbing'));
      expectProblem(service, answer, 402, 'INSUFFICIENT_CREDITS');
      await adminOf(service).grantCredits(100);
      expectStatus((await createBriefly(service, 'dubbing')).answer, 202);
    },
  }),
  rule('spec', 'quota', {
    title: 'a key with a quota sees what remains of it and is refused beyond it, until it is raised',
    covers: [
      'auth.quota',
      'error.CREDIT_QUOTA_EXCEEDED',
      'balance.fields',
      'limit.quota',
      'service.key-choices',
    ],
    needs: ['jobs', 'keys'],
    async check(original) {
      const service = await adminOf(original).open();
      const key = await adminOf(service).issueKey({ monthlyLimitCredits: 3 });
      const caller = service.callerFor(key);
      // Two lines cost two credits.
      const { last } = await finish(service, 'subtitle_translation', { caller });
      const charged = numberAt(last.json, 'billing', 'charged_credits');
      const balance = await readBalance(caller);
      assert.equal(quotaMember(balance, 'limit_credits'), 3);
      assert.equal(quotaMember(balance, 'remaining_credits'), 3 - charged);
      const body = await bodyFor(service, 'subtitle_translation');
      const refused = await caller.post(KINDS.subtitle_translation.path, body);
      expectProblem(service, refused, 429, 'CREDIT_QUOTA_EXCEEDED');
      if (service.strict) assert.equal(booleanAt(refused.json, 'retryable'), false);
      await adminOf(service).changeKey(key, { monthlyLimitCredits: 100 });
      expectStatus(await caller.post(KINDS.subtitle_translation.path, body), 202);
    },
  }),
];
