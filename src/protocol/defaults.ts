/** Options of which callers give some. */

/** Fields that may be missing or undefined. */
export type Optional<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined };

/** Fills in what is missing or undefined. */
export function withDefaults<Fields extends object>(
  defaults: Fields,
  given: Optional<Fields> | undefined,
): Fields {
  const defined = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(defined) };
}
