/** The languages of whisper, which servers and model folders have in common. */
import { baseLanguage } from '../../protocol/language-tag.ts';

/** Source: the table LANGUAGES in `tokenizer.py` of Whisper, large-v3, as BCP 47 tags. The last is new in large-v3. */
export const WHISPER_LANGUAGES: readonly string[] = (
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml ' +
  'cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am ' +
  'yi lo uz fo ht ps tk nn mt sa lb my bo fil mg as tt haw ln ha ba jv su yue'
).split(' ');

/** Where whisper's code is not the language of the tag. */
const CODES: Readonly<Record<string, string>> = { nb: 'no', fil: 'tl', jv: 'jw', cmn: 'zh' };

/** Returns whisper's code of a BCP 47 tag. */
export function whisperCode(tag: string): string {
  const language = baseLanguage(tag);
  return CODES[language] ?? language;
}
