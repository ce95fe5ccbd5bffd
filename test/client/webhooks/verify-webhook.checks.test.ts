import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  judgeWebhook,
  type RawWebhook,
  type WebhookRules,
} from '../../../src/client/webhooks/verify-webhook.ts';
import { anyText } from '../../protocol/arbitraries.ts';
import { EVENT_ID, eventBody, type SignOptions, sign, signWithOpenssl } from './sign.ts';

const AT = 1_795_197_845;
const SECRET = 'whsec_a b£';
const BODY = eventBody('dub_1');
const RULES: WebhookRules = { secret: SECRET, now: AT * 1000 };

function deliver(options: Partial<SignOptions> = {}) {
  return sign(BODY, { secret: SECRET, at: AT, ...options });
}

function judge(received: RawWebhook, rules: Partial<WebhookRules> = {}) {
  const verdict = judgeWebhook(received, { ...RULES, ...rules });
  return verdict.valid ? `valid ${verdict.layout}` : `${verdict.check}: ${verdict.message}`;
}

/** The delivery with one header changed; undefined takes it away. */
function withHeader(name: 'Timestamp' | 'Id' | 'Signature', value: string | string[] | undefined) {
  const { body, headers } = deliver();
  return { body, headers: { ...headers, [`X-Service-Webhook-${name}`]: value } };
}

describe('a genuine delivery', () => {
  it('is one that OpenSSL signed', () => {
    const signature = signWithOpenssl(BODY, SECRET, AT, EVENT_ID);
    expect(judge(withHeader('Signature', signature))).toBe('valid newline');
  });

  it('is reported with the form that matched, and only a pinned form is accepted', () => {
    const dotted = deliver({ joint: '.' });
    expect(judge(dotted)).toBe('valid dot');
    expect(judge(dotted, { layout: 'dot' })).toBe('valid dot');
    expect(judge(dotted, { layout: 'newline' })).toMatch(/^signature: .*right in the dot form/);
    expect(judge(deliver(), { layout: 'dot' })).toMatch(/^signature: /);
  });

  it('may come with the headers of Node, of Fetch, or as pairs', () => {
    const { body, headers } = deliver();
    const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    expect(judge({ body, headers: Object.fromEntries(lower) })).toBe('valid newline');
    expect(judge({ body, headers: Object.fromEntries(lower.map(([n, v]) => [n, [v]])) })).toBe(
      'valid newline',
    );
    expect(judge({ body, headers: new Headers(headers) })).toBe('valid newline');
    expect(judge({ body, headers: lower })).toBe('valid newline');
  });

  it('may carry another vendor in its header names', () => {
    const other = deliver({ prefix: 'X-Acme' });
    expect(judge(other, { headerPrefix: 'X-Acme' })).toBe('valid newline');
    expect(judge(other)).toBe('form: header x-service-webhook-timestamp is missing');
  });
});

describe('the time of a delivery', () => {
  it.each([-300, -299, 0, 299, 300])('is right when it is %i s old', (age) => {
    expect(judge(deliver({ at: AT - age }))).toBe('valid newline');
  });

  it.each([
    [301, '301 s old, 1 s too old'],
    [86_400, '86400 s old, 86100 s too old'],
    [-301, '301 s ahead of this clock, 1 s too new'],
  ])('is wrong when it is %i s old, and the difference is reported', (age, words) => {
    expect(judge(deliver({ at: AT - age }))).toContain(`timestamp: the timestamp is ${words}`);
  });

  it('is compared with the requested tolerance, which may be zero', () => {
    expect(judge(deliver({ at: AT - 301 }), { toleranceSeconds: 301 })).toBe('valid newline');
    expect(judge(deliver({ at: AT }), { toleranceSeconds: 0 })).toBe('valid newline');
    expect(judge(deliver({ at: AT - 1 }), { toleranceSeconds: 0 })).toMatch(/^timestamp: /);
  });
});

describe('a delivery that was tampered with', () => {
  it('is refused for every flipped bit of its body', () => {
    const { body, headers } = deliver();
    const accepted: number[] = [];
    for (let bit = 0; bit < body.length * 8; bit += 1) {
      const flipped = Buffer.from(body);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      if (judgeWebhook({ body: flipped, headers }, RULES).valid) accepted.push(bit);
    }
    expect(accepted).toEqual([]);
  });

  it.each(['Timestamp', 'Id', 'Signature'] as const)('is refused for every flipped bit of the %s', (name) => {
    const value = deliver().headers[`X-Service-Webhook-${name}`] ?? '';
    const flips = [...value].flatMap((character, at) =>
      [1, 2, 4, 8, 16, 32, 64].map(
        (bit) =>
          value.slice(0, at) + String.fromCharCode(character.charCodeAt(0) ^ bit) + value.slice(at + 1),
      ),
    );
    const accepted = flips.filter((flipped) => judgeWebhook(withHeader(name, flipped), RULES).valid);
    expect(accepted).toEqual([]);
  });

  it('is refused if its JSON was parsed and written again, or signed with another secret', () => {
    const { headers } = deliver();
    const spaced = JSON.stringify(JSON.parse(BODY), null, 1);
    expect(judge({ body: spaced, headers })).toMatch(/^signature: /);
    expect(judge(deliver({ secret: `${SECRET}\n` }))).toMatch(/^signature: .*another secret/);
  });
});

describe('the form of the headers', () => {
  const signature = deliver().headers['X-Service-Webhook-Signature'] ?? '';

  it.each([
    ['Signature', `${signature}0`, '65 hexadecimal digits long, not 64'],
    ['Signature', signature.toUpperCase(), 'in upper case'],
    ['Signature', 'no hex at all', 'not 64 lower-case hexadecimal digits'],
    ['Signature', `${signature}\n`, 'not 64 lower-case hexadecimal digits'],
    ['Signature', undefined, 'is missing'],
    ['Signature', [signature, signature], 'more than once'],
    ['Signature', `${signature}, ${signature}`, 'more than once'],
    ['Signature', [], 'is missing'],
    ['Timestamp', `${AT}0`, 'not ten digits'],
    ['Timestamp', `${AT}.0`, 'not ten digits'],
    ['Id', 'evt_short', 'not an event id'],
  ] as const)('%s %s is refused', (name, value, words) => {
    const given = typeof value === 'object' ? [...value] : value;
    const verdict = judge(withHeader(name, given));
    expect(verdict).toMatch(/^form: /);
    expect(verdict).toContain(words);
  });

  it('treats two spellings of one name as a repeated header', () => {
    const { body, headers } = deliver();
    const twice = { ...headers, 'x-service-webhook-id': EVENT_ID };
    expect(judge({ body, headers: twice })).toContain('x-service-webhook-id appears more than once');
  });

  it('never makes it throw', () => {
    const value = fc.oneof(anyText(), fc.array(fc.string(), { maxLength: 3 }));
    const names = fc.constantFrom(...Object.keys(deliver().headers), '__proto__', 'constructor');
    fc.assert(
      fc.property(fc.dictionary(names, value), fc.uint8Array(), (headers, body) => {
        expect(judgeWebhook({ body, headers }, RULES).valid).toBe(false);
      }),
    );
  });
});
