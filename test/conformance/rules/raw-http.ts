/**
 * Requests that two programs on the network path could interpret differently. Each is signed and valid except for one
 * error. It is refused, the connection is closed, and no request hidden after it is answered. The refusals of an HTTP parser
 * itself have one case, which shows the answer.
 */
import assert from 'node:assert/strict';
import { type Rule, section } from '../rule.ts';
import type { ServiceUnderTest } from '../service.ts';
import type { Outgoing } from '../wire/exchange.ts';
import { joinRequest, type RawAnswer, requestLines, sendRaw } from '../wire/raw.ts';

const rule = section('raw-http');

/** A signed request to modify, and one that is hidden after it. */
interface Material {
  readonly get: Outgoing;
  readonly post: Outgoing;
  readonly hidden: string;
}

type Spoil = (material: Material) => string | Buffer;

/** A reservation that is accepted if the request around it is valid. */
const json = JSON.stringify({
  purpose: 'subtitle_file',
  file_name: 'a.srt',
  content_type: 'text/plain',
  size_bytes: 9,
});
const { length } = json;

function materialOf({ caller }: ServiceUnderTest): Material {
  const get = caller.sign({ method: 'GET', path: '/credits' });
  const post = caller.sign({ method: 'POST', path: '/uploads', body: Buffer.from(json) });
  const hidden = joinRequest(requestLines(caller.sign({ method: 'GET', path: '/credits' })));
  return { get, post, hidden };
}

/** The same request by the older version of HTTP. */
const older = ([first = '', ...rest]: readonly string[]): string[] => [first.replace('1.1', '1.0'), ...rest];

const withoutHost = (lines: readonly string[]) => lines.filter((line) => !line.startsWith('Host:'));

/** Returns the request with another target in its request line. */
function retarget({ get }: Material, change: (target: string) => string): string {
  const [, ...rest] = requestLines(get);
  return joinRequest([`GET ${change(get.target)} HTTP/1.1`, ...rest]);
}

const withLines =
  (...extra: readonly string[]): Spoil =>
  ({ get }) =>
    joinRequest(requestLines(get, extra));

/** Returns a POST with these framing headers, and the text after its head. */
const framed =
  (lines: readonly string[], body: (material: Material) => string): Spoil =>
  (material) =>
    joinRequest(requestLines(material.post, lines), body(material));

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

const CASES: Readonly<Record<string, { readonly what: string; readonly spoil: Spoil }>> = {
  'length-and-chunks': {
    what: 'Content-Length beside Transfer-Encoding',
    spoil: framed(['Content-Length: 5', 'Transfer-Encoding: chunked'], ({ hidden }) => `0\r\n\r\n${hidden}`),
  },
  'two-hosts': { what: 'two Host headers', spoil: withLines('Host: elsewhere.example.com') },
  'no-host': {
    what: 'no Host header',
    spoil: ({ get }) => joinRequest(withoutHost(requestLines(get))),
  },
  'two-content-types': {
    what: 'two Content-Type headers',
    spoil: framed([`Content-Length: ${length}`, 'Content-Type: text/plain'], () => json),
  },
  'two-idempotency-keys': {
    what: 'two Idempotency-Key headers',
    spoil: framed([`Content-Length: ${length}`, 'Idempotency-Key: another'], () => json),
  },
  'absolute-target': {
    what: 'a target in absolute form',
    spoil: (material) => retarget(material, (target) => `http://elsewhere.example.com${target}`),
  },
  fragment: { what: 'a fragment', spoil: (material) => retarget(material, (target) => `${target}#part`) },
  'dot-segments': {
    what: 'dot segments',
    spoil: (material) => retarget(material, (target) => target.replace('/credits', '/uploads/../credits')),
  },
  'escaped-dot-segments': {
    what: 'escaped dot segments',
    spoil: (material) =>
      retarget(material, (target) => target.replace('/credits', '/uploads/%2e%2e/credits')),
  },
  'double-slash': {
    what: 'a double slash',
    spoil: (material) => retarget(material, (target) => `/${target}`),
  },
  'escaped-slash': {
    what: 'an escaped slash',
    spoil: (material) => retarget(material, (target) => target.replace('/credits', '%2Fcredits')),
  },
  'broken-escape': {
    what: 'a percent sign that escapes nothing',
    spoil: (material) => retarget(material, (target) => `${target}?a=%zz`),
  },
  'raw-utf-8': {
    what: 'raw UTF-8 in the target',
    spoil: (material) =>
      Buffer.from(
        retarget(material, (target) => `${target}/é`),
        'utf8',
      ),
  },
  'space-in-target': {
    what: 'a space in the target',
    spoil: (material) => retarget(material, (target) => `${target}/a b`),
  },
  'repeated-parameter': {
    what: 'a repeated parameter',
    spoil: (material) => retarget(material, (target) => `${target}?a=1&a=1`),
  },
  'get-with-length': {
    what: 'a GET with a body',
    spoil: ({ get }) => joinRequest(requestLines(get, [`Content-Length: ${length}`]), json),
  },
  'get-with-chunks': {
    what: 'a GET with a body in chunks',
    spoil: ({ get }) =>
      joinRequest(requestLines(get, ['Transfer-Encoding: chunked']), `${chunk(json)}0\r\n\r\n`),
  },
  'delete-with-body': {
    what: 'a DELETE with a body',
    spoil: ({ get }) => {
      const [, ...rest] = requestLines(get, ['Idempotency-Key: k', `Content-Length: ${length}`]);
      return joinRequest([`DELETE ${get.target.replace('/credits', '/dubbings/x')} HTTP/1.1`, ...rest], json);
    },
  },
  'older-with-body': {
    what: 'a GET by HTTP/1.0 with a body',
    spoil: ({ get }) => joinRequest(older(requestLines(get, [`Content-Length: ${length}`])), json),
  },
  'many-headers': {
    what: 'a head of 1,500 headers',
    spoil: withLines(...Array.from({ length: 1500 }, (_, at) => `a${at}: `)),
  },
  'unknown-expectation': {
    what: 'an unknown expectation',
    spoil: framed(['Expect: magic', `Content-Length: ${length}`], () => json),
  },
  'long-header': { what: 'a header of 17 KiB', spoil: withLines(`X-Note: ${'a'.repeat(17 * 1024)}`) },
};

function expectRefused(answer: RawAnswer, what: string): void {
  assert.deepEqual(answer.statuses, [400], `${what}: ${answer.text.split('\r\n', 1)[0] || 'no answer'}`);
  assert.match(answer.text, /application\/problem\+json/i, what);
  assert.match(answer.text, /x-request-id: req_/i, what);
  assert.ok(answer.closed, `${what}: the connection was left open`);
}

export const RAW_HTTP_RULES: readonly Rule[] = [
  rule('contract', 'control', {
    title:
      'the same requests without an error are accepted, two on one connection and by HTTP/1.0 without Host',
    covers: ['endpoint.signed'],
    async check(service) {
      const { get, post, hidden } = materialOf(service);
      const close = 'Connection: close';
      const expectAnswers = async (bytes: string, ...statuses: number[]) =>
        assert.deepEqual((await sendRaw(service.origin, bytes)).statuses, statuses);
      await expectAnswers(hidden + joinRequest(requestLines(get, [close])), 200, 200);
      const { get: again } = materialOf(service);
      await expectAnswers(joinRequest(older(withoutHost(requestLines(again)))), 200);
      await expectAnswers(joinRequest(requestLines(post, [close, `Content-Length: ${length}`]), json), 201);
    },
  }),
  ...Object.entries(CASES).map(([name, { what, spoil }]) =>
    rule('contract', name, {
      title: `${what} is refused with 400, and the connection closed`,
      covers: ['auth.canonical-form', 'error.INVALID_REQUEST'],
      check: async (service) =>
        expectRefused(await sendRaw(service.origin, spoil(materialOf(service))), what),
    }),
  ),
];
