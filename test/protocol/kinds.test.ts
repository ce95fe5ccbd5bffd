import { describe, expect, it } from 'vitest';
import { COMMON_FIELDS, type Field } from '../../src/protocol/fields.ts';
import { ID_PREFIXES } from '../../src/protocol/id-prefixes.ts';
import { JOB_KIND_NAMES, type JobKind } from '../../src/protocol/kind-names.ts';
import { KINDS, type Kind } from '../../src/protocol/kinds.ts';

const VOICES = 'auto|female|male';

/** The contract's table of create requests: required fields by name, optional ones with default and choices. */
const FIELDS: Record<JobKind, Record<string, string>> = {
  audio_separation: { source: 'required' },
  subtitle_recognition: { source: 'required', source_language: 'auto' },
  subtitle_translation: { subtitle: 'required', target_language: 'required', source_language: 'auto' },
  dubbing: { subtitle: 'required', target_language: 'required', voice_mode: `auto of ${VOICES}` },
  auto_localization: {
    source: 'required',
    target_language: 'required',
    source_language: 'auto',
    mode: 'standard of standard|subtitles_only',
    voice_mode: `auto of ${VOICES}`,
    subtitle_output: 'none of none|soft|burned',
    original_audio: 'background of background|duck|mute',
    resolution: 'source of source|1080p|720p|480p',
  },
};

/** Every result may say how it was made. */

/** The contract's table of results: content type and ending of files, and what else there is. */
const RESULTS: Record<JobKind, Record<string, string>> = {
  audio_separation: { vocal_audio: 'audio/wav .wav', background_audio: 'audio/wav .wav' },
  subtitle_recognition: {
    subtitle: 'application/x-subrip .srt',
    language: 'language',
    lines: 'lines',
  },
  subtitle_translation: {
    subtitle: 'application/x-subrip .srt',
    language: 'language',
    lines: 'lines',
  },
  dubbing: { audio: 'audio/wav .wav', duration_seconds: 'seconds' },
  auto_localization: { video: 'video/mp4 .mp4', duration_seconds: 'seconds' },
};

/** Path, id prefix, path parameter, input and unit of metering. */
const FACTS: Record<JobKind, string[]> = {
  audio_separation: ['audio-separations', 'sep', 'audio_separation_id', 'video', 'started_minute'],
  subtitle_recognition: [
    'subtitle-recognitions',
    'rec',
    'subtitle_recognition_id',
    'video',
    'started_minute',
  ],
  subtitle_translation: ['subtitle-translations', 'tra', 'subtitle_translation_id', 'subtitle', 'line'],
  dubbing: ['dubbings', 'dub', 'dubbing_id', 'subtitle', 'started_thousand_characters'],
  auto_localization: ['auto-localizations', 'loc', 'auto_localization_id', 'video', 'started_minute'],
};

function describeField(field: Field): string {
  if (field.required) return 'required';
  if (field.type === 'choice') return `${field.default} of ${field.choices.join('|')}`;
  return field.type === 'language' ? field.default : 'optional';
}

function describeResult(kind: Kind): Record<string, string> {
  const parts = Object.entries(kind.result).map(([name, part]): [string, string] => [
    name,
    part.type === 'asset' ? `${part.contentType} ${part.extension}` : part.type,
  ]);
  return Object.fromEntries(parts);
}

function describeFields(fields: Readonly<Record<string, Field>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, describeField(field)]));
}

describe('the table of kinds', () => {
  it('has the five capabilities of the specification', () => {
    expect(Object.keys(KINDS)).toEqual([...JOB_KIND_NAMES]);
    expect(Object.keys(KINDS)).toEqual(Object.keys(FIELDS));
  });

  it.each(JOB_KIND_NAMES)('has for %s the fields, defaults and choices of the contract', (name) => {
    expect(describeFields(KINDS[name].fields)).toEqual(FIELDS[name]);
  });

  it.each(JOB_KIND_NAMES)('has for %s the result of the contract', (name) => {
    expect(describeResult(KINDS[name])).toEqual(RESULTS[name]);
  });

  it.each(JOB_KIND_NAMES)('has for %s its path, ids, input and unit', (name) => {
    const { path, idPrefix, idParameter, input, unit } = KINDS[name];
    expect([path, idPrefix, idParameter, input, unit]).toEqual(FACTS[name]);
  });

  it('takes a video if the field is a source, and subtitles if it is a subtitle', () => {
    for (const name of JOB_KIND_NAMES) {
      const kind: Kind = KINDS[name];
      const field = kind.input === 'video' ? 'source' : 'subtitle';
      expect(kind.fields[field]?.type).toBe(field);
    }
  });

  it('has a reference and a callback for every request', () => {
    expect(describeFields(COMMON_FIELDS)).toEqual({ client_reference: 'optional', callback_url: 'optional' });
  });

  it('labels the files of one result differently, because file names consist of the labels', () => {
    for (const name of JOB_KIND_NAMES) {
      const kind: Kind = KINDS[name];
      const labels = Object.values(kind.result).flatMap((part) =>
        part.type === 'asset' ? [part.label] : [],
      );
      expect(new Set(labels).size).toBe(labels.length);
      expect(labels.length).toBeGreaterThan(0);
    }
  });
});

describe('the prefixes of ids', () => {
  it('are those of the contract', () => {
    expect(Object.values(ID_PREFIXES)).toEqual([
      'upl',
      'sep',
      'rec',
      'tra',
      'dub',
      'loc',
      'txn',
      'req',
      'evt',
    ]);
  });
});
