/** The installed language models of PocketSphinx. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalLanguage } from '../../protocol/language-tag.ts';

/** Folders of the models: Debian and Fedora; Homebrew on Intel and Apple Macs. */
const MODEL_FOLDERS = [
  '/usr/share/pocketsphinx/model',
  '/usr/local/share/pocketsphinx/model',
  '/opt/homebrew/share/pocketsphinx/model',
] as const;

export interface SpeechModel {
  /** BCP 47 tag of the language. */
  readonly language: string;
  readonly acousticModel: string;
  readonly languageModel: string;
  readonly dictionary: string;
}

/** Finds all complete models. A folder is named after its language, such as `en-us`. */
export function findSpeechModels(folders: readonly string[] = MODEL_FOLDERS): SpeechModel[] {
  return folders.filter(existsSync).flatMap((folder) =>
    readdirSync(folder).flatMap((name) => {
      const language = canonicalLanguage(name);
      if (language === null) return [];
      const at = (file: string) => join(folder, name, file);
      const model = {
        language: new Intl.Locale(language).language, // its dictionary also covers other accents
        acousticModel: at(name),
        languageModel: at(`${name}.lm.bin`),
        dictionary: at(`cmudict-${name}.dict`),
      };
      const isWhole = [model.acousticModel, model.languageModel, model.dictionary].every(existsSync);
      return isWhole ? [model] : [];
    }),
  );
}
