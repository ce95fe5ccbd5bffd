/** The languages of a model, as far as its files and names show it. */
import { canonicalLanguage } from '../../../protocol/language-tag.ts';
import { languageTag } from '../transcript.ts';
import { WHISPER_LANGUAGES } from '../whisper-languages.ts';
import type { ModelFolder } from './model-folder.ts';
import type { FoundModel } from './model-types.ts';

/** Languages by which sherpa's downloads are named: `sherpa-onnx-zipformer-en-2023-04-01`. */
const IN_NAMES = new Set(
  'ar be bg bn ca cs cy da de el en es et eu fa fi fr ga gl hi hr hu id it ja ka kk ko lt lv ml mt ne nl pl pt ro ru sk sl sr sv sw te th tr uk ur vi yue zh'.split(
    ' ',
  ),
);

/** The 25 languages of Parakeet's third version. Source: its model card. */
const PARAKEET_V3 = 'en bg hr cs da nl et fi fr de el hu it lv lt mt pl pt ro sk sl es sv ru uk'.split(' ');
/** Its vocabulary. The earlier versions have 1,024 tokens and only English. */
const PARAKEET_V3_TOKENS = 8_192;

/** Returns the languages that a recognizer is known to have; empty if unknown. */
export async function recognizedLanguages(
  folder: ModelFolder,
  found: FoundModel,
): Promise<readonly string[]> {
  const { type, files } = found;
  const model = [folder.name, ...Object.values(files)].join(' ').toLowerCase();
  if (type.key === 'whisper' && /\.en\b/.test(model)) return ['en'];
  if (type.key === 'whisper' && !/v3|turbo/.test(`${model} ${found.metadataType}`)) {
    return WHISPER_LANGUAGES.filter((tag) => tag !== 'yue'); // sherpa ends for a language that its model does not know
  }
  if (type.languages !== undefined) return type.languages;
  const named = namedLanguages(folder.name);
  if (named.length > 0) return named;
  if (/parakeet/.test(model)) {
    const tokens = (await folder.text(files.tokens ?? '')).trim().split('\n').length;
    return tokens >= PARAKEET_V3_TOKENS ? PARAKEET_V3 : ['en'];
  }
  return [];
}

/** Returns the languages that a voice is known to have; empty if unknown. */
export async function spokenByModel(folder: ModelFolder, found: FoundModel): Promise<readonly string[]> {
  const { type, files } = found;
  if (type.languages !== undefined) return type.languages;
  const model = files.model ?? files.acousticModel ?? '';
  const piper = languageOfPiper(await folder.text(`${model}.json`));
  if (piper !== null) return [piper];
  // Such as `es_ES` in `vits-piper-es_ES-sharvard-medium`.
  const locale = /(?:^|[-.])([a-z]{2,3}_[A-Z]{2})(?=[-.]|$)/.exec(
    `${model}.${folder.path.split('/').at(-1)}`,
  )?.[1];
  const exact = locale === undefined ? null : canonicalLanguage(locale.replace('_', '-'));
  if (exact !== null) return [exact];
  const named = namedLanguages(folder.name);
  if (named.length > 0) return named;
  if (type.key === 'kokoro') return folder.find(/^lexicon.*zh.*\.txt$/) === null ? ['en'] : ['en', 'zh'];
  const said = languageTag(await folder.metadata(model, 'language'));
  return said === null ? [] : [said];
}

function languageOfPiper(json: string): string | null {
  try {
    const code = (JSON.parse(json) as { language?: { code?: unknown } } | null)?.language?.code; // checked below
    return typeof code === 'string' ? canonicalLanguage(code.replace('_', '-')) : null;
  } catch {
    return null;
  }
}

function namedLanguages(name: string): string[] {
  return [...new Set(name.split(/[-_.]/).filter((word) => IN_NAMES.has(word)))];
}
