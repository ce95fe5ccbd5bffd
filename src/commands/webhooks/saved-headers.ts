/** Headers as `curl -i`, `curl -v`, proxies and logs save them. */

/** `Name: value`; curl writes `> ` or `< ` before it. */
const HEADER_LINE = /^(?:[<>]\s)?([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/;

/** Names and values in the order of the file, repeated ones too; other lines are ignored. */
export function parseSavedHeaders(text: string): readonly (readonly [string, string])[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const match = HEADER_LINE.exec(line);
    return match?.[1] === undefined ? [] : [[match[1], match[2] ?? ''] as const];
  });
}
