/** Names of files that show two languages: `talk.es+en.srt`. No job takes them, since it would translate or speak both. */

const TAG = '[a-z]{2,3}(?:-[A-Za-z0-9]+)*';
const ENDING = new RegExp(String.raw`\.(${TAG})\+(${TAG})\.(?:srt|vtt|webvtt|ass|ssa)$`, 'i');

/** The two languages, that of the translation first; null for another name. */
export function bilingualLanguages(name: string): readonly [target: string, source: string] | null {
  const [, target, source] = ENDING.exec(name) ?? [];
  return target === undefined || source === undefined ? null : [target, source];
}

/** The name without its extension. */
export function bilingualName(stem: string, target: string, source: string): string {
  return `${stem}.${target}+${source}`;
}

/** Why such a file is no input; null for another name. */
export function describeBilingual(name: string): string | null {
  const languages = bilingualLanguages(name);
  if (languages === null) return null;
  return `shows two languages, ${languages.join(' and ')}, of which it was made; use the file of one of them`;
}
