/** Languages as MP4 names them: ISO 639-2, three letters. */
import { baseLanguage, canonicalLanguage } from '../../protocol/language-tag.ts';

/** Languages that BCP 47 writes with two letters, with their three in ISO 639-2/T. Source: Library of Congress. */
const THREE_LETTERS = new Map(
  [
    'af:afr am:amh an:arg ar:ara as:asm az:aze ba:bak be:bel bg:bul bn:ben br:bre bs:bos ca:cat cs:ces cv:chv cy:cym',
    'da:dan de:deu el:ell en:eng eo:epo es:spa et:est eu:eus fa:fas fi:fin fo:fao fr:fra fy:fry ga:gle gd:gla gl:glg',
    'gn:grn gu:guj he:heb hi:hin hr:hrv ht:hat hu:hun hy:hye ia:ina id:ind io:ido is:isl it:ita ja:jpn ka:kat kk:kaz',
    'kl:kal kn:kan ko:kor ku:kur ky:kir la:lat lb:ltz lt:lit lv:lav mi:mri mk:mkd ml:mal mr:mar ms:msa mt:mlt my:mya',
    'nb:nob ne:nep nl:nld nn:nno no:nor oc:oci om:orm or:ori pa:pan pl:pol pt:por qu:que ro:ron ru:rus sc:srd sd:snd',
    'si:sin sk:slk sl:slv sq:sqi sr:srp sv:swe sw:swa ta:tam te:tel tg:tgk th:tha tk:tuk tn:tsn tr:tur tt:tat ug:uig',
    'uk:ukr ur:urd uz:uzb vi:vie wa:wln zh:zho',
  ]
    .join(' ')
    .split(' ')
    .map((pair): [string, string] => [pair.slice(0, 2), pair.slice(3)]),
);

/** The three letters for a BCP 47 tag; `und` (undetermined) for what has none. */
export function threeLetterCode(tag: string): string {
  const base = baseLanguage(canonicalLanguage(tag) ?? tag);
  if (/^[a-z]{3}$/.test(base)) return base;
  return THREE_LETTERS.get(base) ?? 'und';
}
