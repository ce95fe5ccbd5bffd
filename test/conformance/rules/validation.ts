/** The files that validation accepts: videos created for each rule, and subtitle files. */
import assert from 'node:assert/strict';
import type { Recipe } from '../media/make.ts';
import { formatSrt, linesIn, linesOf, subtitleFile } from '../prepare/subtitles.ts';
import { validate } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import type { SentenceId } from '../sentences.ts';
import type { ServiceUnderTest, UploadFile } from '../service.ts';
import { asObject, textAt } from '../wire/json.ts';

const rule = section('validation');

const QUARTER_HOUR = 15 * 60;
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-pix_fmt', 'yuv420p'];
/** This sound has exactly the requested length, in packets of an eighth of a second: a service may look at each. */
const EXACT = [
  '-r',
  '1',
  '-c:v',
  'libx264',
  '-preset',
  'ultrafast',
  '-pix_fmt',
  'yuv420p',
  '-c:a',
  'pcm_mulaw',
];
/** MPEG supports only a few frame rates. */
const MPEG = ['-c:v', 'mpeg1video', '-r', '25', '-c:a', 'mp2', '-ar', '44100', '-f', 'mpeg'];

async function make(service: ServiceUnderTest, recipe: Recipe): Promise<UploadFile> {
  const { ffmpeg } = service.supplies;
  if (ffmpeg === null) throw new Error('a rule makes a video without asking for ffmpeg');
  return ffmpeg(recipe);
}

async function expectReady(service: ServiceUnderTest, file: UploadFile): Promise<void> {
  const { last } = await validate(service, file);
  const error = JSON.stringify(asObject(last.json).error ?? null);
  assert.equal(textAt(last.json, 'status'), 'ready', `${file.name}: ${error}`);
}

/** Checks that the upload fails. The embedded service states the reason in `error`. */
async function expectFailed(service: ServiceUnderTest, file: UploadFile, code: string): Promise<void> {
  const { last } = await validate(service, file);
  assert.equal(textAt(last.json, 'status'), 'failed', file.name);
  if (!service.strict) return;
  assert.equal(textAt(last.json, 'error', 'code'), code);
  assert.notEqual(textAt(last.json, 'error', 'message'), '');
}

function takesVideo(name: string, recipe: Recipe, sentence: SentenceId, what: string): Rule {
  return rule('spec', name, {
    title: `${what} becomes ready`,
    covers: [sentence],
    needs: ['ffmpeg'],
    check: async (service) => expectReady(service, await make(service, recipe)),
  });
}

function refusesVideo(name: string, recipe: Recipe, sentence: SentenceId, what: string): Rule {
  return rule('spec', name, {
    title: `${what} fails validation`,
    covers: [sentence, 'upload-transition.others'],
    needs: ['ffmpeg'],
    check: async (service) => expectFailed(service, await make(service, recipe), 'MEDIA_VALIDATION_FAILED'),
  });
}

/** Creates a rule about a subtitle file with these bytes. */
function subtitleRule(name: string, title: string, bytes: () => Buffer | string, usable: boolean): Rule {
  return rule('spec', name, {
    title: `${title} ${usable ? 'becomes ready' : 'fails validation'}`,
    covers: ['limit.subtitle-input', ...(usable ? [] : (['upload-transition.others'] as const))],
    check: (service) =>
      usable
        ? expectReady(service, subtitleFile(bytes()))
        : expectFailed(service, subtitleFile(bytes()), 'SUBTITLE_VALIDATION_FAILED'),
  });
}

const manyLines = (count: number) =>
  formatSrt(linesOf(Array.from({ length: count }, (_, at) => `Line ${at}.`)));
/** Long lines of text, then empty rows. */
function largestSrt(): Buffer {
  const srt = Buffer.from(formatSrt(linesOf(Array.from({ length: 9_000 }, () => 'x'.repeat(1000)))));
  return Buffer.concat([srt, Buffer.alloc(10 * 1024 ** 2 - 1 - srt.length, '\n')]);
}

const bom = '\uFEFF';

export const VALIDATION_RULES: readonly Rule[] = [
  takesVideo('mp4', { name: 'a.mp4', options: H264 }, 'limit.formats', 'an MP4'),
  takesVideo('mov', { name: 'a.mov', options: H264 }, 'limit.formats', 'a MOV'),
  takesVideo('m4v', { name: 'a.m4v', options: [...H264, '-f', 'ipod'] }, 'limit.formats', 'an M4V'),
  takesVideo(
    'avi',
    { name: 'a.avi', options: ['-c:v', 'mpeg4', '-c:a', 'mp2', '-ar', '44100'] },
    'limit.formats',
    'an AVI',
  ),
  takesVideo('mpeg', { name: 'a.mpeg', options: MPEG }, 'limit.formats', 'an MPEG'),
  takesVideo('mpg', { name: 'a.mpg', options: MPEG }, 'limit.formats', 'an MPG'),
  refusesVideo('matroska', { name: 'a.mkv', options: H264 }, 'limit.formats', 'a Matroska file'),
  refusesVideo(
    'disguised',
    { name: 'a.mp4', options: [...H264, '-f', 'matroska'] },
    'limit.formats',
    'a Matroska file under the name of an MP4',
  ),
  takesVideo(
    'quarter-hour',
    { name: 'quarter.mov', seconds: QUARTER_HOUR, options: EXACT },
    'limit.duration',
    'a video of 15 minutes',
  ),
  refusesVideo(
    'longer',
    { name: 'longer.mov', seconds: QUARTER_HOUR + 1, options: EXACT },
    'limit.duration',
    'a video of 15 minutes and a second',
  ),
  rule('contract', 'silent', {
    title: 'a video without sound fails validation',
    covers: ['upload-transition.others'],
    needs: ['ffmpeg'],
    check: async (service) =>
      expectFailed(
        service,
        await make(service, { name: 'silent.mp4', sound: false, options: H264 }),
        'MEDIA_VALIDATION_FAILED',
      ),
  }),
  rule('contract', 'blind', {
    title: 'a sound track without picture fails validation',
    covers: ['upload-transition.others'],
    needs: ['ffmpeg'],
    check: async (service) =>
      expectFailed(
        service,
        await make(service, { name: 'blind.mp4', picture: false, options: ['-c:a', 'aac'] }),
        'MEDIA_VALIDATION_FAILED',
      ),
  }),
  rule('spec', 'truncated', {
    title: 'the first half of a video fails validation',
    covers: ['upload-transition.others'],
    needs: ['ffmpeg'],
    async check(service) {
      const whole = await make(service, { name: 'half.mp4', options: H264 });
      const bytes = whole.bytes.subarray(0, whole.bytes.length / 2);
      await expectFailed(service, { ...whole, bytes }, 'MEDIA_VALIDATION_FAILED');
    },
  }),
  rule('spec', 'truncated-end', {
    title: 'an MP4 that lacks its last hundredth fails validation, although its index is complete',
    covers: ['upload-transition.others'],
    needs: ['ffmpeg'],
    async check(service) {
      const options = [...H264, '-movflags', '+faststart'];
      const whole = await make(service, { name: 'end.mp4', seconds: 10, options });
      const bytes = whole.bytes.subarray(0, Math.floor(whole.bytes.length * 0.99));
      await expectFailed(service, { ...whole, bytes }, 'MEDIA_VALIDATION_FAILED');
    },
  }),
  rule('spec', 'text-as-video', {
    title: 'a text under the name of a video fails validation',
    covers: ['upload-transition.others', 'limit.formats'],
    check: (service) =>
      expectFailed(
        service,
        {
          purpose: 'source_video',
          name: 'a.mp4',
          contentType: 'video/mp4',
          bytes: Buffer.from('no video at all'),
        },
        'MEDIA_VALIDATION_FAILED',
      ),
  }),
  subtitleRule('srt', 'SRT in UTF-8', () => formatSrt(linesIn('es')), true),
  subtitleRule(
    'srt-windows',
    'SRT with a byte order mark and CRLF',
    () => bom + formatSrt(linesIn('es')).replaceAll('\n', '\r\n'),
    true,
  ),
  subtitleRule('latin-1', 'SRT in Latin-1', () => Buffer.from(formatSrt(linesIn('es')), 'latin1'), false),
  subtitleRule(
    'utf-16',
    'SRT in UTF-16',
    () => Buffer.from(bom + formatSrt(linesIn('es')), 'utf16le'),
    false,
  ),
  subtitleRule('no-srt', 'a text that is not SRT', () => 'Good morning, everybody.\n', false),
  subtitleRule(
    'backwards',
    'SRT with a line that ends before it starts',
    () => '1\n00:00:02,000 --> 00:00:01,000\na\n',
    false,
  ),
  subtitleRule('10000-lines', 'SRT of 10,000 lines', () => manyLines(10_000), true),
  subtitleRule('largest', 'SRT of 10 MiB less one byte', () => largestSrt(), true),
  rule('contract', '10001-lines', {
    title: 'SRT of 10,001 lines fails validation',
    covers: ['limit.subtitle-input', 'upload-transition.others'],
    check: (service) => expectFailed(service, subtitleFile(manyLines(10_001)), 'SUBTITLE_VALIDATION_FAILED'),
  }),
  rule('spec', 'failed-not-usable', {
    title: 'a failed upload cannot be completed again',
    covers: ['upload.only-ready', 'upload-transition.others'],
    async check(service) {
      const { id, etag, last } = await validate(service, subtitleFile('no subtitle'));
      assert.equal(textAt(last.json, 'status'), 'failed');
      const again = await service.caller.post(`/uploads/${id}/completions`, { etag });
      assert.equal(again.status, 409, `answered ${again.status}`);
    },
  }),
];
