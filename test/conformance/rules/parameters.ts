/** Query parameters of lists: their names and values. */
import assert from 'node:assert/strict';
import { expectProblem } from '../expect/answer.ts';
import { KINDS } from '../operations.ts';
import { create } from '../prepare/jobs.ts';
import { readPage } from '../prepare/lists.ts';
import { type Rule, section } from '../rule.ts';
import type { SentenceId } from '../sentences.ts';
import { adminOf, type ServiceUnderTest } from '../service.ts';
import { textAt } from '../wire/json.ts';
import type { Query } from '../wire/sign.ts';

const rule = section('parameters');

const NOON = '2026-01-02T12:00:00Z';
const TRANSACTIONS = ['/credit-transactions'];
const UPLOADS = ['/uploads'];
/** The lists of all kinds of jobs have the same parameters. */
const JOBS = [KINDS.dubbing.path];
const LISTS = [...TRANSACTIONS, ...UPLOADS, ...JOBS];

async function expectRefused(service: ServiceUnderTest, paths: readonly string[], queries: readonly Query[]) {
  for (const path of paths) {
    for (const query of queries) {
      expectProblem(service, await service.caller.get(path, query), 400, 'INVALID_REQUEST');
    }
  }
}

async function expectTaken(service: ServiceUnderTest, paths: readonly string[], queries: readonly Query[]) {
  for (const path of paths) {
    for (const query of queries) await readPage(service.caller, path, query);
  }
}

/** Creates a rule for values of a parameter that each of these lists refuses with 400. */
function refused(
  name: string,
  title: string,
  sentence: SentenceId,
  paths: readonly string[],
  queries: readonly Query[],
): Rule {
  return rule('spec', name, {
    title,
    covers: [sentence, 'parameter.invalid'],
    check: (service) => expectRefused(service, paths, queries),
  });
}

function taken(
  name: string,
  title: string,
  sentence: SentenceId,
  paths: readonly string[],
  queries: readonly Query[],
): Rule {
  return rule('spec', name, {
    title,
    covers: [sentence],
    check: (service) => expectTaken(service, paths, queries),
  });
}

const values = (name: string, ...texts: readonly string[]): Query[] => texts.map((text) => [[name, text]]);

export const PARAMETER_RULES: readonly Rule[] = [
  taken(
    'limit',
    'every list takes limit=1 and limit=50',
    'parameter.limit',
    LISTS,
    values('limit', '1', '50'),
  ),
  refused(
    'limit-range',
    'limit 0, 51, -1, 1.5 and text are refused',
    'parameter.limit',
    LISTS,
    values('limit', '0', '51', '-1', '1.5', 'ten', ''),
  ),
  refused(
    'cursor-length',
    'a cursor of 1025 characters is refused',
    'parameter.cursor',
    LISTS,
    values('cursor', 'A'.repeat(1025)),
  ),
  refused(
    'cursor-invented',
    'a cursor that no list gave out is refused',
    'parameter.cursor',
    LISTS,
    values('cursor', 'invented', '', 'A'.repeat(1024)),
  ),
  refused('unknown', 'an unknown parameter is refused', 'parameter.invalid', LISTS, [
    ...values('no_such_parameter', '1'),
    ...values('Limit', '1'),
    ...values('sort', 'created_at'),
  ]),
  refused(
    'repeated',
    'a repeated parameter is refused, even with the same value',
    'parameter.invalid',
    LISTS,
    [
      [
        ['limit', '5'],
        ['limit', '5'],
      ],
      [
        ['created_after', NOON],
        ['created_after', '2026-01-03T12:00:00Z'],
      ],
    ],
  ),
  rule('contract', 'one-resource', {
    title: 'a parameter of GET and DELETE of one resource is refused with 400, and nothing is cancelled',
    covers: ['parameter.invalid', 'error.INVALID_REQUEST'],
    needs: ['jobs', 'account'],
    async check(original) {
      const service = await adminOf(original).open({ idle: true });
      const { path } = await create(service, 'subtitle_translation');
      const query: Query = [['dry_run', '1']];
      expectProblem(service, await service.caller.get(path, query), 400, 'INVALID_REQUEST');
      const answer = await service.caller.call({ method: 'DELETE', path, query });
      expectProblem(service, answer, 400, 'INVALID_REQUEST');
      assert.equal(textAt((await service.caller.get(path)).json, 'status'), 'queued');
    },
  }),
  taken('bounds', 'bounds are taken with Z and with an offset', 'parameter.created-after', LISTS, [
    ...values('created_after', NOON, '2026-01-02T20:00:00+08:00', '2026-01-02T12:00:00.123Z'),
    [
      ['created_after', '2026-01-02T20:00:00+08:00'],
      ['created_before', '2026-01-02T12:00:01Z'],
    ],
  ]),
  refused(
    'created-after-zone',
    'created_after without a time zone, or that is not a date-time, is refused',
    'parameter.created-after',
    LISTS,
    values('created_after', '2026-01-02T12:00:00', '2026-01-02', '1767355200', ''),
  ),
  refused(
    'created-before-zone',
    'created_before without a time zone, or that is not a date-time, is refused',
    'parameter.created-before',
    LISTS,
    values('created_before', '2026-01-02T12:00:00', 'yesterday', ''),
  ),
  refused(
    'non-existent-dates',
    'days, hours and zones that do not exist are refused',
    'parameter.created-after',
    UPLOADS,
    [
      ...values('created_after', '2025-02-29T00:00:00Z', '2026-01-01T24:00:00Z'),
      ...values('created_before', '2026-01-01T00:00:00+24:00'),
    ],
  ),
  refused(
    'order-of-bounds',
    'created_after must be earlier than created_before, also across time zones',
    'parameter.created-after',
    LISTS,
    [
      [
        ['created_after', NOON],
        ['created_before', NOON],
      ],
      [
        ['created_after', '2026-01-02T12:00:01Z'],
        ['created_before', '2026-01-02T20:00:00+08:00'],
      ],
    ],
  ),
  taken('upload-status', 'the uploads list takes the five statuses of uploads', 'parameter.status', UPLOADS, [
    ...values('status', 'waiting_for_upload', 'validating', 'ready', 'failed', 'expired'),
  ]),
  taken('job-status', 'the job lists take the five statuses of jobs', 'parameter.status', JOBS, [
    ...values('status', 'queued', 'processing', 'succeeded', 'failed', 'cancelled'),
  ]),
  refused(
    'upload-status-unknown',
    'the uploads list refuses the statuses of jobs',
    'parameter.status',
    UPLOADS,
    [...values('status', 'queued', 'succeeded', 'READY', '')],
  ),
  refused('job-status-unknown', 'the job lists refuse the statuses of uploads', 'parameter.status', JOBS, [
    ...values('status', 'ready', 'validating', 'done', ''),
  ]),
  refused('transaction-filters', 'the transactions take no filter', 'parameter.invalid', TRANSACTIONS, [
    ...values('status', 'succeeded'),
    ...values('purpose', 'source_video'),
    ...values('client_reference', 'a'),
  ]),
  taken('purpose', 'the uploads list takes both purposes', 'parameter.purpose', UPLOADS, [
    ...values('purpose', 'source_video', 'subtitle_file'),
  ]),
  refused('purpose-unknown', 'the uploads list refuses another purpose', 'parameter.purpose', UPLOADS, [
    ...values('purpose', 'thumbnail', ''),
  ]),
  refused('purpose-of-jobs', 'the job lists have no purpose', 'parameter.purpose', JOBS, [
    ...values('purpose', 'source_video'),
  ]),
  refused(
    'reference-of-uploads',
    'the uploads list has no client_reference',
    'parameter.client-reference',
    UPLOADS,
    [...values('client_reference', 'a')],
  ),
  taken(
    'reference',
    'the job lists take a client_reference of 1 and of 128 characters, of any script',
    'parameter.client-reference',
    JOBS,
    values('client_reference', 'a', 'x'.repeat(128), 'Folge 7 / 第七集 & +100 %'),
  ),
  refused(
    'reference-length',
    'the job lists refuse an empty client_reference and one of 129 characters',
    'parameter.client-reference',
    JOBS,
    values('client_reference', '', 'x'.repeat(129)),
  ),
  rule('spec', 'credits', {
    title: 'the balance accepts no parameter',
    covers: ['balance.no-parameters', 'parameter.invalid'],
    check: (service) =>
      expectRefused(service, ['/credits'], [...values('limit', '1'), ...values('month', '2026-01')]),
  }),
];
