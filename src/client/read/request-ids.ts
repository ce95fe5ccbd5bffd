/** Which request a resource came from, so that a fault found later still names it for support. */
const REQUEST_IDS = new WeakMap<object, string>();

/** Remembers the request as long as the resource lives; gives the resource back. */
export function rememberRequest<T extends object>(resource: T, requestId: string | null): T {
  if (requestId !== null) REQUEST_IDS.set(resource, requestId);
  return resource;
}

/** The request that answered with this resource, null when it came from elsewhere. */
export function requestIdOf(resource: object): string | null {
  return REQUEST_IDS.get(resource) ?? null;
}
