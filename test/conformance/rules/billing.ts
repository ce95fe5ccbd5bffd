/** The charge for a job, and the ledger. */
import assert from 'node:assert/strict';
import { expectMembers, expectStatus } from '../expect/answer.ts';
import { JOB_KINDS, type JobKind, KINDS } from '../operations.ts';
import { expectCredits } from '../prepare/credits.ts';
import { create, createBriefly, finish, finishedJob, possibleKinds, startLasting } from '../prepare/jobs.ts';
import { idsOf, readPage, walk } from '../prepare/lists.ts';
import { bodyFromUpload } from '../prepare/operations.ts';
import { linesOf } from '../prepare/subtitles.ts';
import { readyVideo } from '../prepare/uploads.ts';
import { needsOf, type Rule, section } from '../rule.ts';
import { adminOf, type ServiceUnderTest } from '../service.ts';
import { isObject, type JsonObject, listAt, numberAt, textAt, valueAt } from '../wire/json.ts';
import { quarterHour } from './validation.ts';

const rule = section('billing');

const UNITS: Readonly<Record<JobKind, string>> = {
  audio_separation: 'started_minute',
  subtitle_recognition: 'started_minute',
  subtitle_translation: 'line',
  dubbing: 'started_thousand_characters',
  auto_localization: 'started_minute',
};

/** Returns the ledger line of the finished job of a kind. */
async function lineOf(service: ServiceUnderTest, kind: JobKind): Promise<JsonObject> {
  const { id } = await finishedJob(service, kind);
  const page = await readPage(service.caller, '/credit-transactions', [['limit', '50']]);
  const line = listAt(page.json, 'data')
    .filter(isObject)
    .find((each) => each.job_id === id);
  if (line === undefined) assert.fail(`the ledger has no line of ${id}`);
  return line;
}

/** Returns how many units a job reserves. */
async function quantityOf(service: ServiceUnderTest, kind: JobKind, body: JsonObject): Promise<number> {
  const { answer } = await createBriefly(service, kind, { body });
  return numberAt(answer.json, 'billing', 'quantity');
}

function minuteRule(kind: 'audio_separation' | 'subtitle_recognition' | 'auto_localization'): Rule {
  return rule('contract', `${kind}.minutes`, {
    title: `${kind} counts started minutes: seconds are one, and 15 minutes are 15`,
    covers: [`meter.${kind}`, 'billing.fields'],
    needs: ['jobs', 'media', 'ffmpeg'],
    async check(service) {
      const [short, long] = [await readyVideo(service), await quarterHour(service)];
      assert.equal(await quantityOf(service, kind, bodyFromUpload(service, kind, short.id)), 1);
      assert.equal(await quantityOf(service, kind, bodyFromUpload(service, kind, long.id)), 15);
    },
  });
}

/** Returns a dubbing request with texts of these lengths. */
function dubOf(service: ServiceUnderTest, texts: readonly string[]): JsonObject {
  const lines = linesOf(texts);
  return { subtitle: { type: 'lines', lines }, target_language: service.languages.target };
}

export const BILLING_RULES: readonly Rule[] = [
  ...JOB_KINDS.map((kind) =>
    rule('contract', `${kind}.members`, {
      title: `the billing of ${kind} has state, unit, quantity, and credits reserved and charged`,
      covers: ['job.billing', 'billing.state', 'billing.fields'],
      needs: needsOf(KINDS[kind].input),
      async check(service) {
        const { answer, last } = await finishedJob(service, kind);
        const [open, settled] = [valueAt(answer.json, 'billing'), valueAt(last.json, 'billing')];
        for (const billing of [open, settled]) {
          const members = ['status', 'unit', 'quantity', 'reserved_credits', 'charged_credits'];
          expectMembers(billing, members, 'billing');
          assert.equal(textAt(billing, 'unit'), UNITS[kind]);
        }
        assert.equal(textAt(open, 'status'), 'reserved');
        assert.equal(numberAt(open, 'charged_credits'), 0);
        assert.equal(textAt(settled, 'status'), 'settled');
        const charged = numberAt(settled, 'charged_credits');
        assert.ok(charged > 0 && charged <= numberAt(settled, 'reserved_credits'), `charged ${charged}`);
      },
    }),
  ),
  rule('contract', 'released', {
    title: 'the billing of a cancelled job is released, without a charge',
    covers: ['billing.state', 'billing.fields', 'transaction.release'],
    needs: ['jobs'],
    async check(original) {
      const { service, path } = await startLasting(original, 'dubbing');
      const { json } = await service.caller.remove(path);
      assert.equal(textAt(json, 'billing', 'status'), 'released');
      assert.equal(numberAt(json, 'billing', 'charged_credits'), 0);
    },
  }),
  minuteRule('audio_separation'),
  minuteRule('subtitle_recognition'),
  minuteRule('auto_localization'),
  rule('contract', 'subtitle_translation.lines', {
    title: 'subtitle_translation counts the lines that it produced',
    covers: ['meter.subtitle_translation', 'billing.fields'],
    needs: ['jobs'],
    async check(service) {
      const { last } = await finishedJob(service, 'subtitle_translation');
      assert.equal(numberAt(last.json, 'billing', 'quantity'), listAt(last.json, 'result', 'lines').length);
    },
  }),
  rule('contract', 'dubbing.characters', {
    title: 'dubbing counts started thousands of characters, whatever their bytes',
    covers: ['meter.dubbing', 'billing.fields'],
    needs: ['jobs'],
    async check(service) {
      const count = (texts: readonly string[]) => quantityOf(service, 'dubbing', dubOf(service, texts));
      assert.equal(await count(['a']), 1);
      assert.equal(await count(['a'.repeat(600), 'b'.repeat(400)]), 1);
      assert.equal(await count(['a'.repeat(600), 'b'.repeat(401)]), 2);
      assert.equal(await count(['🎬'.repeat(1000)]), 1);
    },
  }),
  rule('spec', 'transaction', {
    title: 'a job that was charged has a line in the ledger, with a negative amount',
    covers: ['transaction.amount', 'transaction.own-jobs', 'operation.listCreditTransactions'],
    needs: ['jobs'],
    async check(service) {
      const { last } = await finishedJob(service, 'subtitle_translation');
      assert.equal(textAt(last.json, 'status'), 'succeeded');
      const page = await readPage(service.caller, '/credit-transactions', [['limit', '50']]);
      const amounts = listAt(page.json, 'data').map((line) => numberAt(line, 'amount'));
      assert.ok(
        amounts.some((amount) => amount < 0),
        `amounts are ${amounts.join(', ')}`,
      );
    },
  }),
  rule('contract', 'transaction-members', {
    title: 'a ledger line names the job, its kind, the counted unit, and subtracts the charge of the job',
    covers: ['transaction.fields', 'transaction.amount', 'transaction.own-jobs'],
    needs: ['jobs'],
    async check(service) {
      for (const kind of possibleKinds(service)) {
        const { last, body } = await finishedJob(service, kind);
        const line = await lineOf(service, kind);
        const members = [
          'id',
          'object',
          'amount',
          'capability',
          'job_id',
          'client_reference',
          'unit',
          'quantity',
        ];
        expectMembers(line, [...members, 'posted_at'], 'a transaction');
        assert.equal(line.object, 'credit_transaction');
        assert.equal(line.capability, kind);
        assert.equal(line.client_reference, body.client_reference);
        assert.equal(line.unit, UNITS[kind]);
        assert.equal(line.quantity, numberAt(last.json, 'billing', 'quantity'));
        expectCredits(numberAt(line, 'amount'), -numberAt(last.json, 'billing', 'charged_credits'), 'amount');
      }
    },
  }),
  rule('spec', 'not-early', {
    title: 'a running job has no line in the ledger',
    covers: ['transaction.posted'],
    needs: ['jobs', 'engines'],
    async check(original) {
      const service = await adminOf(original).open();
      const { id } = await finish(service, 'subtitle_translation');
      await adminOf(service).holdWork();
      await create(service, 'dubbing');
      const page = await readPage(service.caller, '/credit-transactions');
      assert.equal(listAt(page.json, 'data').length, 1, 'the finished one only');
      if (service.strict) assert.equal(valueAt(listAt(page.json, 'data')[0], 'job_id'), id);
    },
  }),
  rule('spec', 'top-ups', {
    title: 'top-ups of the account are not in the ledger',
    covers: ['transaction.excluded'],
    needs: ['account', 'jobs'],
    async check(original) {
      const service = await adminOf(original).open();
      await adminOf(service).grantCredits(50);
      await finish(service, 'dubbing');
      const page = await readPage(service.caller, '/credit-transactions');
      assert.deepEqual(
        listAt(page.json, 'data').map((line) => numberAt(line, 'amount') < 0),
        [true],
      );
    },
  }),
  rule('spec', 'permission-withdrawn', {
    title: 'lines of a capability that the key lost are hidden until it is granted again',
    covers: ['transaction.permission', 'auth.permissions'],
    needs: ['keys', 'jobs'],
    async check(original) {
      const service = await adminOf(original).open();
      const key = await adminOf(service).issueKey();
      const caller = service.callerFor(key);
      await finish(service, 'subtitle_translation', { caller });
      await finish(service, 'dubbing', { caller });
      assert.equal((await walk(caller, '/credit-transactions', [])).length, 2);
      await adminOf(service).changeKey(key, { permissions: ['dubbing'] });
      const page = await readPage(caller, '/credit-transactions');
      assert.equal(idsOf(page).length, 1);
      if (service.strict) assert.equal(textAt(listAt(page.json, 'data')[0], 'capability'), 'dubbing');
      await adminOf(service).changeKey(key, {});
      expectStatus(await caller.get('/credit-transactions'), 200);
      assert.equal((await walk(caller, '/credit-transactions', [])).length, 2);
    },
  }),
];
