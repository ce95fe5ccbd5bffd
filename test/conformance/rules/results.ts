/** The result of each kind, which contains nothing else. */
import assert from 'node:assert/strict';
import { expectMembers } from '../expect/answer.ts';
import { JOB_KINDS, type JobKind, KINDS } from '../operations.ts';
import { ASSETS, addressOf, fetchAddress, fetchAssets, fetchSubtitle } from '../prepare/assets.ts';
import { bodyFor, finish, finishedJob } from '../prepare/jobs.ts';
import { parseSrt } from '../prepare/subtitles.ts';
import { needsOf, type Rule, section } from '../rule.ts';
import type { SentenceId } from '../sentences.ts';
import { listAt, numberAt, textAt, valueAt } from '../wire/json.ts';

const rule = section('results');

const RESULT_MEMBERS: Readonly<Record<JobKind, readonly string[]>> = {
  audio_separation: ['vocal_audio', 'background_audio'],
  subtitle_recognition: ['subtitle', 'language', 'lines'],
  subtitle_translation: ['subtitle', 'language', 'lines'],
  dubbing: ['audio', 'duration_seconds'],
  auto_localization: ['video', 'duration_seconds'],
};

const CAPABILITY: Readonly<Record<JobKind, SentenceId>> = {
  audio_separation: 'service.separation',
  subtitle_recognition: 'service.recognition',
  subtitle_translation: 'service.translation',
  dubbing: 'service.dubbing',
  auto_localization: 'service.localization',
};

/** Returns whether the bytes are the beginning of a file of that type. */
const isWav = (bytes: Buffer) =>
  bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WAVE';
const isMp4 = (bytes: Buffer) => bytes.toString('latin1', 4, 8) === 'ftyp';

/** Counts the URLs within a result, at any depth. */
function countAddresses(result: unknown): number {
  return JSON.stringify(result).match(/"https?:\/\//g)?.length ?? 0;
}

function rulesOf(kind: JobKind): Rule[] {
  const needs = needsOf(KINDS[kind].input);
  const covers = [`result.${kind}`, CAPABILITY[kind]] as const;
  return [
    rule('spec', `${kind}.own-result`, {
      title: `${kind} returns ${ASSETS[kind].join(' and ')}, no other file and no report`,
      covers: [...covers, 'service.only-own-result'],
      needs,
      async check(service) {
        const { last } = await finishedJob(service, kind);
        const result = valueAt(last.json, 'result');
        for (const name of ASSETS[kind]) assert.match(addressOf(valueAt(result, name)), /^https?:\/\//);
        assert.equal(countAddresses(result), ASSETS[kind].length, 'addresses in the result');
        assert.doesNotMatch(JSON.stringify(Object.keys(last.json ?? {})), /report/i);
        assert.doesNotMatch(JSON.stringify(result), /"[a-z_]*report[a-z_]*":/i);
      },
    }),
    rule('contract', `${kind}.members`, {
      title: `the result of ${kind} has ${RESULT_MEMBERS[kind].join(', ')}, and nothing else`,
      covers: [`result.${kind}`, 'job.fields'],
      needs,
      async check(service) {
        const { last } = await finishedJob(service, kind);
        const result = valueAt(last.json, 'result');
        expectMembers(result, RESULT_MEMBERS[kind], 'the result');
        for (const name of ASSETS[kind]) {
          const members = ['url', 'expires_at', 'content_type', 'size_bytes', 'sha256'];
          expectMembers(valueAt(result, name), members, name);
        }
      },
    }),
  ];
}

/** Creates a rule: every file of the kind has that type. */
function typeRule(
  kind: JobKind,
  type: string,
  contentType: string,
  isType: (bytes: Buffer) => boolean,
): Rule {
  return rule('spec', `${kind}.${type.toLowerCase()}`, {
    title: `the files of ${kind} are ${type}`,
    covers: [`result.${kind}`, CAPABILITY[kind]],
    needs: needsOf(KINDS[kind].input),
    async check(service) {
      const { assets } = await fetchAssets(service, kind);
      for (const { asset, answer, name } of assets) {
        assert.ok(isType(answer.bytes), `${name} is ${type}`);
        if (service.strict) assert.equal(textAt(asset, 'content_type'), contentType, name);
      }
    },
  });
}

/** Creates a rule: the SRT is UTF-8 and equals the structured lines. */
function subtitleRule(kind: 'subtitle_recognition' | 'subtitle_translation'): Rule {
  return rule('spec', `${kind}.subtitle`, {
    title: `the SRT of ${kind} is UTF-8 and has the same text as the structured lines`,
    covers: [`result.${kind}`],
    needs: needsOf(KINDS[kind].input),
    async check(service) {
      const { job, bytes } = await fetchSubtitle(service, kind);
      const srt = parseSrt(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
      const lines = listAt(job.last.json, 'result', 'lines');
      assert.notEqual(lines.length, 0);
      const structured = lines.map((line) => ({
        start_ms: numberAt(line, 'start_ms'),
        end_ms: numberAt(line, 'end_ms'),
        text: textAt(line, 'text'),
      }));
      assert.deepEqual(structured, srt);
    },
  });
}

/** Lines as other editors number and write them. */
const ODD_LINES = [
  { index: 7, start_ms: 5000, end_ms: 6000, text: ' Good morning,\r\n\n everybody. ' },
  { index: 3, start_ms: 0, end_ms: 1000, text: 'The house --> is very old.' },
];

export const RESULT_RULES: readonly Rule[] = [
  ...JOB_KINDS.flatMap(rulesOf),
  typeRule('audio_separation', 'WAV', 'audio/wav', isWav),
  typeRule('dubbing', 'WAV', 'audio/wav', isWav),
  typeRule('auto_localization', 'MP4', 'video/mp4', isMp4),
  subtitleRule('subtitle_recognition'),
  subtitleRule('subtitle_translation'),
  rule('spec', 'dubbing.aligned', {
    title:
      'the track of a dubbing includes the start of its last line, and has the length stated in the result',
    covers: ['service.dubbing', 'result.dubbing'],
    needs: ['jobs'],
    async check(service) {
      const { job, assets } = await fetchAssets(service, 'dubbing');
      const seconds = wavSeconds(assets[0]?.answer.bytes ?? Buffer.alloc(0));
      const starts = listAt(job.body, 'subtitle', 'lines').map((line) => numberAt(line, 'start_ms') / 1000);
      assert.ok(
        seconds > Math.max(...starts),
        `it lasts ${seconds} s, the last line starts at ${starts.at(-1)} s`,
      );
      if (!service.strict) return;
      const told = numberAt(job.last.json, 'result', 'duration_seconds');
      // A hundredth of a second is less than one frame.
      assert.ok(Math.abs(told - seconds) < 0.01, `it lasts ${seconds} s, the result says ${told}`);
    },
  }),
  rule('spec', 'translated-lines', {
    title: 'a translation keeps the number and the times of the lines',
    covers: ['result.subtitle_translation', 'meter.subtitle_translation'],
    needs: ['jobs'],
    async check(service) {
      const { body, last } = await finishedJob(service, 'subtitle_translation');
      const timesOf = (line: unknown) => [numberAt(line, 'start_ms'), numberAt(line, 'end_ms')];
      const asked = listAt(body, 'subtitle', 'lines').map(timesOf);
      assert.deepEqual(listAt(last.json, 'result', 'lines').map(timesOf), asked);
    },
  }),
  rule('contract', 'same-subtitle', {
    title: 'the SRT and the lines of a translation agree in number, order and text, whatever lines were sent',
    covers: ['result.subtitle_translation'],
    needs: ['jobs'],
    async check(service) {
      const body = await bodyFor(service, 'subtitle_translation');
      const { last } = await finish(service, 'subtitle_translation', {
        body: { ...body, subtitle: { type: 'lines', lines: ODD_LINES } },
      });
      const srt = await fetchAddress(addressOf(valueAt(last.json, 'result', 'subtitle')));
      const blocks = srt.bytes.toString().trim().split('\n\n');
      const cues = blocks.map((block) => {
        const [index, , ...text] = block.split('\n');
        return { index: Number(index), text: text.join('\n') };
      });
      const lines = listAt(last.json, 'result', 'lines').map((line) => ({
        index: numberAt(line, 'index'),
        text: textAt(line, 'text'),
      }));
      assert.deepEqual(lines, cues);
      assert.deepEqual(
        lines.map(({ index }) => index),
        ODD_LINES.map(({ index }) => index),
      );
    },
  }),
  rule('contract', 'languages', {
    title: 'a recognition states the language that it detected, a translation its target language',
    covers: ['job.fields', 'result.subtitle_recognition', 'result.subtitle_translation'],
    needs: ['jobs', 'media'],
    async check(service) {
      const heard = (await finishedJob(service, 'subtitle_recognition')).last;
      const written = (await finishedJob(service, 'subtitle_translation')).last;
      assert.notEqual(textAt(heard.json, 'result', 'language'), '');
      assert.equal(textAt(written.json, 'result', 'language'), service.languages.target);
    },
  }),
];

/** Returns the seconds of sound. Fails for bytes that are not a WAV. */
function wavSeconds(bytes: Buffer): number {
  let bytesPerSecond = 0;
  // Chunks follow the twelve bytes of the RIFF header: a name of four bytes, a size of four bytes, and the content, at
  // even offsets.
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    if (name === 'fmt ') bytesPerSecond = bytes.readUInt32LE(at + 16);
    if (name === 'data') return size / bytesPerSecond;
    at += 8 + size + (size % 2);
  }
  return assert.fail('there is no sound in the WAV');
}
