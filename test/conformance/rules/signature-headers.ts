/** The four signature headers: present, well formed, and not repeated. */
import { expectProblem, expectStatus } from '../expect/answer.ts';
import { OPERATIONS, UNKNOWN_ID } from '../operations.ts';
import { bareCall } from '../prepare/operations.ts';
import { type Rule, section } from '../rule.ts';
import type { SentenceId } from '../sentences.ts';
import type { ServiceUnderTest } from '../service.ts';
import type { HeaderNames } from '../wire/caller.ts';
import { type Headers, type Incoming, send } from '../wire/exchange.ts';

const rule = section('authentication');

type HeaderChange = (headers: Headers, name: string) => Headers;

const without: HeaderChange = (headers, name) =>
  Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name));

/** Requests the balance, and a record with an unknown id, with one header changed. */
async function askSpoilt(
  service: ServiceUnderTest,
  part: keyof HeaderNames,
  change: HeaderChange,
): Promise<{ balance: Incoming; record: Incoming }> {
  const { caller } = service;
  const ask = (path: string) => {
    const signed = caller.sign({ method: 'GET', path });
    return send({ ...signed, headers: change(signed.headers, caller.names[part]) });
  };
  return { balance: await ask('/credits'), record: await ask(`/uploads/${UNKNOWN_ID}`) };
}

/**
 * The specification lists bad signature headers as a reason for both 400 and 401. Our decision: a malformed header
 * causes 400 if the operation declares it, else 401.
 */
async function expectSpoilt(service: ServiceUnderTest, part: keyof HeaderNames, change: HeaderChange) {
  const { balance, record } = await askSpoilt(service, part, change);
  expectProblem(service, balance, service.strict ? 400 : [400, 401]);
  expectProblem(service, record, service.strict ? 401 : [400, 401]);
}

const PARTS: readonly (readonly [keyof HeaderNames, SentenceId])[] = [
  ['key', 'auth.key'],
  ['timestamp', 'auth.timestamp'],
  ['nonce', 'auth.nonce'],
  ['signature', 'auth.signature'],
];

/** Malformed values for each header. */
const MALFORMED: Readonly<Record<keyof HeaderNames, readonly string[]>> = {
  key: ['', 'two words'],
  timestamp: ['', 'now', '1767355200.5', '1767355200000', '-1', '0x69579b80'],
  nonce: [''],
  signature: ['', 'abc', 'g'.repeat(64), 'a'.repeat(63), 'a'.repeat(65)],
};

export const SIGNATURE_HEADER_RULES: readonly Rule[] = [
  ...PARTS.flatMap(([part, sentence]) => [
    rule('spec', `${part}-missing`, {
      title: `a request without the ${part} header is refused`,
      covers: ['auth.four-headers', sentence, 'error.INVALID_REQUEST'],
      check: (service) => expectSpoilt(service, part, without),
    }),
    rule('spec', `${part}-malformed`, {
      title: `a ${part} header that is not well formed is refused`,
      covers: [sentence, 'error.INVALID_REQUEST'],
      async check(service) {
        for (const value of MALFORMED[part]) {
          await expectSpoilt(service, part, (headers, name) => ({ ...headers, [name]: value }));
        }
      },
    }),
    rule('contract', `${part}-repeated`, {
      title: `a repeated ${part} header is refused with 400, also with the same value`,
      covers: ['auth.four-headers', 'auth.canonical-form'],
      async check(service) {
        const repeat: HeaderChange = (headers, name) => {
          const value = String(headers[name]);
          return { ...headers, [name]: [value, value] };
        };
        const { balance, record } = await askSpoilt(service, part, repeat);
        expectProblem(service, balance, 400, 'INVALID_REQUEST');
        expectProblem(service, record, 400, 'INVALID_REQUEST');
      },
    }),
  ]),
  rule('contract', 'nonce-length', {
    title:
      'a nonce of 16 and of 128 characters is accepted, one of 15, of 129 and with other characters is refused',
    covers: ['auth.nonce'],
    async check(service) {
      const ask = (nonce: string) => service.caller.call({ method: 'GET', path: '/credits', nonce });
      const stem = String(service.now()).padStart(15, '0').slice(-15);
      for (const length of [16, 128]) expectStatus(await ask(stem.padEnd(length, 'n')), 200);
      for (const nonce of [stem, stem.padEnd(129, 'n'), `${stem}+/`]) {
        expectProblem(service, await ask(nonce), 400, 'INVALID_REQUEST');
      }
    },
  }),
  rule('spec', 'unsigned', {
    title: 'every operation refuses a request without any signature header',
    covers: ['endpoint.signed', 'auth.four-headers'],
    async check(service) {
      const { caller } = service;
      for (const operation of OPERATIONS) {
        const signed = caller.sign(bareCall(operation));
        const bare = Object.values(caller.names).reduce(without, signed.headers);
        const declares400 = operation.errors.includes(400);
        const answer = await send({ ...signed, headers: bare });
        expectProblem(service, answer, service.strict ? (declares400 ? 400 : 401) : [400, 401]);
      }
    },
  }),
  rule('contract', 'header-prefix', {
    title: 'signature headers with other names are not accepted',
    covers: ['base.header-names'],
    async check(service) {
      const elsewhere = service.callerFor(service.caller.credentials, 'X-Elsewhere');
      expectProblem(service, await elsewhere.get('/credits'), 400, 'INVALID_REQUEST');
    },
  }),
];
