/** Replaces what differs from run to run: ids, times, ports, folders, sizes of encoded media. */

type Rule = readonly [pattern: RegExp, placeholder: string];

const RULES: readonly Rule[] = [
  [/\b(upl|sep|rec|tra|dub|loc|txn|req|evt)(\\?_)[0-9a-hjkmnp-tv-z]{26}\b/g, '$1$2ID'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UUID'],
  [/\bws_[0-9a-f]{12}\b/g, 'ws_ID'],
  [/\bvk_[\w-]{16}(?![\w-])/g, 'vk_KEY'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?/g, 'TIME'],
  [/\bon \w{3} \d+, \d\d:\d\d\b/g, 'on TIME'],
  [/\b(127\.0\.0\.1|localhost)(:| port )\d+/g, '$1$2PORT'],
  [/ in \d+ ms\b/g, ' in N ms'],
  [/\bupload \([\d.]+ kB\)/g, 'upload (N kB)'],
  [/\b\d+ s (ahead|behind)\b/g, 'N s $1'],
  [/\bnew month in \d+ \w+/g, 'new month in DAYS'],
  [/"month": ?"[\d-]+"/g, '"month": "MONTH"'],
  [/\bleft in \d{4}-\d\d\b/g, 'left in MONTH'],
  [/\bAvailable: \d+/g, 'Available: N'],
  [/\bexpires=\d{13}&signature=[0-9a-f]{64}/g, 'expires=N&signature=N'],
  [/(?<![\w-])[\w-]{43}(?![\w-])/g, 'SECRET'],
  [/\b\d\d:\d\d:\d\dZ/g, 'CLOCK'],
  [/\btime="[\d.]+"/g, 'time="SECONDS"'],
  [/\bstate\/stdout\/[\w-]+/g, 'state/stdout/FOLDER'],
  [/\b([Pp]rocess) \d+ on [^\s:,]+/g, '$1 PID on HOST'],
  [/^(\d\/\d) +\S+/gm, '$1  HOST'],
  [/"host": ?"[^"]+"/g, '"host": "HOST"'],
  [/\bvloc:[0-9a-f]{10}:/g, 'vloc:BATCH:'],
];

/** @param own texts of this run and what stands for them, such as its folder; the first wins */
export function normalize(text: string, own: readonly (readonly [string, string])[]): string {
  const fitted = own.some(([value]) => value.startsWith('/') && text.includes(value)) ? narrow(text) : text;
  const named = own.reduce((result, [value, placeholder]) => result.replaceAll(value, placeholder), fitted);
  return RULES.reduce((result, [pattern, placeholder]) => result.replace(pattern, placeholder), named);
}

/** Tables with paths are as wide as these: what is between columns becomes the least that there may be. */
export function narrow(text: string): string {
  return text.replace(/(?<=\S) {3,}(?=\S)/g, '  ');
}
