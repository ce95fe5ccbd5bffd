/** The files that validation accepts: videos created for each rule, and subtitle files. */
import assert from 'node:assert/strict';
import type { Recipe } from '../media/make.ts';
import { formatSrt, linesIn, linesOf, subtitleFile } from '../prepare/subtitles.ts';
import { readyVideo, type StoredUpload, validate } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import type { SentenceId } from '../sentences.ts';
import { type ServiceUnderTest, shared, type UploadFile } from '../service.ts';
import type { Incoming } from '../wire/exchange.ts';
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

/** An upload of a video of exactly fifteen minutes, one for all rules. */
export const quarterHour: (service: ServiceUnderTest) => Promise<StoredUpload & { readonly last: Incoming }> =
  shared(async (service) =>
    validate(service, await make(service, { name: 'quarter.mov', seconds: QUARTER_HOUR, options: EXACT })),
  );

function requireReady({ json }: Incoming, name: string): void {
  const error = JSON.stringify(asObject(json).error ?? null);
  assert.equal(textAt(json, 'status'), 'ready', `${name}: ${error}`);
}

async function expectReady(service: ServiceUnderTest, file: UploadFile): Promise<void> {
  requireReady((await validate(service, file)).last, file.name);
}

/** Checks that the upload fails. The embedded service states the reason in `error`. */
async function expectFailed(service: ServiceUnderTest, file: UploadFile, code: string): Promise<void> {
  const { last } = await validate(service, file);
  assert.equal(textAt(last.json, 'status'), 'failed', file.name);
  if (!service.strict) return;
  assert.equal(textAt(last.json, 'error', 'code'), code);
  assert.notEqual(textAt(last.json, 'error', 'message'), '');
}

function takesVideo(name: string, recipe: Recipe, what: string): Rule {
  return rule('spec', name, {
    title: `${what} becomes ready`,
    covers: ['limit.formats'],
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

/** 10,000 long lines of text, then empty rows. */
function largestSrt(): Buffer {
  const srt = Buffer.from(formatSrt(linesOf(Array.from({ length: 10_000 }, () => 'x'.repeat(1000)))));
  return Buffer.concat([srt, Buffer.alloc(10 * 1024 ** 2 - 1 - srt.length, '\n')]);
}

const bom = '\uFEFF';

export const VALIDATION_RULES: readonly Rule[] = [
  rule('spec', 'mp4', {
    title: 'an MP4 becomes ready',
    covers: ['limit.formats'],
    needs: ['media'],
    check: async (service) => requireReady((await readyVideo(service)).last, 'the video'),
  }),
  takesVideo('avi', { name: 'a.avi', options: ['-c:v', 'mpeg4', '-c:a', 'mp2', '-ar', '44100'] }, 'an AVI'),
  takesVideo('mpeg', { name: 'a.mpg', options: MPEG }, 'an MPEG'),
  refusesVideo(
    'disguised',
    { name: 'a.mp4', options: [...H264, '-f', 'matroska'] },
    'limit.formats',
    'a Matroska file under the name of an MP4',
  ),
  rule('spec', 'quarter-hour', {
    title: 'a MOV of 15 minutes becomes ready',
    covers: ['limit.duration', 'limit.formats'],
    needs: ['ffmpeg'],
    check: async (service) => requireReady((await quarterHour(service)).last, 'quarter.mov'),
  }),
  refusesVideo(
    'longer',
    { name: 'longer.mov', seconds: QUARTER_HOUR + 1, options: EXACT },
    'limit.duration',
    'a video of 15 minutes and a second',
  ),
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
  subtitleRule(
    'srt-windows',
    'SRT with a byte order mark and CRLF',
    () => bom + formatSrt(linesIn('es')).replaceAll('\n', '\r\n'),
    true,
  ),
  subtitleRule('latin-1', 'SRT in Latin-1', () => Buffer.from(formatSrt(linesIn('es')), 'latin1'), false),
  subtitleRule('largest', 'SRT of 10,000 lines and of 10 MiB less one byte', largestSrt, true),
  rule('spec', 'failed-not-usable', {
    title: 'a text that is not SRT fails validation, and cannot be completed again',
    covers: ['upload.only-ready', 'upload-transition.others'],
    async check(service) {
      const { id, etag, last } = await validate(service, subtitleFile('no subtitle'));
      assert.equal(textAt(last.json, 'status'), 'failed');
      const again = await service.caller.post(`/uploads/${id}/completions`, { etag });
      assert.equal(again.status, 409, `answered ${again.status}`);
    },
  }),
];
