/** Checks whether the installed engines can run a request. Does no I/O; returns a message for the user. */
import type { JobKind } from '../protocol/kind-names.ts';
import { baseLanguage, languageName } from '../protocol/language-tag.ts';
import { findPair, matchLanguage, sameLanguage } from '../protocol/languages.ts';
import type { Capabilities, EngineStep } from './engine.ts';
import type { ModelStep } from './models/catalog.ts';
import { noVoiceFor } from './speak/voices.ts';

/** Why the request cannot be run. */
export interface RequestObstacle {
  /** True: an engine is not installed. False: the engine is installed but does not support the language. */
  readonly missing: boolean;
  /** Names the unsupported request and the nearest supported one. */
  readonly message: string;
  /** How to fix it. */
  readonly advice: string;
  /** The steps that other engines or models could do. */
  readonly steps: readonly ModelStep[];
}

/** The fields of a job request that decide it, with the same names as in the request. Other fields are ignored. */
export interface RequestFields {
  readonly source_language?: unknown;
  readonly target_language?: unknown;
  readonly mode?: unknown;
}

const STEPS_OF: Record<JobKind, readonly EngineStep[]> = {
  audio_separation: ['probe', 'separate'],
  subtitle_recognition: ['probe', 'separate', 'recognize'],
  subtitle_translation: ['translate'],
  dubbing: ['speak', 'export'],
  auto_localization: ['probe', 'separate', 'recognize', 'translate', 'speak', 'export'],
};

const DOING: Record<EngineStep, string> = {
  probe: 'reading videos',
  separate: 'separating voice and background',
  recognize: 'recognizing speech',
  translate: 'translating',
  speak: 'speaking',
  export: 'writing sound and video',
};

/**
 * Returns the first obstacle to a request, or null if it can be run. A source language of `auto` is allowed: it is
 * detected during the job, or the job fails because it cannot be detected.
 */
export function explainUnsupported(
  kind: JobKind,
  fields: RequestFields,
  capabilities: Capabilities,
): RequestObstacle | null {
  const needed = stepsOf(kind, fields);
  const missing = capabilities.missing.find(({ step }) => needed.includes(step));
  if (missing !== undefined) {
    const { engine, step, reason } = missing;
    if (reason !== undefined) {
      const message = describeUnusable(engine, step, reason);
      return { missing: true, message, advice: 'vloc engines test', steps: [] };
    }
    const message = `${engine} is not installed or lacks its data; ${DOING[step]} needs it`;
    return { missing: true, message, advice: 'vloc engines install', steps: [] };
  }
  const source = languageOf(fields.source_language) ?? 'auto';
  const target = languageOf(fields.target_language);
  if (target !== null && needed.includes('translate') && isTranslated(source, target, needed, capabilities)) {
    const message = `source and target language are both ${languageName(target)}: there is nothing to translate`;
    return { missing: false, message, advice: LISTED, steps: [] };
  }
  const explain = {
    recognize: () => explainRecognition(source, capabilities),
    translate: () => (target === null ? null : explainTranslation(source, target, needed, capabilities)),
    speak: () => (target === null ? null : explainSpeech(target, capabilities)),
  };
  const found = (['recognize', 'translate', 'speak'] as const).flatMap((step) => {
    const message = needed.includes(step) ? explain[step]() : null;
    return message === null ? [] : [{ step, message }];
  });
  const [first] = found;
  if (first === undefined) return null;
  const advice = `${LISTED}, or add an engine that can with \`vloc engines add\``;
  return { missing: false, message: first.message, advice, steps: found.map(({ step }) => step) };
}

const LISTED = 'run `vloc engines list` to see available languages';

/** Whether the source is in the target language already. */
function isTranslated(
  source: string,
  target: string,
  needed: readonly EngineStep[],
  capabilities: Capabilities,
): boolean {
  const from = knownSource(source, needed, capabilities);
  return from !== undefined && sameLanguage(from, target);
}

/** The spoken language is known in advance if only one can be recognized. The language of subtitles is detected later. */
function knownSource(
  source: string,
  needed: readonly EngineStep[],
  { recognize }: Capabilities,
): string | undefined {
  if (source !== 'auto') return source;
  return needed.includes('recognize') ? recognize[0] : undefined;
}

/** The steps that a request needs. */
export function stepsOf(kind: JobKind, { mode }: RequestFields): readonly EngineStep[] {
  return STEPS_OF[kind].filter((step) => step !== 'speak' || mode !== 'subtitles_only');
}

export function describeUnusable(engine: string, step: EngineStep, reason: string): string {
  return `${engine} cannot be used, and ${DOING[step]} needs it: ${reason}`;
}

/** A language field of a request; null if it is empty. */
export function languageOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function explainRecognition(source: string, { recognize }: Capabilities): string | null {
  if (source === 'auto' || matchLanguage(source, recognize) !== null) return null;
  return `speech in ${languageName(source)} cannot be recognized here, only ${list(recognize)}`;
}

function explainTranslation(
  source: string,
  target: string,
  needed: readonly EngineStep[],
  capabilities: Capabilities,
): string | null {
  const { translate } = capabilities;
  const from = knownSource(source, needed, capabilities);
  if (from === undefined) {
    const targets = translate.map((direction) => direction.to);
    return matchLanguage(target, targets) === null
      ? `nothing can be translated to ${languageName(target)} here, only to ${list(targets)}`
      : null;
  }
  if (findPair(translate, { from, to: target }) !== undefined) return null;
  const targets = translate.filter((direction) => sameLanguage(direction.from, from)).map(({ to }) => to);
  if (targets.length === 0) return explainSource(from, target, translate);
  return `${languageName(from)} cannot be translated to ${languageName(target)} here, only to ${list(targets)}`;
}

/**
 * If the source language is not supported at all, listing the supported source languages is more helpful than listing
 * targets.
 */
function explainSource(from: string, target: string, translate: Capabilities['translate']): string {
  const sources = translate.filter(({ to }) => sameLanguage(to, target)).map((direction) => direction.from);
  if (sources.length > 0) {
    return `${languageName(from)} cannot be translated here; to ${languageName(target)} only ${list(sources)} can`;
  }
  const all = `from ${list(translate.map((direction) => direction.from))}, to ${list(translate.map(({ to }) => to))}`;
  return `nothing can be translated from ${languageName(from)} or to ${languageName(target)} here, only ${all}`;
}

/** espeak-ng has over a hundred languages: a message with all of them hides its reason. */
const MOST_LANGUAGES = 20;

function explainSpeech(target: string, { speak }: Capabilities): string | null {
  const languages = speak.map((voice) => voice.language);
  if (matchLanguage(target, languages) !== null) return null;
  return languages.length > MOST_LANGUAGES
    ? noVoiceFor(target)
    : `${noVoiceFor(target)}; available: ${list(languages)}`;
}

/** Returns the names of languages, each once for all its varieties. */
function list(tags: readonly string[]): string {
  const names = [...new Set(tags.map(baseLanguage))].map((tag) => `${languageName(tag)} (${tag})`);
  return names.length === 0 ? 'none' : names.join(', ');
}
