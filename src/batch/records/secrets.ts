/** Addresses may carry secrets: a signed query, a password. Records keep the address without them. */

/** Removes query, fragment and user from every web address in the fields, at any depth. */
export function withoutSecrets(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, strip(value)]));
}

function strip(value: unknown): unknown {
  if (typeof value === 'string') return stripAddress(value);
  if (Array.isArray(value)) return value.map(strip);
  return typeof value === 'object' && value !== null ? withoutSecrets({ ...value }) : value;
}

/** A single address without its secrets; other text as it is. */
export function stripAddress(text: string): string {
  if (!/^\s*https?:/i.test(text)) return text;
  if (!URL.canParse(text)) return text.replace(/[?#].*$/s, '');
  const url = new URL(text);
  return `${url.protocol}//${url.host}${url.pathname}`;
}
