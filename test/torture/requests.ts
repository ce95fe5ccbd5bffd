/** Create requests of all five kinds. */
import { randomUUID } from 'node:crypto';
import type { JobKind } from '../../src/protocol/kind-names.ts';
import { KINDS } from '../../src/protocol/kinds.ts';
import type { Intent } from './book.ts';
import type { World } from './world.ts';

/** Two in ten jobs ask for no webhook. */
const WITH_CALLBACK = 0.8;

/** A new intent whose input is there. */
export function makeIntent({ random, book, receiver }: World): Intent {
  const { source, subtitle } = book.uploads;
  const kinds: JobKind[] = ['subtitle_translation', 'dubbing'];
  if (source.length > 0) kinds.push('audio_separation', 'subtitle_recognition', 'auto_localization');
  const kind = random.pick(kinds);
  const key = randomUUID();
  const upload = (ids: readonly string[]) => ({ type: 'upload', upload_id: random.pick(ids) });
  const lines = () =>
    subtitle.length > 0 && random.chance(0.5)
      ? upload(subtitle)
      : { type: 'lines', lines: makeLines(random) };
  const fields: Record<JobKind, () => object> = {
    audio_separation: () => ({ source: upload(source) }),
    subtitle_recognition: () => ({ source: upload(source), source_language: 'en' }),
    subtitle_translation: () => ({ subtitle: lines(), source_language: 'en', target_language: 'es' }),
    dubbing: () => ({ subtitle: lines(), target_language: 'es' }),
    auto_localization: () => ({ source: upload(source), source_language: 'en', target_language: 'es' }),
  };
  const callback = random.chance(WITH_CALLBACK) ? { callback_url: receiver.url } : {};
  const body = { ...fields[kind](), client_reference: key, ...callback };
  return { kind, path: `/v1/${KINDS[kind].path}`, body, key };
}

/** Prices are by the line and by the character, so the bills differ. */
function makeLines({ between }: World['random']): object[] {
  return Array.from({ length: between(1, 5) }, (_, at) => {
    const text = 'hello '.repeat(between(1, 60)).trim();
    return { index: at + 1, start_ms: at * 1000, end_ms: at * 1000 + 900, text };
  });
}

/** A subtitle file of that many lines. */
export function makeSrt(lines: number): Buffer {
  const two = (value: number) => String(value).padStart(2, '0');
  const cues = Array.from(
    { length: lines },
    (_, at) => `${at + 1}\n00:00:${two(at)},000 --> 00:00:${two(at)},900\nline ${at}\n`,
  );
  return Buffer.from(cues.join('\n'));
}
