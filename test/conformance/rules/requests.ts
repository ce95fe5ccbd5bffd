/** The fields of create requests, as decided in the contract where the specification says nothing. */
import assert from 'node:assert/strict';
import { expectProblem, expectStatus } from '../expect/answer.ts';
import { JOB_KINDS, type JobKind, KINDS } from '../operations.ts';
import { type Body, bodyFor, createBriefly } from '../prepare/jobs.ts';
import { linesIn } from '../prepare/subtitles.ts';
import { needsOf, type Rule, section } from '../rule.ts';
import type { ServiceUnderTest } from '../service.ts';
import { textAt, valueAt } from '../wire/json.ts';

const rule = section('requests');

const REQUIRED: Readonly<Record<JobKind, readonly string[]>> = {
  audio_separation: ['source'],
  subtitle_recognition: ['source'],
  subtitle_translation: ['subtitle', 'target_language'],
  dubbing: ['subtitle', 'target_language'],
  auto_localization: ['source', 'target_language'],
};

/** Fields that have a default. */
const DEFAULTS: Readonly<Record<JobKind, Body>> = {
  audio_separation: {},
  subtitle_recognition: { source_language: 'auto' },
  subtitle_translation: { source_language: 'auto' },
  dubbing: { voice_mode: 'auto' },
  auto_localization: {
    source_language: 'auto',
    mode: 'standard',
    voice_mode: 'auto',
    subtitle_output: 'none',
    original_audio: 'background',
    resolution: 'source',
  },
};

/** All values of the fields with a fixed set of values. */
const CHOICES: Readonly<Partial<Record<JobKind, Readonly<Record<string, readonly string[]>>>>> = {
  dubbing: { voice_mode: ['auto', 'female', 'male'] },
  auto_localization: {
    mode: ['standard', 'subtitles_only'],
    voice_mode: ['auto', 'female', 'male'],
    subtitle_output: ['none', 'soft', 'burned'],
    original_audio: ['background', 'duck', 'mute'],
    resolution: ['source', '1080p', '720p', '480p'],
  },
};

const sentenceOf = (kind: JobKind) =>
  kind === 'auto_localization' ? 'shape.localization' : 'shape.other-requests';

/** Callbacks that lead to this machine, into a network, or that carry a password. */
const INSIDE = [
  'http://127.0.0.1:8080/',
  'https://[::1]:8080/',
  'https://10.0.0.1/',
  'https://a.internal/',
  'https://u:p@a.example/',
];

/** Checks that each change to a valid request causes a 400. */
async function expectRefused(
  service: ServiceUnderTest,
  kind: JobKind,
  changes: readonly Body[],
): Promise<void> {
  const body = await bodyFor(service, kind);
  for (const change of changes) {
    const answer = await service.caller.post(KINDS[kind].path, { ...body, ...change });
    expectProblem(service, answer, 400, 'INVALID_REQUEST');
  }
}

const line = (changes: Body) => ({ index: 1, start_ms: 0, end_ms: 1000, text: 'a', ...changes });

const BAD_LINES: readonly unknown[] = [
  [],
  [line({ end_ms: 0 })],
  [line({ start_ms: -1 })],
  [line({ start_ms: 0.5 })],
  [line({ start_ms: '0' })],
  [line({ index: 0 })],
  [line({ text: '' })],
  [line({ text: undefined })],
  [line({ colour: 'red' })],
  'a line',
];

/** Returns the rules about one kind. */
function rulesOf(kind: JobKind): Rule[] {
  const covers = [sentenceOf(kind), 'behavior.create', 'error.INVALID_REQUEST'] as const;
  const needs = needsOf(KINDS[kind].input);
  const named = (name: string) => `${kind}.${name}`;
  return [
    rule('contract', named('required'), {
      title: `${kind} needs ${REQUIRED[kind].join(' and ')}`,
      covers,
      needs,
      check: (service) =>
        expectRefused(
          service,
          kind,
          REQUIRED[kind].map((name) => ({ [name]: undefined })),
        ),
    }),
    rule('contract', named('defaults'), {
      title: `${kind} shows the request in input, with defaults for omitted fields`,
      covers: [sentenceOf(kind), 'job.fields'],
      needs,
      async check(service) {
        const { source_language: _language, ...body } = await bodyFor(service, kind);
        const { answer } = await createBriefly(service, kind, { body });
        const input = valueAt(answer.json, 'input');
        for (const [name, value] of Object.entries(DEFAULTS[kind])) {
          assert.equal(valueAt(input, name), value, name);
        }
      },
    }),
  ];
}

/** Returns the rules about the fields of all kinds, for one of them. */
function commonRulesOf(kind: JobKind): Rule[] {
  const covers = [sentenceOf(kind), 'behavior.create', 'error.INVALID_REQUEST'] as const;
  const needs = needsOf(KINDS[kind].input);
  const named = (name: string) => `${kind}.${name}`;
  return [
    rule('contract', named('unknown'), {
      title: `${kind} refuses an unknown field`,
      covers,
      needs,
      check: (service) => expectRefused(service, kind, [{ colour: 'red' }, { id: 'mine' }]),
    }),
    rule('contract', named('client-reference'), {
      title: `${kind} accepts a client_reference of 1 and of 128 characters, not of 0 and of 129`,
      covers: ['limit.client-reference', 'job.optional-fields'],
      needs,
      async check(service) {
        for (const reference of ['r', '集'.repeat(128)]) {
          const { answer } = await createBriefly(service, kind, { extra: { client_reference: reference } });
          assert.equal(textAt(answer.json, 'client_reference'), reference);
        }
        const bad = ['', 'r'.repeat(129), 7];
        await expectRefused(
          service,
          kind,
          bad.map((reference) => ({ client_reference: reference })),
        );
      },
    }),
    rule('contract', named('callback-url'), {
      title: `${kind} refuses a callback_url that is not a public https address`,
      covers: ['job.optional-fields'],
      needs,
      check: (service) =>
        expectRefused(service, kind, [
          { callback_url: 'ftp://hooks.example.com/a' },
          { callback_url: '/hooks' },
          { callback_url: '' },
          { callback_url: 7 },
          ...INSIDE.map((url) => ({ callback_url: url })),
        ]),
    }),
  ];
}

function choiceRules(kind: JobKind): Rule[] {
  const choices = Object.entries(CHOICES[kind] ?? {});
  if (choices.length === 0) return [];
  return [
    rule('contract', `${kind}.choices`, {
      title: `${kind} accepts the values of ${choices.map(([name]) => name).join(', ')} and nothing else`,
      covers: [sentenceOf(kind)],
      needs: needsOf(KINDS[kind].input),
      async check(service) {
        // One job for the first values of all fields, one for the second, and so on.
        for (let at = 0; choices.some(([, values]) => at < values.length); at += 1) {
          const extra = Object.fromEntries(
            choices.map(([name, values]) => [name, values[Math.min(at, values.length - 1)]]),
          );
          const { answer } = await createBriefly(service, kind, { extra });
          for (const [name, value] of Object.entries(extra)) {
            assert.equal(textAt(answer.json, 'input', name), value);
          }
        }
        const wrong = ['other', '', 1];
        await expectRefused(
          service,
          kind,
          choices.flatMap(([name]) => wrong.map((value) => ({ [name]: value }))),
        );
      },
    }),
  ];
}

const LANGUAGE_KINDS = ['subtitle_translation', 'dubbing'] as const;

export const REQUEST_RULES: readonly Rule[] = [
  ...JOB_KINDS.flatMap(rulesOf),
  ...(['auto_localization', 'dubbing'] as const).flatMap(commonRulesOf),
  ...JOB_KINDS.flatMap(choiceRules),
  rule('contract', 'lines', {
    title: 'structured lines that break a rule are refused',
    covers: ['shape.other-requests', 'limit.subtitle-input'],
    needs: ['jobs'],
    async check(service) {
      for (const kind of LANGUAGE_KINDS) {
        await expectRefused(
          service,
          kind,
          BAD_LINES.map((lines) => ({ subtitle: { type: 'lines', lines } })),
        );
      }
    },
  }),
  rule('contract', 'several-rows', {
    title: 'a structured line may have several rows',
    covers: ['shape.other-requests'],
    needs: ['jobs'],
    async check(service) {
      const lines = linesIn(service.languages.target).map((each) => ({
        ...each,
        text: 'Hola.\nBuenos días.',
      }));
      const { answer } = await createBriefly(service, 'dubbing', {
        extra: { subtitle: { type: 'lines', lines } },
      });
      expectStatus(answer, 202);
    },
  }),
  rule('contract', 'language-tags', {
    title:
      'a language that is not a BCP 47 tag is refused with 400, one without an engine with 422 and a list',
    covers: ['shape.other-requests', 'error.open-codes'],
    needs: ['jobs'],
    async check(service) {
      for (const kind of LANGUAGE_KINDS) {
        const bad = ['', 'Spanish!', 'e', 'auto '];
        await expectRefused(
          service,
          kind,
          bad.map((tag) => ({ target_language: tag })),
        );
        const body = { ...(await bodyFor(service, kind)), target_language: 'tlh' };
        const answer = await service.caller.post(KINDS[kind].path, body);
        expectProblem(service, answer, 422, 'LANGUAGE_NOT_SUPPORTED');
        assert.match(textAt(answer.json, 'detail'), new RegExp(`\\b${service.languages.target}\\b`));
      }
    },
  }),
];
