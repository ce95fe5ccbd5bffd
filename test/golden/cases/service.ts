/** A service that is not there, refuses, is out of order, or sends what cannot be right. */
import type { Fault } from '../../../src/service/index.ts';
import { again, type Case } from '../stage.ts';
import { FILES, makeJob, SRT, TRANSLATE, untilStatus, useOwnService, VIDEO } from './files.ts';

const ALWAYS = Number.POSITIVE_INFINITY;

/** A fault of the balance, distinguished from others by its type. */
const credits = (when: string, fault: Omit<Extract<Fault, { body: string }>, 'on'> | object): Case => ({
  line: 'credits',
  when,
  // The fields are those of one of the faults.
  faults: [{ on: 'GET /credits', times: ALWAYS, ...fault } as Fault],
});

const STATUSES = [
  [401, 'AUTHENTICATION_FAILED'],
  [403, 'API_ACCESS_NOT_INCLUDED_IN_PLAN'],
  [403, 'CAPABILITY_NOT_PERMITTED'],
  [429, 'RATE_LIMIT_EXCEEDED'],
  [429, 'CREDIT_QUOTA_EXCEEDED'],
  [500, 'INTERNAL_ERROR'],
] as const;

const CREATED = [
  [402, 'INSUFFICIENT_CREDITS'],
  [403, 'CAPABILITY_NOT_PERMITTED'],
  [409, 'IDEMPOTENCY_KEY_REUSED'],
] as const;

/** The result of a job is fetched and something goes wrong. */
const download = (when: string, fault: object): Case => ({
  line: 'jobs download JOB --out out',
  when,
  faults: [{ on: 'GET /assets/{job_id}/{name}', times: ALWAYS, ...fault } as Fault], // as above
  before: async (stage) => {
    const id = await makeJob(stage);
    await untilStatus(stage, id, 'succeeded');
    stage.fill('JOB', id);
  },
});

const html = { 'Content-Type': 'text/html' };

export const SERVICE: readonly Case[] = [
  // Settings of the connection
  { line: 'credits', when: 'nothing listens', env: { VLOC_BASE_URL: 'http://127.0.0.1:1/v1' } },
  { line: 'credits -o json', when: 'nothing listens', env: { VLOC_BASE_URL: 'http://127.0.0.1:1/v1' } },
  { line: 'credits', when: 'a wrong secret', env: { VLOC_SECRET: 'wrong' } },
  { line: 'credits', when: 'no secret', env: { VLOC_SECRET: '' } },
  { line: 'credits', when: 'neither', env: { VLOC_KEY: '', VLOC_SECRET: '' } },
  { line: 'credits', when: 'the address is empty', env: { VLOC_BASE_URL: '' } },
  { line: 'credits', when: 'a key without an address', env: { VLOC_BASE_URL: undefined } },
  {
    line: 'credits',
    when: 'nothing is set, and CI is',
    env: { VLOC_BASE_URL: undefined, VLOC_KEY: undefined, VLOC_SECRET: undefined, CI: '1' },
  },
  { line: 'credits', when: 'a key with a space', env: { VLOC_KEY: 'a b' } },
  ...[
    'example.com',
    'https://a:b@example.com/v1',
    'https://example.com/v1?a',
    'https://example.com',
    'http://example.com/v1',
  ].map((address): Case => ({ line: `credits --base-url ${address}` })),
  { line: 'credits', when: 'a header prefix with a space', env: { VLOC_HEADER_PREFIX: 'X Y' } },
  { line: 'credits', when: 'another header prefix', env: { VLOC_HEADER_PREFIX: 'X-Other' } },
  { line: 'credits', when: 'a proxy that is none', env: { HTTPS_PROXY: 'ftp://proxy' } },
  {
    line: 'credits --base-url https://example.com/v1',
    when: 'nothing listens at the proxy',
    env: { HTTPS_PROXY: 'http://127.0.0.1:1' },
  },
  { line: 'credits --profile nope' },
  { line: 'credits --profile local --base-url https://example.com/v1' },
  {
    line: 'credits --verbose',
    when: 'one retry',
    faults: [{ on: 'GET /credits', status: 503, retryAfter: 3 }],
  },
  // Refusals
  ...STATUSES.map(([status, code]) => credits(`${status} ${code}`, { status, code })),
  credits('a long wait is asked for', {
    status: 429,
    code: 'RATE_LIMIT_EXCEEDED',
    retryAfter: 100_000,
  }),
  ...CREATED.map(
    ([status, code]): Case => ({
      line: TRANSLATE,
      when: `${status} ${code}`,
      files: FILES,
      faults: [{ on: 'POST /subtitle-translations', times: ALWAYS, status, code }],
    }),
  ),
  {
    line: 'translate in --from en --to es --jobs 1',
    when: 'every request fails',
    files: { 'in/a.srt': SRT, 'in/b.srt': `${SRT}\n`, 'in/c.srt': `${SRT}\n\n`, 'in/d.srt': `\n${SRT}` },
    faults: [{ on: 'POST /subtitle-translations', times: ALWAYS, status: 503 }],
    unordered: true,
  },
  // Not from the service
  credits('502 of a proxy', { status: 502 }),
  credits('403 of a firewall', { status: 403, body: '<p>no', headers: html }),
  credits('429 of a gateway', { status: 429, body: '<p>no', headers: html }),
  credits('a login page', { body: '<html>sign in', headers: html }),
  credits('a redirect', { status: 302, body: '', headers: { Location: 'https://example.com/login' } }),
  credits('cut off', { drop: 'before' }),
  credits('not JSON', { body: '{"balance_credits":' }),
  credits('compressed', {
    body: 'xx',
    headers: { 'Content-Encoding': 'gzip', 'Content-Type': 'application/json' },
  }),
  credits('fields of another kind', { body: '{"balance_credits":"many"}' }),
  {
    line: 'jobs list --kind dubbing --all',
    when: 'the same page again and again',
    faults: [
      {
        on: 'GET /dubbings',
        times: ALWAYS,
        body: '{"object":"list","data":[],"has_more":true,"next_cursor":"a"}',
      },
    ],
  },
  { line: 'api /credits --paginate' },
  { line: 'api /nope' },
  { line: 'api POST /dubbings -d "{}"' },
  { line: 'api /credits?limit=1' },
  {
    line: 'jobs list',
    when: 'the key lacks a permission',
    before: async (stage) => {
      const { service, credentials } = await useOwnService(stage);
      await service.changeKey(credentials.key, { permissions: ['dubbing'] });
    },
  },
  {
    line: 'credits',
    when: 'the clock is wrong',
    before: async (stage) => (await useOwnService(stage)).clock.advance(3_600_000),
  },
  {
    line: TRANSLATE,
    when: 'the quota is used up',
    files: FILES,
    before: async (stage) => {
      const { service, credentials } = await useOwnService(stage);
      await service.changeKey(credentials.key, { monthlyLimitCredits: 0 });
    },
  },
  // Uploads
  {
    line: 'localize a.mp4 --to es',
    when: 'storage refuses the bytes',
    files: { 'a.mp4': VIDEO },
    faults: [{ on: 'PUT /objects/{upload_id}', times: ALWAYS, status: 403, body: '<p>', headers: html }],
  },
  {
    line: 'localize a.mp4 --to es',
    when: 'the reservation has no address',
    files: { 'a.mp4': VIDEO },
    faults: [
      {
        on: 'POST /uploads',
        times: ALWAYS,
        status: 201,
        body: '{"id":"upl_1","status":"waiting_for_upload","purpose":"source_video"}',
      },
    ],
  },
  {
    line: 'localize a.mp4 --to es',
    when: 'the address for the bytes is not https',
    files: { 'a.mp4': VIDEO },
    faults: [
      {
        on: 'POST /uploads',
        times: ALWAYS,
        status: 201,
        body: '{"id":"upl_1","status":"waiting_for_upload","upload_request":{"url":"http://192.0.2.1/a"}}',
      },
    ],
  },
  {
    line: 'localize a.mp4 --to es',
    when: 'the video does not decode',
    files: { 'a.mp4': '{  "ftyp":"isom"' },
  },
  // Downloads
  download('403', { status: 403, body: '<Error>', headers: { 'Content-Type': 'application/xml' } }),
  again(download('a web page', { body: '<html>sign in', headers: html })),
  again(download('other bytes', { body: `${SRT}\n`, headers: { 'Content-Type': 'application/x-subrip' } })),
  again(download('compressed', { body: 'xx', headers: { 'Content-Encoding': 'gzip' } })),
  again(download('a redirect round and round', { status: 302, body: '', headers: { Location: '?again' } })),
  again(download('cut', { cutAfterBytes: 5 })),
  {
    line: 'jobs download JOB --out out',
    when: 'the result has expired',
    before: async (stage) => {
      const { clock } = await useOwnService(stage);
      const id = await makeJob(stage);
      await untilStatus(stage, id, 'succeeded');
      clock.advance(25 * 3_600_000);
      stage.fill('JOB', id);
    },
  },
  { line: 'jobs get dubbings/dub_01k9x2m4n6p8q0r2s4t6v8w0y2 loc_01k9x2m4n6p8q0r2s4t6v8w0y2' },
  { line: 'jobs wait loc_01k9x2m4n6p8q0r2s4t6v8w0y2' },
  { line: 'jobs cancel loc_01k9x2m4n6p8q0r2s4t6v8w0y2 dub_01k9x2m4n6p8q0r2s4t6v8w0y2' },
  {
    line: 'jobs get JOB',
    when: 'an answer without a status',
    faults: [
      { on: 'GET /subtitle-translations/{subtitle_translation_id}', times: ALWAYS, body: '{"id":"x"}' },
    ],
    before: async (stage) => stage.fill('JOB', await makeJob(stage)),
  },
];
