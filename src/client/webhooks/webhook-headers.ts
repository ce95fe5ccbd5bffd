/** The headers of a delivery, in whatever form a server hands them over. */

/** Of `node:http` (`headers` or `headersDistinct`), of a Fetch `Request`, or any pairs of name and value. */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | Iterable<readonly [string, string]>;

/** All values of one header; names count without their case, so two spellings are a repeated header. */
export function valuesOf(headers: WebhookHeaders, name: string): readonly string[] {
  return pairsOf(headers).flatMap(([each, value]) => (each.toLowerCase() === name ? [value] : []));
}

function pairsOf(headers: WebhookHeaders): readonly (readonly [string, string])[] {
  if (isIterable(headers)) return [...headers];
  return Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const values = typeof value === 'string' ? [value] : value;
    return values.map((each) => [name, each] as const);
  });
}

function isIterable(headers: WebhookHeaders): headers is Iterable<readonly [string, string]> {
  return Symbol.iterator in headers;
}
