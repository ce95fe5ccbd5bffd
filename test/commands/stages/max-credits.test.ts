/** --max-credits over all stages: what a plan says about it, and that the run does just that. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Staging, startStaging } from './staging.ts';

const PATIENCE = { timeout: 120_000 };
const WORDS = ['localize', 'talk.mp4', '--to', 'es', '--from', 'en'];
const KINDS = ['subtitle_recognition', 'subtitle_translation', 'dubbing', 'audio_separation'];
const PRICES = ['--price', KINDS.map((kind) => `${kind}=1`).join(',')];
const GO_ON = ['--from-subtitles'];

async function planOf({ run }: Staging, words: readonly string[]) {
  const { code, stdout, stderr } = await run([...words, '--dry-run', '-o', 'json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout).limit;
}

const codeOf = (stderr: string) => /^ {2}([A-Z_]{5,})/m.exec(stderr)?.[1];

describe('a limit for stages whose prices are unknown', PATIENCE, () => {
  it('ends run and plan before anything is paid, and one advice names all kinds that are needed', async () => {
    const vloc = await startStaging();
    for (const more of [[], ['--dry-run']]) {
      const { code, stderr } = await vloc.run([...WORDS, ...GO_ON, '--max-credits', '9', ...more]);
      expect([code, codeOf(stderr)]).toEqual([6, 'PRICE_UNKNOWN']);
      expect(stderr).toContain(`--price ${KINDS.join('=CREDITS,')}=CREDITS`);
      expect(stderr).not.toContain('auto_localization');
    }
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
  });

  it('names only what the options make necessary', async () => {
    const vloc = await startStaging();
    writeFileSync(vloc.path('mine.srt'), '1\n00:00:00,000 --> 00:00:00,900\nhola\n');
    const muted = ['--subtitle', 'mine.srt', '--original-audio', 'mute'];
    const { code, stderr } = await vloc.run([...WORDS, ...muted, '--max-credits', '9']);
    expect(code).toBe(6);
    expect(stderr).toContain(
      'State the price of 1 started thousand characters with --price dubbing=CREDITS,',
    );
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
  });

  it('uses those of earlier charges of the account, and of earlier jobs of the folder', async () => {
    const vloc = await startStaging();
    await vloc.addVideo('other.mp4');
    const stop = ['--stop-after', 'translate'];
    const first = await vloc.run([...WORDS.with(1, 'other.mp4'), ...stop]);
    expect(first.code, first.stderr).toBe(0);
    const { code, stderr } = await vloc.run([...WORDS, ...stop, '--max-credits', '9']);
    expect(code, stderr).toBe(0);
  });
});

describe('a plan with a limit', PATIENCE, () => {
  it('names the first job that would be over it, with the sums, and the run stops there', async () => {
    const vloc = await startStaging();
    const cues = '1\n00:00:00,000 --> 00:00:00,900\none\n\n2\n00:00:01,000 --> 00:00:01,900\ntwo\n';
    writeFileSync(vloc.path('talk.en.srt'), cues);
    const words = [...WORDS, ...GO_ON, ...PRICES, '--max-credits'];
    expect(await planOf(vloc, [...words, '1'])).toEqual({
      max_credits: 1,
      verdict: 'stops',
      job: { kind: 'subtitle_translation', input: 'talk.mp4', target_language: 'es' },
      before_credits: 0,
      after_credits: 2,
    });
    const stopped = await vloc.run([...words, '1']);
    expect([stopped.code, codeOf(stopped.stderr)]).toEqual([6, 'MAX_CREDITS_REACHED']);
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
    // The lines of the translation are not known yet.
    expect(await planOf(vloc, [...words, '3'])).toMatchObject({
      verdict: 'size unknown',
      job: { kind: 'dubbing' },
      before_credits: 2,
    });
    // What was paid counts.
    expect((await vloc.run([...words, '2', '--stop-after', 'translate'])).code).toBe(0);
    const { stderr } = await vloc.run([...words, '3', '--dry-run']);
    expect(stderr).toMatch(
      /the run would stop before the (dub|separation) of talk\.mp4.*: with it the cost would be 4 credits, over --max-credits 3; without it, 3/,
    );
    expect(await planOf(vloc, [...words, '4'])).toMatchObject({
      verdict: 'fits',
      job: null,
      after_credits: 4,
    });
  });
});
