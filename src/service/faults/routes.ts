/** What a fault may be scripted for: every operation, and the addresses that take and give bytes. */
import { OPERATIONS, type OperationName, operationName, VERSION_PREFIX } from '../../protocol/operations.ts';
import { createRouter } from '../http/router.ts';

/** Sending the bytes of an upload, and reading those of a result. */
const TRANSFERS = ['PUT /objects/{upload_id}', 'GET /assets/{job_id}/{name}'] as const;

/** As the operation table writes it, below the version: `POST /dubbings`; or one of the two transfers. */
export type FaultRoute = OperationName | (typeof TRANSFERS)[number];

/** Every route that there is. */
export const FAULT_ROUTES: readonly FaultRoute[] = [...OPERATIONS.map(operationName), ...TRANSFERS];

/** Finds the route of a request line, or null for what no fault can be scripted for. */
export function createRouteFinder(): (method: string, target: string) => FaultRoute | null {
  const find = createRouter();
  return (method, target) => {
    const url = URL.parse(target, 'http://localhost');
    if (url === null) return null;
    const match = find(method, url.pathname);
    if (!match.found) return null;
    const path = match.route.template.replace(VERSION_PREFIX, '');
    return FAULT_ROUTES.find((route) => route === `${method} ${path}`) ?? null;
  };
}
