/**
 * Maps method and path to the part of the service that handles them. The API's routes come from the table of
 * operations.
 */
import { RegExpRouter } from 'hono/router/reg-exp-router';
import { OPERATIONS, type Operation, VERSION_PREFIX } from '../../protocol/operations.ts';

/** Unsigned pages outside the interface. */
export type PageName = 'document' | 'live' | 'readiness' | 'health' | 'metrics';

/** The part of the service behind a path. `template` is the path with its parameters in braces. */
export type Route = { readonly template: string } & (
  | { readonly type: 'operation'; readonly operation: Operation }
  | { readonly type: 'object' }
  | { readonly type: 'asset' }
  | { readonly type: 'errorPage' }
  | { readonly type: 'page'; readonly name: PageName }
);

/** Paths for uploaded and downloaded bytes below the origin. They are not part of the interface and need no key. */
export const OBJECTS_PATH = '/objects';
export const ASSETS_PATH = '/assets';
/** Path below the origin of the pages about errors. */
export const DOCS_PATH = '/docs';

type Match =
  | { readonly found: true; readonly route: Route; readonly parameters: Readonly<Record<string, string>> }
  /** `allowed` is empty if no method of this path is known. */
  | { readonly found: false; readonly allowed: readonly string[] };

export type Router = (method: string, path: string) => Match;

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'DELETE'];

const PROBES: readonly Route[] = [
  { type: 'page', template: '/livez', name: 'live' },
  { type: 'page', template: '/readyz', name: 'readiness' },
  { type: 'page', template: '/healthz', name: 'health' },
  { type: 'page', template: '/metrics', name: 'metrics' },
];

/**
 * Builds the routes once. Paths are matched in canonical form.
 * @param part `probes`: only health and metrics, for a worker
 */
export function createRouter(part: 'all' | 'probes' = 'all'): Router {
  const router = new RegExpRouter<Route>();
  const add = (method: string, route: Route) =>
    router.add(method, route.template.replaceAll(/\{(\w+)\}/g, ':$1'), route);
  for (const page of PROBES) for (const method of ['GET', 'HEAD']) add(method, page);
  if (part === 'all') addInterface(add);

  const find = (method: string, path: string) => {
    const [handlers, stash = []] = router.match(method, path);
    const [first] = handlers;
    if (first === undefined) return null;
    const [route, indexes] = first;
    const parameters: Record<string, string> = {};
    for (const [name, at] of Object.entries(indexes)) {
      parameters[name] = typeof at === 'number' ? (stash[at] ?? '') : at;
    }
    return { found: true, route, parameters } as const;
  };

  return (method, path) =>
    find(method, path) ?? {
      found: false,
      allowed: METHODS.filter((other) => find(other, path) !== null),
    };
}

function addInterface(add: (method: string, route: Route) => void): void {
  for (const operation of OPERATIONS) {
    add(operation.method, { type: 'operation', template: VERSION_PREFIX + operation.path, operation });
  }
  // Signed URLs are for one method. The signature check refuses any other method, not the path.
  add('ALL', { type: 'object', template: `${OBJECTS_PATH}/{upload_id}` });
  add('ALL', { type: 'asset', template: `${ASSETS_PATH}/{job_id}/{name}` });
  add('GET', { type: 'errorPage', template: `${DOCS_PATH}/errors/{code}` });
  add('GET', { type: 'page', template: `${VERSION_PREFIX}/openapi.json`, name: 'document' });
}
